/* SPDX-License-Identifier: MIT */
/*
 * image-blob ARENA (R,G,B) N: grows its colour evenly, oldest border first.
 * The least that plays image-battle: keep the picture up to date from the
 * `colour` lines, answer `pick pixels` with up to N white pixels that touch
 * ours, end at `exit`.
 */
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arena {
	png_image image;
	unsigned char *pixels; /* RGB, row by row */
	unsigned colour;       /* ours, 0xRRGGBB */
	unsigned char *queued; /* a byte a pixel: it is in the queue */
	unsigned *queue;       /* white pixels beside ours, oldest first */
	size_t head, tail;
};

enum { WHITE = 0xffffff };

static unsigned pixel(const struct arena *arena, int x, int y)
{
	const unsigned char *at;

	if (x < 0 || y < 0 || (unsigned)x >= arena->image.width ||
	    (unsigned)y >= arena->image.height)
		return 0;
	at = arena->pixels + 3 * ((size_t)y * arena->image.width + (size_t)x);
	return (unsigned)at[0] << 16 | (unsigned)at[1] << 8 | at[2];
}

/* Queue the white neighbours of our pixel X,Y. */
static void queue_around(struct arena *arena, int x, int y)
{
	static const int way_x[] = { 1, -1, 0, 0 };
	static const int way_y[] = { 0, 0, 1, -1 };

	for (int i = 0; i < 4; i++) {
		int next_x = x + way_x[i];
		int next_y = y + way_y[i];
		unsigned index = (unsigned)next_y * arena->image.width +
				 (unsigned)next_x;

		if (pixel(arena, next_x, next_y) != WHITE ||
		    arena->queued[index])
			continue;
		arena->queued[index] = 1;
		arena->queue[arena->tail++] = index;
	}
}

static int read_arena(struct arena *arena, const char *path)
{
	size_t count;

	arena->image.version = PNG_IMAGE_VERSION;
	if (!png_image_begin_read_from_file(&arena->image, path)) {
		fprintf(stderr, "%s: %s\n", path, arena->image.message);
		return -1;
	}
	arena->image.format = PNG_FORMAT_RGB;
	count = (size_t)arena->image.width * arena->image.height;
	arena->pixels = malloc(PNG_IMAGE_SIZE(arena->image));
	arena->queued = calloc(count, 1);
	arena->queue = malloc(count * sizeof(*arena->queue));
	if (arena->pixels == NULL || arena->queued == NULL ||
	    arena->queue == NULL ||
	    !png_image_finish_read(&arena->image, NULL, arena->pixels, 0,
				   NULL)) {
		fprintf(stderr, "%s: cannot read the picture\n", path);
		return -1;
	}
	for (int y = 0; y < (int)arena->image.height; y++) {
		for (int x = 0; x < (int)arena->image.width; x++) {
			if (pixel(arena, x, y) == arena->colour)
				queue_around(arena, x, y);
		}
	}
	return 0;
}

/* `colour (R,G,B) chose X,Y X,Y ...`: whoever it was. */
static void paint(struct arena *arena, const char *line)
{
	unsigned red;
	unsigned green;
	unsigned blue;
	int used;
	int x;
	int y;

	if (sscanf(line, "colour (%u,%u,%u) chose%n", &red, &green, &blue,
		   &used) != 3)
		return;
	line += used;
	while (sscanf(line, " %d,%d%n", &x, &y, &used) == 2) {
		unsigned char *at;

		line += used;
		if (x < 0 || y < 0 || (unsigned)x >= arena->image.width ||
		    (unsigned)y >= arena->image.height)
			continue;
		at = arena->pixels +
		     3 * ((size_t)y * arena->image.width + (size_t)x);
		at[0] = (unsigned char)red;
		at[1] = (unsigned char)green;
		at[2] = (unsigned char)blue;
		if ((red << 16 | green << 8 | blue) == arena->colour)
			queue_around(arena, x, y);
	}
}

static void pick(struct arena *arena, int most)
{
	const char *separator = "";

	while (most > 0 && arena->head < arena->tail) {
		unsigned index = arena->queue[arena->head++];
		int x = (int)(index % arena->image.width);
		int y = (int)(index / arena->image.width);

		if (pixel(arena, x, y) != WHITE)
			continue; /* somebody else was there first */
		printf("%s%d,%d", separator, x, y);
		separator = " ";
		most--;
	}
	putchar('\n');
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static struct arena arena;
	unsigned red;
	unsigned green;
	unsigned blue;
	char *line = NULL;
	size_t size = 0;
	int batch;

	if (argc != 4 ||
	    sscanf(argv[2], "(%u,%u,%u)", &red, &green, &blue) != 3 ||
	    (batch = atoi(argv[3])) < 1) {
		fprintf(stderr, "usage: image-blob ARENA (R,G,B) N\n");
		return 2;
	}
	arena.colour = red << 16 | green << 8 | blue;
	if (read_arena(&arena, argv[1]) < 0)
		return 1;
	while (getline(&line, &size, stdin) > 0) {
		if (strncmp(line, "exit", 4) == 0)
			break;
		if (strncmp(line, "pick", 4) == 0)
			pick(&arena, batch);
		else
			paint(&arena, line);
	}
	free(line);
	free(arena.pixels);
	free(arena.queued);
	free(arena.queue);
	return 0;
}
