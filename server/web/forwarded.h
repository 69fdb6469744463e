/* SPDX-License-Identifier: MIT */
/*
 * forwarded.h - whose request it is that came through a proxy.
 *
 * A proxy that the host trusts appends to X-Forwarded-For who asked it; what
 * stands before that, the client may have made up. So the list is read from
 * its end, past trusted proxies, and the first address that is none of them
 * is the client's. Nobody else's header is looked at.
 *
 * Pure. Any thread.
 */
#ifndef HILL_WEB_FORWARDED_H
#define HILL_WEB_FORWARDED_H

#include <stdbool.h>

#include "server/base/address.h"
#include "server/web/http_head.h"

/* Whether PEER, an address as text, is one of PROXIES. */
bool forwarded_is_proxy(const struct address_list *proxies, const char *peer);
/*
 * The address behind the request HEAD, which came from PEER, a trusted proxy.
 * False: the header is missing or malformed, or names PROXIES alone; *RET is
 * as before.
 */
bool forwarded_client(const struct address_list *proxies,
		      const struct http_head *head,
		      char ret[ADDRESS_TEXT_BYTES]);

#endif
