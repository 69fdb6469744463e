/* SPDX-License-Identifier: MIT */
/*
 * rabbit-greedy MAP SEED: sends every rabbit down the shortest way to an exit,
 * whatever stands there. The least that plays rabbit-runner: read the map,
 * flood it from the exits, answer each turn's three lines with one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE_MAX = 2000, FAR = 1000000000 };

struct maze {
	char *rows[SIDE_MAX]; /* owned; blanks stripped at both ends */
	int widths[SIDE_MAX];
	int height;
	int *steps; /* height x SIDE_MAX: to the nearest exit */
};

static const int way_x[] = { 1, -1, 0, 0 };
static const int way_y[] = { 0, 0, 1, -1 };

/* The controller strips each line, and drops empty ones and comments. */
static void add_row(struct maze *maze, char *line)
{
	size_t len;

	line += strspn(line, " \t\r\n\v\f");
	len = strlen(line);
	while (len > 0 && strchr(" \t\r\n\v\f", line[len - 1]) != NULL)
		len--;
	line[len] = '\0';
	if (len == 0 || line[0] == ';' || maze->height == SIDE_MAX ||
	    len > SIDE_MAX)
		return;
	maze->rows[maze->height] = strdup(line);
	maze->widths[maze->height] = (int)len;
	maze->height++;
}

static int read_maze(struct maze *maze, const char *path)
{
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;

	if (file == NULL) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return -1;
	}
	while (getline(&line, &size, file) > 0)
		add_row(maze, line);
	free(line);
	fclose(file);
	return 0;
}

static int is_open(const struct maze *maze, int x, int y)
{
	return y >= 0 && y < maze->height && x >= 0 && x < maze->widths[y] &&
	       maze->rows[y][x] != '#';
}

/* Fill in the distances, breadth first from all exits at once. */
static void flood(struct maze *maze)
{
	size_t cells = (size_t)maze->height * SIDE_MAX;
	int *queue = malloc(sizeof(*queue) * (cells + 1));
	size_t head = 0;
	size_t tail = 0;

	maze->steps = malloc(sizeof(*maze->steps) * (cells + 1));
	if (queue == NULL || maze->steps == NULL)
		exit(1);
	for (size_t i = 0; i < cells; i++)
		maze->steps[i] = FAR;
	for (int y = 0; y < maze->height; y++) {
		for (int x = 0; x < maze->widths[y]; x++) {
			if (maze->rows[y][x] != 'e')
				continue;
			maze->steps[y * SIDE_MAX + x] = 0;
			queue[tail++] = y * SIDE_MAX + x;
		}
	}
	while (head < tail) {
		int cell = queue[head++];

		for (int i = 0; i < 4; i++) {
			int x = cell % SIDE_MAX + way_x[i];
			int y = cell / SIDE_MAX + way_y[i];
			int next = y * SIDE_MAX + x;

			if (!is_open(maze, x, y) || maze->steps[next] != FAR)
				continue;
			maze->steps[next] = maze->steps[cell] + 1;
			queue[tail++] = next;
		}
	}
	free(queue);
}

/* Print `X,Y to X,Y` for the rabbit at X,Y, if there is a way. */
static void move_rabbit(const struct maze *maze, int x, int y,
			const char **separator)
{
	for (int i = 0; i < 4; i++) {
		int to_x = x + way_x[i];
		int to_y = y + way_y[i];

		if (!is_open(maze, to_x, to_y) || !is_open(maze, x, y) ||
		    maze->steps[to_y * SIDE_MAX + to_x] >=
			    maze->steps[y * SIDE_MAX + x])
			continue;
		printf("%s%d,%d to %d,%d", *separator, x, y, to_x, to_y);
		*separator = "; ";
		return;
	}
}

static void answer(const struct maze *maze, const char *rabbits)
{
	const char *separator = " ";
	int x;
	int y;
	int used;

	fputs("move", stdout);
	while (sscanf(rabbits, " %d,%d%n", &x, &y, &used) == 2) {
		move_rabbit(maze, x, y, &separator);
		rabbits += used;
	}
	putchar('\n');
	/* Without this the line stays here and the turn is late. */
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static struct maze maze;
	char *line = NULL;
	size_t size = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: rabbit-greedy MAP SEED\n");
		return 2;
	}
	if (read_maze(&maze, argv[1]) < 0)
		return 1;
	flood(&maze);
	while (getline(&line, &size, stdin) > 0) {
		/* `turnsleft` and `crusher` come before; we do not look. */
		if (strncmp(line, "rabbits", 7) == 0)
			answer(&maze, line + 7);
	}
	free(line);
	free(maze.steps);
	for (int y = 0; y < maze.height; y++)
		free(maze.rows[y]);
	return 0;
}
