/* SPDX-License-Identifier: MIT */
/*
 * fuzz_http.c - heads of HTTP requests. What is taken must be whole: texts
 * that end within the head's own copy and hold no control byte. The end of a
 * head must be found at the same place however its bytes come.
 */
#include <stdlib.h>
#include <string.h>

#include "server/web/http_head.h"
#include "tests/fuzz/fuzz.h"

static void check(bool is_so)
{
	if (!is_so)
		abort();
}

static void check_text(const struct http_head *head, const char *text,
		       bool may_tab)
{
	check(text != NULL);
	if (*text == '\0')
		return; /* "" may be the program's own */
	check(text >= head->text && text < head->text + sizeof(head->text));
	check(memchr(text, '\0',
		     (size_t)(head->text + sizeof(head->text) - text)) != NULL);
	for (; *text != '\0'; text++)
		check((unsigned char)*text >= 0x20 ? *text != 0x7f
						   : may_tab && *text == '\t');
}

static void check_head(const struct http_head *head)
{
	check(head->method < HTTP_NMETHODS && head->minor <= 1);
	check(head->nsegments <= HTTP_SEGMENTS_MAX);
	check(head->nparams <= HTTP_PARAMS_MAX);
	check(head->nheaders <= HTTP_HEADERS_MAX);
	check(strlen(head->target) <= HTTP_TARGET_BYTES);
	check(head->has_length || head->body_len == 0);
	check(http_head_get(head, "transfer-encoding") == NULL);
	check(head->minor == 0 || http_head_get(head, "host") != NULL);
	check_text(head, head->target, false);
	for (unsigned i = 0; i < head->nsegments; i++) {
		check_text(head, head->segments[i], false);
		check(strcmp(head->segments[i], "..") != 0);
	}
	for (unsigned i = 0; i < head->nparams; i++) {
		const struct http_pair *pair = &head->params[i];

		check_text(head, pair->name, false);
		check_text(head, pair->value, false);
		check(http_head_param(head, pair->name) == pair->value);
	}
	for (unsigned i = 0; i < head->nheaders; i++) {
		check_text(head, head->headers[i].name, false);
		check_text(head, head->headers[i].value, true);
		check(*head->headers[i].name != '\0');
		(void)http_list_has(head->headers[i].value, "gzip");
	}
}

/* Where the head ends when its bytes come one by one. */
static size_t find_slowly(const char *bytes, size_t size)
{
	size_t seen = 0, found = 0;

	for (size_t len = 1; len <= size && found == 0; len++) {
		found = http_head_find(bytes, len, &seen);
		check(found == 0 || found == len);
	}
	return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct http_head head;
	struct http_refusal refusal = { 0, NULL };
	size_t seen = 0, len;
	/* Of its own size, so that a read past it is found. */
	char *bytes = malloc(size + 1);

	check(bytes != NULL);
	memcpy(bytes, data, size);
	len = http_head_find(bytes, size, &seen);
	check(len <= size && len == find_slowly(bytes, size));
	bytes = realloc(bytes, len > 0 ? len : size + 1);
	check(bytes != NULL);
	if (len == 0)
		len = size;
	if (http_head_parse(bytes, len, &head, &refusal) == 0) {
		check_head(&head);
	} else {
		check(refusal.status >= 400 && refusal.status < 600);
		check(refusal.detail != NULL);
	}
	free(bytes);
	return 0;
}
