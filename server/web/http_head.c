/* SPDX-License-Identifier: MIT */
#include "server/web/http_head.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

/* What is left of the copy while it is taken apart. */
struct parser {
	struct http_head *head;
	struct http_refusal *refusal;
	char *next; /* free room in head->text for what is decoded */
};

static int refuse(struct parser *parser, unsigned status, const char *detail)
{
	parser->refusal->status = status;
	parser->refusal->detail = detail;
	return -EINVAL;
}

size_t http_head_find(const char *bytes, size_t len, size_t *seen)
{
	size_t i = *seen;

	for (; i < len; i++) {
		if (bytes[i] != '\n' || i == 0)
			continue;
		if (bytes[i - 1] == '\n' ||
		    (bytes[i - 1] == '\r' && i > 1 && bytes[i - 2] == '\n')) {
			*seen = 0;
			return i + 1;
		}
	}
	*seen = i;
	return 0;
}

static bool is_token(const char *text)
{
	static const char marks[] = "!#$%&'*+-.^_`|~";

	if (*text == '\0')
		return false;
	for (; *text != '\0'; text++) {
		char c = *text;

		if ((c < 'a' || c > 'z') && (c < 'A' || c > 'Z') &&
		    (c < '0' || c > '9') && strchr(marks, c) == NULL)
			return false;
	}
	return true;
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Decode FROM (of LEN bytes) into the free room; NULL: it is no good. */
static const char *decode(struct parser *parser, const char *from, size_t len,
			  bool is_query)
{
	const char *start = parser->next;

	for (size_t i = 0; i < len; i++) {
		int value = (unsigned char)from[i];

		if (value == '%') {
			if (i + 2 >= len || hex(from[i + 1]) < 0 ||
			    hex(from[i + 2]) < 0)
				return NULL;
			value = hex(from[i + 1]) * 16 + hex(from[i + 2]);
			i += 2;
		} else if (value == '+' && is_query) {
			value = ' ';
		}
		if (value < 0x20 || value == 0x7f)
			return NULL;
		*parser->next++ = (char)value;
	}
	*parser->next++ = '\0';
	return start;
}

static int parse_path(struct parser *parser, const char *path, size_t len)
{
	struct http_head *head = parser->head;
	const char *end = path + len;

	if (len == 0 || *path != '/')
		return refuse(parser, 400, "the path does not begin with /");
	if (len == 1)
		return 0;
	while (path < end) {
		const char *slash =
			memchr(path + 1, '/', (size_t)(end - path - 1));
		const char *stop = slash == NULL ? end : slash;
		const char *segment = decode(parser, path + 1,
					     (size_t)(stop - path - 1), false);

		if (segment == NULL)
			return refuse(parser, 400,
				      "the path holds a control byte or a bad "
				      "% escape");
		if (strcmp(segment, ".") == 0 || strcmp(segment, "..") == 0)
			return refuse(parser, 400,
				      "the path holds a dot segment");
		if (head->nsegments == HTTP_SEGMENTS_MAX)
			return refuse(parser, 404, "there is no such path");
		head->segments[head->nsegments++] = segment;
		path = stop;
	}
	return 0;
}

static int parse_query(struct parser *parser, const char *query)
{
	struct http_head *head = parser->head;

	while (*query != '\0') {
		size_t len = strcspn(query, "&");
		const char *equals = memchr(query, '=', len);
		size_t name_len =
			equals == NULL ? len : (size_t)(equals - query);
		struct http_pair *pair;

		if (len == 0) {
			query++;
			continue;
		}
		if (head->nparams == HTTP_PARAMS_MAX)
			return refuse(parser, 400,
				      "the query has too many parameters");
		pair = &head->params[head->nparams];
		pair->name = decode(parser, query, name_len, true);
		pair->value = equals == NULL ? ""
					     : decode(parser, equals + 1,
						      len - name_len - 1, true);
		if (pair->name == NULL || pair->value == NULL)
			return refuse(parser, 400,
				      "the query holds a control byte or a bad "
				      "% escape");
		if (http_head_param(head, pair->name) != NULL)
			return refuse(parser, 400,
				      "the query names a parameter twice");
		head->nparams++;
		query += len;
	}
	return 0;
}

static int parse_target(struct parser *parser, char *target)
{
	char *query;
	int rc;

	if (strlen(target) > HTTP_TARGET_BYTES)
		return refuse(parser, 414, "the address is too long");
	for (const char *c = target; *c != '\0'; c++) {
		if ((unsigned char)*c <= 0x20 || *c == 0x7f || *c == '#')
			return refuse(parser, 400,
				      "the address holds a byte that must be "
				      "escaped");
	}
	parser->head->target = target;
	query = strchr(target, '?');
	rc = parse_path(parser, target,
			query == NULL ? strlen(target)
				      : (size_t)(query - target));
	if (rc == 0 && query != NULL)
		rc = parse_query(parser, query + 1);
	return rc;
}

static int parse_request_line(struct parser *parser, char *line)
{
	static const struct {
		const char *word;
		enum http_method method;
	} methods[] = { { "GET", HTTP_GET },
			{ "HEAD", HTTP_HEAD_ONLY },
			{ "POST", HTTP_POST } };
	char *target = strchr(line, ' ');
	char *version = target == NULL ? NULL : strchr(target + 1, ' ');

	if (version == NULL)
		return refuse(parser, 400, "the request line is no good");
	*target++ = '\0';
	*version++ = '\0';
	if (!is_token(line))
		return refuse(parser, 400, "the method is no word");
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (strcmp(line, methods[i].word) == 0)
			parser->head->method = methods[i].method;
	if (strncmp(version, "HTTP/", 5) != 0)
		return refuse(parser, 400, "the request line is no good");
	if (strcmp(version, "HTTP/1.1") != 0 &&
	    strcmp(version, "HTTP/1.0") != 0)
		return refuse(parser, 505, "HTTP/1.1 or HTTP/1.0, please");
	parser->head->minor = version[7] == '1' ? 1 : 0;
	parser->head->is_last = parser->head->minor == 0;
	return parse_target(parser, target);
}

static int parse_length(struct parser *parser, const char *value)
{
	struct http_head *head = parser->head;
	size_t len = strlen(value);

	if (head->has_length)
		return refuse(parser, 400, "there are two Content-Lengths");
	if (len == 0 || len > 18 || strspn(value, "0123456789") != len)
		return refuse(parser, 400, "Content-Length is no number");
	for (; *value != '\0'; value++)
		head->body_len = head->body_len * 10 + (uint64_t)(*value - '0');
	head->has_length = true;
	return 0;
}

/* What a header means to us here and now. */
static int take_header(struct parser *parser, const struct http_pair *header)
{
	struct http_head *head = parser->head;

	if (strcmp(header->name, "content-length") == 0)
		return parse_length(parser, header->value);
	if (strcmp(header->name, "transfer-encoding") == 0)
		return refuse(parser, 411,
			      "a body needs a Content-Length; transfer codings "
			      "are not taken");
	if (strcmp(header->name, "connection") == 0) {
		if (http_list_has(header->value, "close"))
			head->is_last = true;
		else if (head->minor == 0 &&
			 http_list_has(header->value, "keep-alive"))
			head->is_last = false;
	} else if (strcmp(header->name, "expect") == 0) {
		if (strcasecmp(header->value, "100-continue") != 0)
			return refuse(parser, 417, "that cannot be expected");
		head->wants_continue = true;
	}
	return 0;
}

static int parse_header(struct parser *parser, char *line)
{
	struct http_head *head = parser->head;
	struct http_pair *header;
	char *colon = strchr(line, ':');
	char *value, *end;

	if (*line == ' ' || *line == '\t')
		return refuse(parser, 400, "a header line is folded");
	if (colon == NULL)
		return refuse(parser, 400, "a header line has no colon");
	*colon = '\0';
	if (!is_token(line))
		return refuse(parser, 400, "a header's name is no word");
	if (head->nheaders == HTTP_HEADERS_MAX)
		return refuse(parser, 431, "there are too many header lines");
	for (char *c = line; *c != '\0'; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c - 'A' + 'a');
	value = colon + 1 + strspn(colon + 1, " \t");
	end = value + strlen(value);
	while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = '\0';
	for (const char *c = value; *c != '\0'; c++)
		if (((unsigned char)*c < 0x20 && *c != '\t') || *c == 0x7f)
			return refuse(parser, 400,
				      "a header holds a control byte");
	header = &head->headers[head->nheaders++];
	header->name = line;
	header->value = value;
	return take_header(parser, header);
}

/*
 * RFC 9112, 3.2: one Host, and one that names a host (RFC 3986, 3.2.2) and
 * perhaps a port, or none. Nothing here goes by it, but what stands in front
 * of us may.
 */
static int check_host(struct parser *parser, const struct http_head *head)
{
	static const char fit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "abcdefghijklmnopqrstuvwxyz0123456789"
				  "-._~%!$&'()*+,;=[]:";
	const char *host = NULL;

	for (unsigned i = 0; i < head->nheaders; i++) {
		if (strcmp(head->headers[i].name, "host") != 0)
			continue;
		if (host != NULL)
			return refuse(parser, 400, "there are two Hosts");
		host = head->headers[i].value;
	}
	if (host == NULL && head->minor == 1)
		return refuse(parser, 400, "HTTP/1.1 needs a Host");
	if (host != NULL && host[strspn(host, fit)] != '\0')
		return refuse(parser, 400, "this is no Host");
	return 0;
}

int http_head_parse(const char *bytes, size_t len, struct http_head *ret,
		    struct http_refusal *ret_refusal)
{
	struct parser parser = { .head = ret, .refusal = ret_refusal };
	bool is_first = true;
	char *line, *end;
	int rc = 0;

	memset(ret, 0, offsetof(struct http_head, text));
	ret->method = HTTP_OTHER;
	ret->minor = 1;
	ret->is_last = true;
	if (len > HTTP_HEAD_BYTES)
		return refuse(&parser, 431, "the head is too long");
	if (memchr(bytes, '\0', len) != NULL)
		return refuse(&parser, 400, "the head holds a NUL byte");
	/* Lines are taken apart in place; decoded text goes behind them. */
	memcpy(ret->text, bytes, len);
	parser.next = ret->text + HTTP_HEAD_BYTES;
	for (line = ret->text; rc == 0; line = end + 1) {
		end = memchr(line, '\n', (size_t)(ret->text + len - line));
		if (end == NULL)
			return refuse(&parser, 400, "the head has no end");
		*end = '\0';
		if (end > line && end[-1] == '\r')
			end[-1] = '\0';
		if (*line == '\0')
			break;
		rc = is_first ? parse_request_line(&parser, line)
			      : parse_header(&parser, line);
		is_first = false;
	}
	if (rc == 0 && is_first)
		rc = refuse(&parser, 400, "the request line is empty");
	if (rc == 0)
		rc = check_host(&parser, ret);
	if (rc < 0)
		ret->is_last = true;
	return rc;
}

const char *http_head_get(const struct http_head *head, const char *name)
{
	for (unsigned i = 0; i < head->nheaders; i++)
		if (strcmp(head->headers[i].name, name) == 0)
			return head->headers[i].value;
	return NULL;
}

const char *http_head_param(const struct http_head *head, const char *name)
{
	for (unsigned i = 0; i < head->nparams; i++)
		if (strcmp(head->params[i].name, name) == 0)
			return head->params[i].value;
	return NULL;
}

bool http_list_has(const char *list, const char *word)
{
	size_t word_len = strlen(word);

	while (list != NULL && *list != '\0') {
		size_t len;

		list += strspn(list, ", \t");
		len = strcspn(list, ",; \t");
		if (len == word_len && strncasecmp(list, word, len) == 0)
			return true;
		list += strcspn(list, ",");
	}
	return false;
}
