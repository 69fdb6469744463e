/* SPDX-License-Identifier: MIT */
/* layout.c - a layout's life, its floor measured. layout_style.c draws. */
#include "server/games/layout.h"

#include <stdlib.h>
#include <string.h>

void layout_init(struct layout *layout, unsigned width, unsigned height)
{
	size_t cells = (size_t)width * height;

	layout->width = width;
	layout->height = height;
	layout->walls = xcalloc(cells, 1);
	layout->queue = xcalloc(cells, sizeof(*layout->queue));
}

void layout_release(struct layout *layout)
{
	if (layout == NULL)
		return;
	free(layout->walls);
	free(layout->queue);
	*layout = (struct layout){ 0 };
}

struct layout_area layout_whole(const struct layout *layout)
{
	return (struct layout_area){ 0, 0, layout->width, layout->height };
}

size_t layout_floor(const struct layout *layout)
{
	size_t cells = (size_t)layout->width * layout->height;
	size_t count = 0;

	for (size_t i = 0; i < cells; i++)
		count += layout->walls[i] == 0;
	return count;
}

void layout_fill(struct layout *layout, struct layout_area area, bool is_wall)
{
	for (unsigned y = area.y; y < area.y + area.height; y++)
		memset(layout->walls + layout_index(layout, area.x, y), is_wall,
		       area.width);
}

void layout_frame(struct layout *layout)
{
	unsigned width = layout->width;
	unsigned height = layout->height;

	layout_fill(layout, (struct layout_area){ 0, 0, width, 1 }, true);
	layout_fill(layout, (struct layout_area){ 0, height - 1, width, 1 },
		    true);
	layout_fill(layout, (struct layout_area){ 0, 0, 1, height }, true);
	layout_fill(layout, (struct layout_area){ width - 1, 0, 1, height },
		    true);
}

/* The neighbours of cell AT that are on the grid; returns how many. */
static unsigned neighbours(const struct layout *layout, uint32_t at,
			   uint32_t ret[4])
{
	uint32_t x = at % layout->width;
	unsigned count = 0;

	if (at >= layout->width)
		ret[count++] = at - layout->width;
	if (x > 0)
		ret[count++] = at - 1;
	if (x + 1 < layout->width)
		ret[count++] = at + 1;
	if (at / layout->width + 1 < layout->height)
		ret[count++] = at + layout->width;
	return count;
}

void layout_distances(struct layout *layout, const uint32_t *sources,
		      unsigned count, uint32_t *ret, uint8_t *owners)
{
	size_t cells = (size_t)layout->width * layout->height;
	uint32_t *queue = layout->queue;
	size_t first = 0;
	size_t last = 0;

	memset(ret, 0xff, cells * sizeof(*ret));
	for (unsigned i = 0; i < count; i++) {
		if (ret[sources[i]] == 0)
			continue;
		ret[sources[i]] = 0;
		queue[last++] = sources[i];
		if (owners != NULL)
			owners[sources[i]] = (uint8_t)i;
	}
	while (first < last) {
		uint32_t at = queue[first++];
		uint32_t sides[4];
		unsigned nsides = neighbours(layout, at, sides);

		for (unsigned i = 0; i < nsides; i++) {
			uint32_t to = sides[i];

			if (layout->walls[to] != 0 || ret[to] != LAYOUT_FAR)
				continue;
			ret[to] = ret[at] + 1;
			if (owners != NULL)
				owners[to] = owners[at];
			queue[last++] = to;
		}
	}
}

size_t layout_seal(struct layout *layout)
{
	size_t cells = (size_t)layout->width * layout->height;
	uint32_t *part = xcalloc(cells, sizeof(*part)); /* 0: not seen */
	uint32_t *queue = layout->queue;
	uint32_t nparts = 0;
	uint32_t best = 0;
	size_t best_cells = 0;

	for (uint32_t start = 0; start < cells; start++) {
		size_t first = 0;
		size_t last = 0;

		if (layout->walls[start] != 0 || part[start] != 0)
			continue;
		part[start] = ++nparts;
		queue[last++] = start;
		while (first < last) {
			uint32_t sides[4];
			unsigned nsides =
				neighbours(layout, queue[first++], sides);

			for (unsigned i = 0; i < nsides; i++) {
				if (layout->walls[sides[i]] != 0 ||
				    part[sides[i]] != 0)
					continue;
				part[sides[i]] = nparts;
				queue[last++] = sides[i];
			}
		}
		if (last > best_cells) {
			best = nparts;
			best_cells = last;
		}
	}
	for (size_t i = 0; i < cells; i++)
		layout->walls[i] = part[i] != best || best == 0;
	free(part);
	return best_cells;
}

uint32_t layout_pick(const struct layout *layout, struct chance *chance)
{
	uint32_t left = chance_below(chance, (uint32_t)layout_floor(layout));
	uint32_t at = 0;

	while (layout->walls[at] != 0 || left-- > 0)
		at++;
	return at;
}
