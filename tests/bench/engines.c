/* SPDX-License-Identifier: MIT */
/*
 * engines.c - how fast the engines are, without a server around them.
 *
 *	bench-engines rabbit-runner MAP SECONDS    turns, a bot that only waits
 *	bench-engines image-battle WIDTHxHEIGHT SECONDS
 *	                                           pixels, two blobs, batch 10
 *	bench-engines lambda-mining MAP SECONDS    steps of a legal route
 *	bench-engines arena WIDTHxHEIGHT           that arena, as PPM to stdout
 *
 * Plays whole matches, each with its making and its end, for SECONDS of CPU
 * and prints `units=N us=N matches=N`. Replies are worked out beforehand: only
 * the engine is on the clock. What a match came to is checked: exit 1 when it
 * is not what it must be.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/games/game.h"
#include "server/games/lambda_internal.h"
#include "server/games/picture.h"

enum {
	MAP_BYTES_MAX = 1 << 20,
	OUTPUT_BYTES_MAX = 1 << 24,
	ROUTES = 64,
	ROUTE_BYTES_MAX = 65536, /* a reply line's */
	TURNS = 500,
	BATCH = 10,
	SIDE_MAX = 1000,
	RED = 0xff0000,
	GREEN = 0x00ff00,
	WHITE = 0xffffff,
};

struct bench {
	const struct game *game;
	struct game_map *map;
	struct game_setup setup;
	struct game_out out;
	int64_t units, us, matches;
};

static void fail(const char *what)
{
	(void)fprintf(stderr, "bench-engines: %s\n", what);
	exit(1);
}

static int64_t cpu_us(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) != 0)
		fail("no CPU clock");
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static uint32_t draw(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

static void bench_init(struct bench *bench, const char *name,
		       const struct buf *file, const char *options,
		       const char *params, unsigned seats)
{
	struct game_error error = { "" };
	struct buf imported = BUF_INIT(MAP_BYTES_MAX);
	struct game_source source = { .name = "bench.map",
				      .data = buf_text(file),
				      .len = file->len,
				      .options = options };

	memset(bench, 0, sizeof(*bench));
	bench->game = game_find(name);
	if (bench->game == NULL)
		fail("no such game");
	if (game_import(bench->game, &source, &imported, &error) != 0)
		fail(error.text);
	source.data = buf_text(&imported);
	source.len = imported.len;
	if (bench->game->map_new(&bench->map, &source, &error) != 0 ||
	    game_params_parse(bench->game, params, bench->setup.params,
			      &error) != 0)
		fail(error.text);
	buf_release(&imported);
	bench->setup.seed = bench->setup.bot_seed = "7";
	bench->setup.seats = seats;
	game_out_init(&bench->out, OUTPUT_BYTES_MAX);
}

static void bench_release(struct bench *bench)
{
	bench->game->map_free(bench->map);
	game_out_release(&bench->out);
}

static struct game_state *begin(struct bench *bench)
{
	struct game_error error = { "" };
	struct game_state *state;

	game_out_clear(&bench->out);
	if (bench->game->create(&state, bench->map, &bench->setup, &error) != 0)
		fail(error.text);
	game_settle(bench->game, state, bench->game->begin(state, &bench->out),
		    &bench->out);
	return state;
}

static void feed(struct bench *bench, struct game_state *state, unsigned seat,
		 const char *text, size_t len)
{
	game_out_clear(&bench->out);
	game_settle(bench->game, state,
		    bench->game->feed(state, seat, GAME_REPLY, text, len,
				      &bench->out),
		    &bench->out);
}

/* ---- rabbit-runner: a bot that never moves a rabbit ---- */

/* Every turn must bring its three lines; that they are right, golden-check. */
static void play_rabbits(struct bench *bench)
{
	struct game_score score;
	struct game_state *state;
	int64_t begun = cpu_us();
	unsigned turns = 0;
	size_t bytes = 0;

	state = begin(bench);
	while (!bench->out.is_over) {
		const struct buf *lines = &bench->out.lines[0];

		if (lines->len == 0 || lines->data[0] != 't' ||
		    lines->data[lines->len - 1] != '\n')
			fail("a turn told nothing");
		bytes += lines->len;
		feed(bench, state, 0, "move", 4);
		turns++;
	}
	bench->game->result(state, &score);
	bench->game->free(state);
	bench->us += cpu_us() - begun;
	if (turns != TURNS || score.reason != GAME_FINISHED ||
	    score.points != 0 || bytes < (size_t)turns * 40)
		fail("rabbit-runner: not the run it should be");
	bench->units += turns;
}

/* ---- image-battle: two blobs ---- */

/* A blob's view of the arena: its own and what it is told. */
struct blob {
	uint8_t *cells;  /* 0 white, else owner + 1 */
	uint32_t *skin;  /* white pixels beside its own */
	uint32_t *place; /* by pixel: its place in skin + 1 */
	size_t nskin;
};

struct arena {
	unsigned width, height;
	struct blob blobs[2];
	uint64_t random;
};

struct reply {
	uint32_t start, len; /* in a buffer of texts */
	unsigned seat;
};

static void skin_add(struct blob *blob, uint32_t at)
{
	if (blob->place[at] != 0 || blob->cells[at] != 0)
		return;
	blob->skin[blob->nskin++] = at;
	blob->place[at] = (uint32_t)blob->nskin;
}

static void skin_discard(struct blob *blob, uint32_t at)
{
	uint32_t place = blob->place[at];
	uint32_t last;

	if (place == 0)
		return;
	last = blob->skin[--blob->nskin];
	blob->skin[place - 1] = last;
	blob->place[last] = place;
	blob->place[at] = 0;
}

static void told(struct arena *arena, unsigned who, unsigned x, unsigned y)
{
	uint32_t at = y * arena->width + x;

	for (unsigned i = 0; i < 2; i++) {
		struct blob *blob = &arena->blobs[i];

		blob->cells[at] = (uint8_t)(who + 1);
		skin_discard(blob, at);
		if (i != who)
			continue;
		if (x > 0)
			skin_add(blob, at - 1);
		if (x + 1 < arena->width)
			skin_add(blob, at + 1);
		if (y > 0)
			skin_add(blob, at - arena->width);
		if (y + 1 < arena->height)
			skin_add(blob, at + arena->width);
	}
}

static void arena_begin(struct arena *arena)
{
	size_t count = (size_t)arena->width * arena->height;

	for (unsigned i = 0; i < 2; i++) {
		struct blob *blob = &arena->blobs[i];

		blob->cells = xcalloc(count, 1);
		blob->skin = xcalloc(count, sizeof(uint32_t));
		blob->place = xcalloc(count, sizeof(uint32_t));
		blob->nskin = 0;
	}
	told(arena, 0, arena->width / 4, arena->height / 4);
	told(arena, 1, arena->width * 3 / 4, arena->height * 3 / 4);
}

static void arena_end(struct arena *arena)
{
	for (unsigned i = 0; i < 2; i++) {
		free(arena->blobs[i].cells);
		free(arena->blobs[i].skin);
		free(arena->blobs[i].place);
	}
}

static void paint(const struct arena *arena, struct buf *rgb)
{
	for (unsigned y = 0; y < arena->height; y++) {
		for (unsigned x = 0; x < arena->width; x++) {
			uint32_t colour = WHITE;

			if (x == arena->width / 4 && y == arena->height / 4)
				colour = RED;
			if (x == arena->width * 3 / 4 &&
			    y == arena->height * 3 / 4)
				colour = GREEN;
			buf_add_char(rgb, (char)(colour >> 16));
			buf_add_char(rgb, (char)(colour >> 8));
			buf_add_char(rgb, (char)colour);
		}
	}
}

/* Up to BATCH pixels of SEAT's skin, in no order. */
static void blob_reply(struct arena *arena, unsigned seat, struct buf *texts)
{
	struct blob *blob = &arena->blobs[seat];

	for (unsigned n = 0; n < BATCH && blob->nskin > 0; n++) {
		uint32_t at = blob->skin[draw(&arena->random) % blob->nskin];

		skin_discard(blob, at);
		buf_add_format(texts, "%s%u,%u", n == 0 ? "" : " ",
			       at % arena->width, at / arena->width);
	}
}

/* Hand what the engine told seat 0 to both blobs. */
static unsigned hear(struct arena *arena, const char *lines)
{
	unsigned count = 0;

	for (const char *line = lines; line != NULL && *line != '\0';) {
		const char *end = strchr(line, '\n');
		const char *p = strstr(line, " chose");
		unsigned who = strncmp(line, "colour (255,", 12) == 0 ? 0 : 1;
		unsigned x, y;
		int used;

		if (p != NULL && p < end) {
			p += strlen(" chose");
			while (p < end &&
			       sscanf(p, " %u,%u%n", &x, &y, &used) == 2) {
				told(arena, who, x, y);
				p += used;
				count++;
			}
		}
		line = end == NULL ? NULL : end + 1;
	}
	return count;
}

static unsigned seat_asked(const struct game_out *out)
{
	return (out->asked & 1) != 0 ? 0 : 1;
}

/* Play once with thinking blobs; keep the replies. Returns the pixels. */
static unsigned rehearse(struct bench *bench, struct arena *arena,
			 struct buf *texts, struct reply *replies,
			 size_t *ret_count)
{
	struct game_state *state = begin(bench);
	unsigned pixels = 0;
	size_t count = 0;

	arena_begin(arena);
	while (!bench->out.is_over) {
		unsigned seat = seat_asked(&bench->out);
		struct reply *reply = &replies[count++];

		reply->seat = seat;
		reply->start = (uint32_t)texts->len;
		blob_reply(arena, seat, texts);
		reply->len = (uint32_t)texts->len - reply->start;
		feed(bench, state, seat, buf_text(texts) + reply->start,
		     reply->len);
		pixels += hear(arena, buf_text(&bench->out.lines[0]));
	}
	arena_end(arena);
	bench->game->free(state);
	*ret_count = count;
	return pixels;
}

static void play_battle(struct bench *bench, const struct buf *texts,
			const struct reply *replies, size_t count,
			unsigned pixels)
{
	struct game_score scores[GAME_SEATS_MAX];
	int64_t begun = cpu_us();
	struct game_state *state = begin(bench);
	size_t told_bytes = 0;

	for (size_t i = 0; i < count; i++) {
		if (bench->out.is_over ||
		    seat_asked(&bench->out) != replies[i].seat)
			fail("image-battle: another battle than rehearsed");
		feed(bench, state, replies[i].seat,
		     buf_text(texts) + replies[i].start, replies[i].len);
		told_bytes += bench->out.lines[0].len;
	}
	bench->game->result(state, scores);
	bench->us += cpu_us() - begun;
	if (!bench->out.is_over || told_bytes < (size_t)pixels * 4 ||
	    scores[0].columns[1] + scores[1].columns[1] != (double)pixels)
		fail("image-battle: not all pixels were painted");
	bench->game->free(state);
	bench->units += pixels;
}

static void bench_image(struct bench *bench, struct arena *arena,
			double seconds)
{
	size_t cells = (size_t)arena->width * arena->height;
	struct reply *replies = xcalloc(cells + 8, sizeof(*replies));
	struct buf texts = BUF_INIT(OUTPUT_BYTES_MAX);
	size_t count;
	unsigned pixels;

	pixels = rehearse(bench, arena, &texts, replies, &count);
	if (pixels + 2 != cells)
		fail("image-battle: the blobs left something white");
	while (bench->us < (int64_t)(seconds * 1e6)) {
		play_battle(bench, &texts, replies, count, pixels);
	}
	bench->matches = bench->units / pixels;
	buf_release(&texts);
	free(replies);
}

/* ---- lambda-mining: a random walk that is legal and survives ---- */

/* The mine of MAP after the LEN commands at ROUTE. */
static void mine_after(struct lambda_sim *to, const char *route, size_t len,
		       const struct lambda_map *map)
{
	if (lambda_sim_init(to, map) != 0)
		fail("no memory");
	for (size_t i = 0; i < len; i++)
		lambda_step(to, route[i]);
}

/* Whether COMMAND moves the robot of SIM, and not into the lift. */
static bool is_legal(const struct lambda_sim *sim, char command)
{
	uint32_t stride = sim->map->stride;
	uint32_t to = command == 'L'   ? sim->robot - 1
		      : command == 'R' ? sim->robot + 1
		      : command == 'U' ? sim->robot + stride
				       : sim->robot - stride;
	unsigned char cell = sim->cells[to];

	if (cell == ' ' || cell == '.' || cell == '\\')
		return true;
	if (!lambda_is_stone(cell))
		return false;
	if (command == 'L')
		return sim->cells[to - 1] == ' ';
	return command == 'R' && sim->cells[to + 1] == ' ';
}

/* One legal step that the robot survives, added to ROUTE, if there is one. */
static bool walk_on(struct lambda_sim *sim, uint64_t *random, struct buf *route)
{
	static const char ways[] = "LRUD";
	unsigned first = draw(random) % 4;

	for (unsigned i = 0; i < 4; i++) {
		const struct lambda_map *map = sim->map;
		char command = ways[(first + i) % 4];

		if (!is_legal(sim, command))
			continue;
		lambda_step(sim, command);
		if (sim->status == LAMBDA_ONGOING) {
			buf_add_char(route, command);
			return true;
		}
		lambda_sim_release(sim);
		mine_after(sim, buf_text(route), route->len, map);
	}
	return false;
}

/*
 * As many legal moves as the contest allowed, a command a cell, and the end;
 * out of a dead end it goes back, ever further.
 */
static void walk(const struct lambda_map *map, uint64_t random,
		 struct buf *route)
{
	size_t steps = (size_t)map->width * map->height - 1;
	struct lambda_sim sim;
	size_t back = 1;

	mine_after(&sim, "", 0, map);
	while (route->len < steps) {
		if (walk_on(&sim, &random, route))
			continue;
		lambda_sim_release(&sim);
		route->len -= back < route->len ? back : route->len;
		back += back / 2 + 1;
		mine_after(&sim, buf_text(route), route->len, map);
	}
	lambda_sim_release(&sim);
	buf_add_char(route, 'A');
}

static void bench_mine(struct bench *bench, const struct buf *file,
		       double seconds)
{
	struct buf routes[ROUTES];
	struct game_error error = { "" };
	struct lambda_map map;

	if (lambda_map_init(&map, file->data, file->len, &error) != 0)
		fail(error.text);
	for (unsigned i = 0; i < ROUTES; i++) {
		buf_init(&routes[i], ROUTE_BYTES_MAX);
		walk(&map, i, &routes[i]);
	}
	lambda_map_release(&map);
	while (bench->us < (int64_t)(seconds * 1e6)) {
		const struct buf *route = &routes[bench->matches % ROUTES];
		struct game_score score;
		int64_t begun = cpu_us();
		struct game_state *state = begin(bench);

		feed(bench, state, 0, route->data, route->len);
		bench->game->result(state, &score);
		bench->game->free(state);
		bench->us += cpu_us() - begun;
		if (!bench->out.is_over || score.reason != GAME_FINISHED ||
		    score.columns[1] != (double)(route->len - 1) ||
		    score.columns[2] != LAMBDA_ABORT)
			fail("lambda-mining: not the route it should be");
		bench->units += (int64_t)score.columns[1];
		bench->matches++;
	}
	for (unsigned i = 0; i < ROUTES; i++)
		buf_release(&routes[i]);
}

/* ---- */

static void read_file(const char *path, struct buf *ret)
{
	FILE *file = fopen(path, "rbe");
	char block[4096];
	size_t count;

	if (file == NULL)
		fail("the map cannot be read");
	while ((count = fread(block, 1, sizeof(block), file)) > 0)
		buf_add(ret, block, count);
	(void)fclose(file);
}

static void read_sides(const char *text, struct arena *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->random = 1;
	if (sscanf(text, "%ux%u", &ret->width, &ret->height) != 2 ||
	    ret->width > SIDE_MAX || ret->height > SIDE_MAX)
		fail("sides are WIDTHxHEIGHT");
}

static void run_image(struct bench *bench, const char *sides, double seconds)
{
	struct buf rgb = BUF_INIT(MAP_BYTES_MAX * 4);
	struct buf png = BUF_INIT(MAP_BYTES_MAX * 4);
	struct picture picture;
	struct arena arena;

	read_sides(sides, &arena);
	paint(&arena, &rgb);
	picture = (struct picture){ arena.width, arena.height,
				    (uint8_t *)rgb.data };
	if (picture_encode_png(&picture, &png) != 0)
		fail("no picture");
	bench_init(bench, "image-battle", &png, "colours=255,0,0;0,255,0",
		   "batch=10", 2);
	bench_image(bench, &arena, seconds);
	buf_release(&rgb);
	buf_release(&png);
}

int main(int argc, char **argv)
{
	struct buf file = BUF_INIT(MAP_BYTES_MAX);
	struct bench bench;
	double seconds = argc == 4 ? strtod(argv[3], NULL) : 0;

	if (argc == 3 && strcmp(argv[1], "arena") == 0) {
		struct buf rgb = BUF_INIT(MAP_BYTES_MAX * 4);
		struct arena arena;

		read_sides(argv[2], &arena);
		paint(&arena, &rgb);
		(void)printf("P6 %u %u 255\n", arena.width, arena.height);
		(void)fwrite(rgb.data, 1, rgb.len, stdout);
		buf_release(&rgb);
		return ferror(stdout) != 0;
	}
	if (argc != 4 || !(seconds > 0))
		fail("usage: bench-engines GAME MAP SECONDS");
	if (strcmp(argv[1], "image-battle") == 0) {
		run_image(&bench, argv[2], seconds);
	} else {
		read_file(argv[2], &file);
		bench_init(&bench, argv[1], &file, "",
			   argv[1][0] == 'r' ? "turns=500" : "", 1);
		if (argv[1][0] == 'l')
			bench_mine(&bench, &file, seconds);
		else
			while (bench.us < (int64_t)(seconds * 1e6)) {
				play_rabbits(&bench);
				bench.matches++;
			}
	}
	(void)printf("units=%lld us=%lld matches=%lld\n",
		     (long long)bench.units, (long long)bench.us,
		     (long long)bench.matches);
	bench_release(&bench);
	buf_release(&file);
	return 0;
}
