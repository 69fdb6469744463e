/* SPDX-License-Identifier: MIT */
/*
 * address.h - IP addresses as 16 bytes, IPv4 mapped into IPv6: one form for
 * both ways of writing the same one. Pure.
 */
#ifndef HILL_BASE_ADDRESS_H
#define HILL_BASE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/base/alloc.h"

enum {
	ADDRESS_BYTES = 16,
	ADDRESS_TEXT_BYTES = 48, /* with its NUL */
	ADDRESS_LIST_MAX = 16,
};

struct address_list {
	uint8_t list[ADDRESS_LIST_MAX][ADDRESS_BYTES];
	size_t count;
};

/*
 * Whether the LEN bytes of TEXT are an address and nothing else (no port, no
 * scope, no name); if so it is in RET.
 */
bool address_parse(const char *text, size_t len, uint8_t ret[ADDRESS_BYTES]);
/* ADDRESS as people write it: "10.0.0.7", "2001:db8::7". */
void address_text(const uint8_t address[ADDRESS_BYTES],
		  char ret[ADDRESS_TEXT_BYTES]);
/*
 * Whom ADDRESS counts for wherever something is bounded by address, as an
 * address again: an IPv4 one for itself; an IPv6 one for its network of 64
 * bits, since whoever has one address of such a network mostly has all.
 */
void address_host(const uint8_t address[ADDRESS_BYTES],
		  uint8_t ret[ADDRESS_BYTES]);
/*
 * Whether TEXT is addresses with commas between them, blanks aside; "" has
 * none. If so they are in *RET.
 */
bool address_list_parse(const char *text, struct address_list *ret);
bool address_list_has(const struct address_list *list,
		      const uint8_t address[ADDRESS_BYTES]);

#endif
