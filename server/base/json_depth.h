/* SPDX-License-Identifier: MIT */
/* How deep a text of JSON is nested, before a parser that recurses sees it. */
#ifndef HILL_BASE_JSON_DEPTH_H
#define HILL_BASE_JSON_DEPTH_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Whether the LEN bytes of TEXT open more than LIMIT_JSON_DEPTH arrays and
 * objects in one another. jansson's parser calls itself for each level (RFC
 * 8259, section 9, lets a parser set such a limit), so this is asked first. Of
 * what is no JSON the answer means nothing, and nothing is read beyond LEN.
 * Any thread.
 */
bool json_is_too_deep(const char *text, size_t len);

#endif
