/* SPDX-License-Identifier: MIT */
/*
 * lambda-greedy < MAP: digs to the nearest lambda again and again as if
 * nothing ever fell, keeping out from under rocks, and then stops. The least
 * that plays lambda-mining: read the mine to its end, print one route.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE_MAX = 2000 };

struct mine {
	char *cells; /* height x width, first row on top */
	int width, height;
	int robot;
};

static const char letters[] = "LRUD";

static int read_mine(struct mine *mine)
{
	static char *lines[SIDE_MAX];
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

	/* The map ends at the first empty line; metadata follows. */
	while (mine->height < SIDE_MAX &&
	       (len = getline(&line, &size, stdin)) > 0) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[0] == '\0')
			break;
		lines[mine->height++] = strdup(line);
		if ((int)strlen(line) > mine->width)
			mine->width = (int)strlen(line);
	}
	free(line);
	mine->robot = -1;
	if (mine->width > SIDE_MAX || mine->height == 0)
		return -1;
	mine->cells = malloc((size_t)mine->width * mine->height);
	if (mine->cells == NULL)
		return -1;
	memset(mine->cells, ' ', (size_t)mine->width * mine->height);
	for (int y = 0; y < mine->height; y++) {
		memcpy(mine->cells + (size_t)y * mine->width, lines[y],
		       strlen(lines[y]));
		free(lines[y]);
	}
	for (int i = 0; i < mine->width * mine->height; i++) {
		if (mine->cells[i] == 'R')
			mine->robot = i;
	}
	return mine->robot < 0 ? -1 : 0;
}

static int is_rock(char mark)
{
	return mark == '*' || mark == '@';
}

/* The cell one step from CELL in direction WAY, or -1: no good to enter. */
static int step_to(const struct mine *mine, int cell, int way)
{
	int x = cell % mine->width + (way == 1) - (way == 0);
	int y = cell / mine->width + (way == 3) - (way == 2);
	int next = y * mine->width + x;

	if (x < 0 || x >= mine->width || y < 0 || y >= mine->height ||
	    strchr(" .\\!O", mine->cells[next]) == NULL)
		return -1;
	/* A rock above falls on who moves down or digs under it. */
	if (y > 0 && is_rock(mine->cells[next - mine->width]))
		return -1;
	return next;
}

/* Walk to the nearest lambda, breadth first; 0 when none can be reached. */
static int fetch(struct mine *mine, int *from, int *queue, char *route)
{
	int cells = mine->width * mine->height;
	int head = 0;
	int tail = 0;
	int length = 0;
	int found = -1;

	for (int i = 0; i < cells; i++)
		from[i] = -1;
	from[mine->robot] = mine->robot * 4;
	queue[tail++] = mine->robot;
	while (head < tail && found < 0) {
		int cell = queue[head++];

		for (int way = 0; way < 4 && found < 0; way++) {
			int next = step_to(mine, cell, way);

			if (next < 0 || from[next] >= 0)
				continue;
			from[next] = cell * 4 + way;
			queue[tail++] = next;
			if (mine->cells[next] == '\\')
				found = next;
		}
	}
	if (found < 0)
		return 0;
	for (int cell = found; cell != mine->robot; cell = from[cell] / 4) {
		route[length++] = letters[from[cell] % 4];
		mine->cells[cell] = ' ';
	}
	mine->cells[mine->robot] = ' ';
	mine->robot = found;
	while (length > 0)
		putchar(route[--length]);
	return 1;
}

int main(void)
{
	struct mine mine = { 0 };
	size_t cells;
	int *from;
	int *queue;
	char *route;

	if (read_mine(&mine) < 0) {
		fprintf(stderr, "lambda-greedy: no mine with a robot\n");
		return 1;
	}
	cells = (size_t)mine.width * mine.height;
	from = malloc(cells * sizeof(*from));
	queue = malloc(cells * sizeof(*queue));
	route = malloc(cells);
	if (from == NULL || queue == NULL || route == NULL)
		return 1;
	while (fetch(&mine, from, queue, route))
		;
	puts("A");
	free(from);
	free(queue);
	free(route);
	free(mine.cells);
	return 0;
}
