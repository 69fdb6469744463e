#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Turn numbered SQL files into one C file: embed.py OUT.c NNNN_name.sql...

The text goes in as bytes: a string literal of that length is more than C
promises to take.
"""
import os
import sys


def main():
    out, *paths = sys.argv[1:]
    entries = []
    parts = ['/* Made by embed.py. */\n#include "schema/schema.h"\n\n']
    for position, path in enumerate(sorted(paths, key=os.path.basename), 1):
        number = int(os.path.basename(path).split('_')[0])
        if number != position:
            sys.exit(f'{path}: number {number} where {position} belongs')
        with open(path, 'rb') as file:
            data = file.read() + b'\0'
        rows = (data[i:i + 16] for i in range(0, len(data), 16))
        text = '\n'.join('\t' + ' '.join(f'{b},' for b in row) for row in rows)
        parts.append(f'static const char sql_{number}[] = {{\n{text}\n}};\n\n')
        entries.append(f'\t{{ {number}, sql_{number} }},\n')
    parts.append('const struct schema_migration schema_migrations[] = {\n' +
                 ''.join(entries) + '};\n\n'
                 f'const unsigned schema_version = {len(entries)};\n')
    with open(out, 'w', encoding='ascii') as file:
        file.write(''.join(parts))


main()
