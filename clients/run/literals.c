/* SPDX-License-Identifier: MIT */
#include "clients/run/literals.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 16, SHOWN_BYTES = 40, NAME_BYTES = 64 };

struct scanner {
	const char *p;  /* what comes next; the text ends in NUL */
	unsigned line;  /* of p, from 1 */
	unsigned depth; /* brackets that are open */
	struct game_error *error;
	bool has_failed;
};

/* Only the first failure is told. */
static json_t *fail(struct scanner *scanner, unsigned line, const char *what)
{
	if (!scanner->has_failed)
		game_error_set(scanner->error, "line %u: %s", line, what);
	scanner->has_failed = true;
	return NULL;
}

/* What stands here is nothing that can be read. */
static json_t *fail_here(struct scanner *scanner)
{
	size_t len = strcspn(scanner->p, "\r\n");
	char text[SHOWN_BYTES + 100];

	if (len == 0)
		return fail(scanner, scanner->line, "a value is missing");
	(void)snprintf(text, sizeof(text),
		       "cannot read '%.*s': only NAME = plain literals",
		       (int)(len < SHOWN_BYTES ? len : SHOWN_BYTES),
		       scanner->p);
	for (char *c = text; *c != '\0'; c++) {
		if ((unsigned char)*c < ' ')
			*c = '?';
	}
	return fail(scanner, scanner->line, text);
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Blanks and comments; line ends as well where a bracket is open. */
static void skip_blanks(struct scanner *scanner)
{
	for (;;) {
		const char *p = scanner->p;

		if (*p == '#') {
			scanner->p += strcspn(p, "\n");
		} else if (*p == ' ' || *p == '\t' || *p == '\r' ||
			   *p == '\f') {
			scanner->p++;
		} else if (*p == '\n' && scanner->depth > 0) {
			scanner->p++;
			scanner->line++;
		} else if (*p == '\\' &&
			   (p[1] == '\n' || (p[1] == '\r' && p[2] == '\n'))) {
			scanner->p += p[1] == '\n' ? 2 : 3;
			scanner->line++;
		} else {
			return;
		}
	}
}

/* A code point as UTF-8. */
static void add_code(struct buf *out, unsigned code)
{
	if (code < 0x80) {
		buf_add_char(out, (char)code);
		return;
	}
	buf_add_char(out, (char)(0xc0 | code >> 6));
	buf_add_char(out, (char)(0x80 | (code & 0x3f)));
}

/* Up to MAX digits of BASE at the scanner. */
static unsigned read_code(struct scanner *scanner, unsigned base, int max)
{
	unsigned code = 0;

	for (int i = 0; i < max; i++) {
		char c = *scanner->p;
		unsigned digit =
			is_digit(c)            ? (unsigned)(c - '0')
			: c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
			: c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
					       : base;

		if (digit >= base)
			break;
		code = code * base + digit;
		scanner->p++;
	}
	return code & 0xff;
}

/* What follows a backslash in a string. */
static void read_escape(struct scanner *scanner, struct buf *out)
{
	static const char from[] = "\\'\"abfnrtv";
	static const char to[] = "\\'\"\a\b\f\n\r\t\v";
	char c = *scanner->p;
	const char *found = c != '\0' ? strchr(from, c) : NULL;

	if (c == '\n') {
		scanner->line++;
		scanner->p++;
	} else if (found != NULL) {
		buf_add_char(out, to[found - from]);
		scanner->p++;
	} else if (c >= '0' && c <= '7') {
		add_code(out, read_code(scanner, 8, 3));
	} else if (c == 'x') {
		scanner->p++;
		add_code(out, read_code(scanner, 16, 2));
	} else {
		/* Python leaves what it does not know as it is. */
		buf_add_char(out, '\\');
	}
}

/* How long the string's opening is, quotes of three included; 0: no string. */
static size_t string_opening(const char *p, bool *is_raw, size_t *quotes)
{
	size_t len = 0;

	*is_raw = false;
	while (len < 2 && p[len] != '\0' && strchr("rRuUbB", p[len]) != NULL) {
		*is_raw |= p[len] == 'r' || p[len] == 'R';
		len++;
	}
	if (p[len] != '\'' && p[len] != '"')
		return 0;
	*quotes = p[len] == p[len + 1] && p[len] == p[len + 2] ? 3 : 1;
	return len + *quotes;
}

/* One string, appended to OUT. False: none stands here, or it is broken. */
static bool read_string(struct scanner *scanner, struct buf *out)
{
	unsigned line = scanner->line;
	bool is_raw;
	size_t quotes;
	size_t opening = string_opening(scanner->p, &is_raw, &quotes);
	char quote[4] = "";

	if (opening == 0)
		return false;
	scanner->p += opening;
	memset(quote, scanner->p[-1], quotes);
	while (strncmp(scanner->p, quote, quotes) != 0) {
		char c = *scanner->p;

		if (c == '\0' || (c == '\n' && quotes == 1)) {
			(void)fail(scanner, line, "the string has no end");
			return false;
		}
		scanner->p++;
		if (c == '\\' && !is_raw) {
			read_escape(scanner, out);
			continue;
		}
		scanner->line += c == '\n';
		buf_add_char(out, c);
	}
	scanner->p += quotes;
	return true;
}

/* Strings side by side are one. */
static json_t *read_strings(struct scanner *scanner)
{
	struct buf text = BUF_INIT(LIMIT_CONTROL_LINE_BYTES);
	unsigned line = scanner->line;
	json_t *value = NULL;

	while (read_string(scanner, &text))
		skip_blanks(scanner);
	if (scanner->has_failed)
		goto out;
	if (text.is_failed || memchr(buf_text(&text), '\0', text.len) != NULL) {
		(void)fail(scanner, line, "the string is too long, or has NUL");
		goto out;
	}
	value = json_stringn(buf_text(&text), text.len);
	if (value == NULL)
		(void)fail(scanner, line, "the string is no UTF-8");
out:
	buf_release(&text);
	return value;
}

static size_t number_len(const char *p)
{
	size_t len = *p == '-' || *p == '+';

	while (is_digit(p[len]) || p[len] == '.' || is_letter(p[len]) ||
	       ((p[len] == '-' || p[len] == '+') &&
		(p[len - 1] == 'e' || p[len - 1] == 'E')))
		len++;
	return len;
}

static json_t *read_number(struct scanner *scanner)
{
	size_t len = number_len(scanner->p);
	char text[64];
	const char *digits = text + (*scanner->p == '-' || *scanner->p == '+');
	char *end;
	json_t *value = NULL;

	if (len >= sizeof(text))
		return fail_here(scanner);
	memcpy(text, scanner->p, len);
	text[len] = '\0';
	errno = 0;
	/* 010 was eight to Python 2 and is an error to Python 3. */
	if (digits[strspn(digits, "0123456789")] == '\0' &&
	    (digits[0] != '0' || digits[1] == '\0')) {
		long long whole = strtoll(text, &end, 10);

		if (errno == 0)
			value = json_integer(whole);
	} else if (digits[strspn(digits, "0123456789.eE+-")] == '\0') {
		double real = strtod(text, &end);

		if (errno == 0 && *end == '\0' && isfinite(real) &&
		    strpbrk(text, ".eE") != NULL)
			value = json_real(real);
	}
	if (value == NULL)
		return fail_here(scanner);
	scanner->p += len;
	return value;
}

static json_t *read_value(struct scanner *scanner);

/*
 * Values up to CLOSE, whose opening is in LINE, or to the line's end when CLOSE
 * is NUL.
 */
static json_t *read_list(struct scanner *scanner, char close, unsigned line)
{
	bool is_tuple = close != ']';
	json_t *list = json_array();
	bool has_comma = false;

	for (;;) {
		json_t *value;

		skip_blanks(scanner);
		if (*scanner->p == close ||
		    (close == '\0' && strchr("\n;", *scanner->p) != NULL))
			break;
		if (*scanner->p == '\0') {
			(void)fail(scanner, line,
				   "the bracket is never closed");
			break;
		}
		if (json_array_size(list) > 0 && !has_comma) {
			(void)fail_here(scanner);
			break;
		}
		value = read_value(scanner);
		if (value == NULL)
			break;
		(void)json_array_append_new(list, value);
		skip_blanks(scanner);
		has_comma = *scanner->p == ',';
		scanner->p += has_comma;
	}
	if (close == '\0' && json_array_size(list) == 0)
		(void)fail_here(scanner);
	if (scanner->has_failed) {
		json_decref(list);
		return NULL;
	}
	/* (1) is 1, and so is a bare 1; (1,) is a tuple. */
	if (is_tuple && json_array_size(list) == 1 && !has_comma) {
		json_t *only = json_incref(json_array_get(list, 0));

		json_decref(list);
		return only;
	}
	return list;
}

static json_t *read_bracket(struct scanner *scanner)
{
	char close = *scanner->p == '(' ? ')' : ']';
	unsigned line = scanner->line;
	json_t *list;

	if (++scanner->depth > DEPTH_MAX)
		return fail(scanner, line, "too many brackets");
	scanner->p++;
	list = read_list(scanner, close, line);
	scanner->depth--;
	if (list != NULL)
		scanner->p++;
	return list;
}

static json_t *read_value(struct scanner *scanner)
{
	static const struct {
		const char *name;
		json_t *(*make)(void);
	} names[] = { { "True", json_true },
		      { "False", json_false },
		      { "None", json_null } };
	bool is_raw;
	size_t quotes;
	const char *p = scanner->p;

	if (*p == '(' || *p == '[')
		return read_bracket(scanner);
	if (string_opening(p, &is_raw, &quotes) > 0)
		return read_strings(scanner);
	if (is_digit(*p) || *p == '-' || *p == '+' || *p == '.')
		return read_number(scanner);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t len = strlen(names[i].name);

		if (strncmp(p, names[i].name, len) != 0 || is_letter(p[len]) ||
		    is_digit(p[len]))
			continue;
		scanner->p += len;
		return names[i].make();
	}
	return fail_here(scanner);
}

/* NAME = value, value... up to the line's end. */
static void read_statement(struct scanner *scanner, struct literals *ret)
{
	const char *from = scanner->p;
	unsigned line = scanner->line;
	char name[NAME_BYTES];
	size_t len = 0;
	json_t *value;

	while (is_letter(from[len]) || (len > 0 && is_digit(from[len])))
		len++;
	scanner->p += len;
	skip_blanks(scanner);
	if (len == 0 || len >= sizeof(name) || scanner->p[0] != '=' ||
	    scanner->p[1] == '=') {
		scanner->p = from;
		(void)fail_here(scanner);
		return;
	}
	memcpy(name, from, len);
	name[len] = '\0';
	scanner->p++;
	value = read_list(scanner, '\0', line);
	if (value == NULL)
		return;
	(void)json_object_set_new(ret->values, name, value);
	(void)json_object_set_new(ret->lines, name, json_integer(line));
}

int literals_read(struct literals *ret, const char *text, size_t len,
		  struct game_error *error)
{
	char *copy = strndup(text, len);
	struct scanner scanner = { .p = copy, .line = 1, .error = error };

	*ret = (struct literals){ json_object(), json_object() };
	if (copy == NULL)
		(void)fail(&scanner, 1, "out of memory");
	else if (strlen(copy) < len)
		(void)fail(&scanner, 1, "there is a NUL byte in the file");
	else if (strncmp(copy, "\xef\xbb\xbf", 3) == 0)
		scanner.p += 3;
	while (!scanner.has_failed && *scanner.p != '\0') {
		bool is_first = scanner.p == copy || scanner.p[-1] == '\n';
		char at = *scanner.p;

		skip_blanks(&scanner);
		if (*scanner.p == '\n') {
			scanner.p++;
			scanner.line++;
		} else if (*scanner.p == ';') {
			scanner.p++;
		} else if (*scanner.p != '\0') {
			if (is_first && (at == ' ' || at == '\t'))
				(void)fail_here(&scanner);
			else
				read_statement(&scanner, ret);
		}
	}
	free(copy);
	if (!scanner.has_failed)
		return 0;
	literals_release(ret);
	return -EINVAL;
}

void literals_release(struct literals *literals)
{
	json_decref(literals->values);
	json_decref(literals->lines);
	*literals = (struct literals){ 0 };
}
