/* SPDX-License-Identifier: MIT */
#include "server/base/address.h"

#include <arpa/inet.h>
#include <string.h>

enum { V4_OFFSET = 12 };

static const uint8_t v4_prefix[V4_OFFSET] = { [10] = 0xff, [11] = 0xff };

bool address_parse(const char *text, size_t len, uint8_t ret[ADDRESS_BYTES])
{
	char copy[ADDRESS_TEXT_BYTES];
	uint8_t found[ADDRESS_BYTES];

	if (len >= sizeof(copy) || memchr(text, '\0', len) != NULL)
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	memcpy(found, v4_prefix, V4_OFFSET);
	if (inet_pton(AF_INET, copy, found + V4_OFFSET) != 1 &&
	    inet_pton(AF_INET6, copy, found) != 1)
		return false;
	memcpy(ret, found, ADDRESS_BYTES);
	return true;
}

void address_text(const uint8_t address[ADDRESS_BYTES],
		  char ret[ADDRESS_TEXT_BYTES])
{
	bool is_v4 = memcmp(address, v4_prefix, V4_OFFSET) == 0;

	/* The room is enough: it cannot fail. */
	(void)inet_ntop(is_v4 ? AF_INET : AF_INET6,
			is_v4 ? address + V4_OFFSET : address, ret,
			ADDRESS_TEXT_BYTES);
}

void address_host(const uint8_t address[ADDRESS_BYTES],
		  uint8_t ret[ADDRESS_BYTES])
{
	bool is_v4 = memcmp(address, v4_prefix, V4_OFFSET) == 0;
	size_t len = is_v4 ? ADDRESS_BYTES : ADDRESS_BYTES / 2;

	memcpy(ret, address, len);
	memset(ret + len, 0, ADDRESS_BYTES - len);
}

bool address_list_parse(const char *text, struct address_list *ret)
{
	struct address_list found = { .count = 0 };

	while (*text != '\0') {
		const char *start = text + strspn(text, " ");
		size_t len = strcspn(start, ", ");

		text = start + len + strspn(start + len, " ");
		if (found.count == ADDRESS_LIST_MAX ||
		    !address_parse(start, len, found.list[found.count]))
			return false;
		found.count++;
		if (*text == ',' && text[1] == '\0')
			return false;
		if (*text != '\0' && *text++ != ',')
			return false;
	}
	*ret = found;
	return true;
}

bool address_list_has(const struct address_list *list,
		      const uint8_t address[ADDRESS_BYTES])
{
	for (size_t i = 0; i < list->count; i++)
		if (memcmp(list->list[i], address, ADDRESS_BYTES) == 0)
			return true;
	return false;
}
