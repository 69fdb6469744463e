/* SPDX-License-Identifier: MIT */
/* ahead.c - inputs that wait for their request, or for a busy engine. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/match/match_internal.h"

/* An item lies in the queue as this head and its text. */
struct item_head {
	int64_t at_us;
	uint32_t len;
	uint32_t kind;
};

enum { FIRST_BYTES = 128 };

static int make_room(struct ahead *ahead, size_t need)
{
	size_t cap = ahead->cap == 0 ? FIRST_BYTES : ahead->cap;
	char *grown;

	if (ahead->at > 0) {
		memmove(ahead->data, ahead->data + ahead->at,
			ahead->len - ahead->at);
		ahead->len -= ahead->at;
		ahead->at = 0;
	}
	if (need > UINT32_MAX / 4 - ahead->len)
		return -ENOMEM;
	while (cap < ahead->len + need)
		cap *= 2;
	if (cap == ahead->cap)
		return 0;
	grown = realloc(ahead->data, cap);
	if (grown == NULL)
		return -ENOMEM;
	ahead->data = grown;
	ahead->cap = (uint32_t)cap;
	return 0;
}

int ahead_push(struct ahead *ahead, const struct ahead_item *item)
{
	struct item_head head = {
		.at_us = item->at_us,
		.len = (uint32_t)item->len,
		.kind = item->kind,
	};

	if (ahead->cap - ahead->len < sizeof(head) + item->len) {
		int rc = make_room(ahead, sizeof(head) + item->len);

		if (rc < 0)
			return rc;
	}
	memcpy(ahead->data + ahead->len, &head, sizeof(head));
	if (item->len > 0)
		memcpy(ahead->data + ahead->len + sizeof(head), item->text,
		       item->len);
	ahead->len += (uint32_t)(sizeof(head) + item->len);
	ahead->bytes += (uint32_t)item->len;
	ahead->items++;
	if (item->kind == AHEAD_LINE || item->kind == AHEAD_LONG)
		ahead->lines++;
	return 0;
}

bool ahead_peek(const struct ahead *ahead, struct ahead_item *ret)
{
	struct item_head head;

	if (ahead->items == 0)
		return false;
	memcpy(&head, ahead->data + ahead->at, sizeof(head));
	*ret = (struct ahead_item){
		.kind = (enum ahead_kind)head.kind,
		.at_us = head.at_us,
		.text = ahead->data + ahead->at + sizeof(head),
		.len = head.len,
	};
	return true;
}

void ahead_pop(struct ahead *ahead)
{
	struct ahead_item item;

	if (!ahead_peek(ahead, &item))
		return;
	ahead->at += (uint32_t)(sizeof(struct item_head) + item.len);
	ahead->bytes -= (uint32_t)item.len;
	ahead->items--;
	if (item.kind == AHEAD_LINE || item.kind == AHEAD_LONG)
		ahead->lines--;
	if (ahead->items == 0)
		ahead_release(ahead);
}

void ahead_release(struct ahead *ahead)
{
	free(ahead->data);
	*ahead = (struct ahead){ 0 };
}
