/* SPDX-License-Identifier: MIT */
#include "server/web/forwarded.h"

#include <string.h>

bool forwarded_is_proxy(const struct address_list *proxies, const char *peer)
{
	uint8_t address[ADDRESS_BYTES];

	return proxies->count > 0 &&
	       address_parse(peer, strlen(peer), address) &&
	       address_list_has(proxies, address);
}

static bool is_port(const char *text, size_t len)
{
	return len >= 2 && len <= 6 && text[0] == ':' &&
	       strspn(text + 1, "0123456789") >= len - 1;
}

/* "192.0.2.7", "2001:db8::7"; a port may follow: "[2001:db8::7]:80". */
static bool parse_item(const char *text, size_t len, uint8_t ret[ADDRESS_BYTES])
{
	const char *end;

	if (address_parse(text, len, ret))
		return true;
	if (len > 0 && *text == '[') {
		end = memchr(text, ']', len);
		if (end == NULL ||
		    !address_parse(text + 1, (size_t)(end - text) - 1, ret))
			return false;
		end++;
	} else {
		end = memchr(text, ':', len);
		if (end == NULL ||
		    !address_parse(text, (size_t)(end - text), ret))
			return false;
	}
	len -= (size_t)(end - text);
	return len == 0 || is_port(end, len);
}

enum verdict { GO_ON, FOUND, MALFORMED };

/* One header's addresses, from the last to the first. */
static enum verdict walk(const struct address_list *proxies, const char *value,
			 uint8_t ret[ADDRESS_BYTES])
{
	size_t end = strlen(value);

	for (;;) {
		size_t start = end, len;
		const char *item;

		while (start > 0 && value[start - 1] != ',')
			start--;
		item = value + start;
		len = end - start;
		while (len > 0 && (*item == ' ' || *item == '\t')) {
			item++;
			len--;
		}
		while (len > 0 &&
		       (item[len - 1] == ' ' || item[len - 1] == '\t'))
			len--;
		if (!parse_item(item, len, ret))
			return MALFORMED;
		if (!address_list_has(proxies, ret))
			return FOUND;
		if (start == 0)
			return GO_ON;
		end = start - 1;
	}
}

bool forwarded_client(const struct address_list *proxies,
		      const struct http_head *head,
		      char ret[ADDRESS_TEXT_BYTES])
{
	uint8_t address[ADDRESS_BYTES];
	enum verdict verdict = GO_ON;

	/* Each may have added a line of its own: they are one list. */
	for (unsigned i = head->nheaders; i-- > 0 && verdict == GO_ON;)
		if (strcmp(head->headers[i].name, "x-forwarded-for") == 0)
			verdict =
				walk(proxies, head->headers[i].value, address);
	if (verdict != FOUND)
		return false;
	address_text(address, ret);
	return true;
}
