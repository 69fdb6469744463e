#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make a manual page from what a program says of itself.

    make_page.py VERSION SECTION REST PROGRAM

The usage, the description and the options are those of PROGRAM's --help (and,
of hillctl, of each command's), so that the page cannot fall behind. REST is a
file: its first line is the page's purpose, the others, in roff, follow.
"""
import pathlib
import re
import subprocess
import sys

OPTION = re.compile(r"^( {2,6}|\t)((?:-\w, )?-(?:-[a-z]|j ).*?)(?: {2,}(.*))?$")


FIELD = re.compile(r"^  ([a-z_]+) {2,}(\S.*)$")


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def preformatted(lines):
    return [".PP", ".nf", *map(escape, lines), ".fi"]


def body(lines):
    """Paragraphs, options and examples, as roff."""
    out, indent, is_new, in_example = [], None, True, False
    lines = list(lines)
    for i, line in enumerate(lines):
        option = OPTION.match(line)
        if in_example:
            out.append(escape(line) if line else ".fi")
            in_example = line != ""
            indent, is_new = None, True
            continue
        depth = len(line) - len(line.lstrip(" "))
        if line == "Examples:":
            out += [".SH EXAMPLES", ".nf"]
            in_example = True
        elif not line.strip():
            indent, is_new = None, True
        elif option:
            out += [".TP", ".B " + escape(option.group(2))]
            out += [escape(option.group(3))] if option.group(3) else []
            indent, is_new = depth, False
            if not option.group(3) and not (i + 1 < len(lines) and
                                            lines[i + 1].startswith(" " * (depth + 4))):
                out.append("\\&")
        elif FIELD.match(line):
            field = FIELD.match(line)
            out += [".TP", ".I " + escape(field.group(1)), escape(field.group(2))]
            indent, is_new = depth, False
        elif indent is not None and depth > indent + 2:
            out.append(escape(line.strip()))
        elif is_new and depth >= 2 or (out and out[-1] == ".fi" and depth >= 2):
            out = out[:-1] if out and out[-1] == ".fi" else out + [".PP", ".nf"]
            out += [escape(line), ".fi"]
            is_new = False
        else:
            if is_new or indent is not None or depth == 0 and out and \
                    lines[i - 1].startswith("  "):
                out.append(".PP")
            out.append(escape(line.strip()))
            indent, is_new = None, False
    return out + [".fi"] if in_example else out


def say(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True,
                          check=True).stdout.splitlines()


def split_usage(lines):
    """The usage, without its word; and what follows."""
    end = next(i for i, line in enumerate(lines) if i > 0 and not line.startswith(" "))
    return [line[len("usage: "):] for line in lines[:end]], lines[end:]


def split_exit(lines):
    """What stands before `Exit status:`, and what it says."""
    text = "\n".join(lines)
    found = re.search(r"(^|\s)Exit status: ((?:.|\n)*?)(?=\n\n|\Z)", text)
    if not found:
        return lines, []
    rest = text[:found.start()] + found.group(1) + text[found.end():]
    return rest.splitlines(), found.group(2).splitlines()


def command_part(program, name):
    usage, rest = split_usage(say(program, "help", *name.split()))
    end = rest.index("and for every command:")
    return [f".SS {escape(name)}", *preformatted(usage),
            *body(line for line in rest[:end] if line != "options:")]


def main(version, section, rest_path, program):
    name = pathlib.Path(program).name
    purpose, *rest = pathlib.Path(rest_path).read_text().splitlines()
    usage, text = split_usage(say(program, "--help"))
    text, status = split_exit(text)
    first = next(i for i, line in enumerate(text) if OPTION.match(line) or line == "commands:")
    page = [f'.TH {name.upper()} {section} "" "hill {version}" "hill"',
            ".SH NAME", f"{escape(name)} \\- {escape(purpose)}",
            ".SH SYNOPSIS", *preformatted(usage)[1:],
            ".SH DESCRIPTION", *body(text[:first])]
    if text[first] == "commands:":
        end = text.index("", first)
        names = [found.group(1) for found in
                 (re.match(r"  ([a-z]+(?: [a-z]+)?)", line) for line in text[first:end]) if found]
        page += [".SH OPTIONS", *body(text[end + 1:]), ".SH COMMANDS"]
        for command in names:
            page += command_part(program, command)
    else:
        page += [".SH OPTIONS", *body(text[first:])]
    if status:
        page += [".SH EXIT STATUS", *map(escape, status)]
    print("\n".join([*page, *rest]))


main(*sys.argv[1:])
