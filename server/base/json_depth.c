/* SPDX-License-Identifier: MIT */
#include "server/base/json_depth.h"
#include "server/base/limits.h"

bool json_is_too_deep(const char *text, size_t len)
{
	bool in_text = false;
	int depth = 0;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (in_text) {
			if (c == '\\')
				i++;
			else if (c == '"')
				in_text = false;
		} else if (c == '"') {
			in_text = true;
		} else if (c == '[' || c == '{') {
			if (++depth > LIMIT_JSON_DEPTH)
				return true;
		} else if (c == ']' || c == '}') {
			depth--;
		}
	}
	return false;
}
