/* SPDX-License-Identifier: MIT */
/*
 * golden_lambda_mining.c - recorded runs of a mine.
 *
 * A case: map.txt, route.txt, expected.json (status, score, lambdas, steps),
 * final.txt (the mine after the last step), perhaps trace.txt: for each step
 * `= k command status score lambdas water under-water razors` and the mine.
 * A pack holds many cases in one file (tests/golden/lambda-mining/README.md).
 * The route goes through the engine as a reply does, and where there is a
 * trace, command by command through the mine as well.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "server/games/game.h"
#include "server/games/lambda_internal.h"
#include "server/games/lambda_mining.h"
#include "tests/golden/golden.h"

static const struct game *const game = &game_lambda_mining;

enum { NFILES = 5, NAME_BYTES = 100 };

struct run {
	const char *name; /* for the report */
	struct golden_report *report;
	struct buf map, route, expected, final;
	struct buf trace; /* empty: there is none */
};

/* A file of a case, and where its bytes go. */
struct file {
	const char *name;
	struct buf *bytes;
	bool is_optional;
};

static void run_init(struct run *run, const char *name,
		     struct golden_report *report, struct file files[NFILES])
{
	const struct file all[NFILES] = {
		{ "map.txt", &run->map, false },
		{ "route.txt", &run->route, false },
		{ "expected.json", &run->expected, false },
		{ "final.txt", &run->final, false },
		{ "trace.txt", &run->trace, true },
	};

	memcpy(files, all, sizeof(all));
	run->name = name;
	run->report = report;
	for (unsigned i = 0; i < NFILES; i++)
		buf_init(files[i].bytes, GOLDEN_FILE_BYTES);
}

static void run_release(struct run *run)
{
	buf_release(&run->map);
	buf_release(&run->route);
	buf_release(&run->expected);
	buf_release(&run->final);
	buf_release(&run->trace);
}

/* ---- through the engine ---- */

/* Start of line COUNT (from 0) of TEXT; its end when there are fewer. */
static const char *skip_lines(const char *text, unsigned count)
{
	while (count-- > 0) {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return text;
}

/* Whether a dump and the scores are what expected.json says. */
static bool same_figures(const struct run *run, const char *dump,
			 const struct game_score *score)
{
	const char *status;
	json_int_t points, lambdas, steps;
	char expected[160], got[200];
	json_error_t error;
	json_t *json = json_loadb(buf_text(&run->expected), run->expected.len,
				  0, &error);

	if (json == NULL ||
	    json_unpack_ex(json, &error, 0, "{s:s, s:I, s:I, s:I}", "status",
			   &status, "score", &points, "lambdas", &lambdas,
			   "steps", &steps) < 0) {
		golden_fail(run->report, run->name, "expected.json: %s",
			    error.text);
		json_decref(json);
		return false;
	}
	(void)snprintf(expected, sizeof(expected),
		       "status %s\nscore %lld\nlambdas %lld\nsteps %lld\n"
		       "points %lld\n",
		       status, (long long)points, (long long)lambdas,
		       (long long)steps, (long long)points);
	(void)snprintf(got, sizeof(got), "%.*spoints %lld\n",
		       (int)(skip_lines(dump, 4) - dump), dump,
		       (long long)score->points);
	json_decref(json);
	return golden_same_text(run->report, run->name, "expected.json",
				expected, strlen(expected), got, strlen(got));
}

static bool play(const struct run *run, struct game_state *state)
{
	struct buf dump = BUF_INIT(GOLDEN_FILE_BYTES);
	struct game_score score;
	struct game_out out;
	const char *rows;
	bool is_same;

	game_out_init(&out, LIMIT_OUTPUT_BYTES);
	game_settle(game, state, game->begin(state, &out), &out);
	game_out_clear(&out);
	game_settle(game, state,
		    game->feed(state, 0, GAME_REPLY, buf_text(&run->route),
			       run->route.len, &out),
		    &out);
	game->dump(state, &dump);
	game->result(state, &score);
	rows = skip_lines(buf_text(&dump), 7);
	is_same = same_figures(run, buf_text(&dump), &score) &&
		  golden_same_text(run->report, run->name, "final.txt",
				   buf_text(&run->final), run->final.len, rows,
				   strlen(rows));
	if (is_same && !out.is_over) {
		golden_fail(run->report, run->name, "the match goes on");
		is_same = false;
	}
	game_out_release(&out);
	buf_release(&dump);
	return is_same;
}

static bool play_engine(const struct run *run)
{
	struct game_source source = { .name = "map.txt",
				      .data = buf_text(&run->map),
				      .len = run->map.len,
				      .options = "" };
	struct game_setup setup = { .seed = "0", .bot_seed = "0", .seats = 1 };
	struct game_error error;
	struct game_map *map = NULL;
	struct game_state *state = NULL;
	bool is_same = false;

	if (game->map_new(&map, &source, &error) < 0 ||
	    game->create(&state, map, &setup, &error) < 0)
		golden_fail(run->report, run->name, "map.txt: %s", error.text);
	else
		is_same = play(run, state);
	game->free(state);
	game->map_free(map);
	return is_same;
}

/* ---- step by step ---- */

static void add_block(const struct lambda_sim *sim, unsigned step, char command,
		      struct buf *out)
{
	buf_add_format(out, "= %u %c %s %lld %u %lld %lld %lld\n", step,
		       command, lambda_status_word(sim->status),
		       (long long)lambda_score(sim), sim->collected,
		       (long long)sim->water, (long long)sim->under_water,
		       (long long)sim->razors);
	lambda_rows(sim, out);
}

static bool play_trace(const struct run *run)
{
	struct buf trace = BUF_INIT(GOLDEN_FILE_BYTES);
	const char *route = buf_text(&run->route);
	struct game_error error;
	struct lambda_map map;
	struct lambda_sim sim;
	unsigned step = 0;
	bool is_same = false;

	if (lambda_map_init(&map, buf_text(&run->map), run->map.len, &error) <
	    0) {
		golden_fail(run->report, run->name, "map.txt: %s", error.text);
		return false;
	}
	if (lambda_sim_init(&sim, &map) < 0) {
		golden_fail(run->report, run->name, "no memory");
		goto out;
	}
	add_block(&sim, step, '-', &trace);
	for (; *route != '\0' && sim.status == LAMBDA_ONGOING; route++) {
		if (!lambda_is_command(*route))
			continue;
		lambda_step(&sim, *route);
		add_block(&sim, ++step, *route, &trace);
	}
	is_same = golden_same_text(run->report, run->name, "trace.txt",
				   buf_text(&run->trace), run->trace.len,
				   buf_text(&trace), trace.len);
	lambda_sim_release(&sim);
out:
	lambda_map_release(&map);
	buf_release(&trace);
	return is_same;
}

static void play_case(const struct run *run)
{
	if (play_engine(run) && (run->trace.len == 0 || play_trace(run)))
		golden_pass(run->report);
}

void golden_lambda_mining(const char *dir, struct golden_report *report)
{
	struct file files[NFILES];
	struct run run;
	bool is_read = true;

	run_init(&run, dir, report, files);
	for (unsigned i = 0; i < NFILES && is_read; i++) {
		if (!files[i].is_optional ||
		    golden_has_file(dir, files[i].name))
			is_read = golden_need(report, dir, files[i].name,
					      files[i].bytes);
	}
	if (is_read)
		play_case(&run);
	run_release(&run);
}

/* ---- many cases in one file ---- */

/* The bytes of one file of one case, as a pack holds them. */
struct packed {
	char name[NAME_BYTES], file[NAME_BYTES];
	const char *bytes;
	size_t len;
};

/*
 * The part at *AT of the TEXT that ends at END: `= CASE FILE BYTES`, LF, the
 * bytes, LF. False: at the end, or at what is no such part.
 */
static bool next_packed(const char **at, const char *end, struct packed *ret)
{
	const char *bytes = memchr(*at, '\n', (size_t)(end - *at));

	if (bytes == NULL || sscanf(*at, "= %99s %99s %zu\n", ret->name,
				    ret->file, &ret->len) != 3)
		return false;
	bytes++;
	if ((size_t)(end - bytes) <= ret->len || bytes[ret->len] != '\n')
		return false;
	ret->bytes = bytes;
	*at = bytes + ret->len + 1;
	return true;
}

/* Play the case that begins at *AT; false: there is none. */
static bool play_packed(const char **at, const char *end,
			struct golden_report *report)
{
	struct file files[NFILES];
	struct packed part;
	char name[NAME_BYTES];
	const char *next = *at;
	struct run run;

	if (!next_packed(&next, end, &part))
		return false;
	memcpy(name, part.name, sizeof(name));
	run_init(&run, name, report, files);
	do {
		for (unsigned i = 0; i < NFILES; i++) {
			if (strcmp(files[i].name, part.file) == 0)
				buf_add(files[i].bytes, part.bytes, part.len);
		}
		*at = next;
	} while (next_packed(&next, end, &part) &&
		 strcmp(part.name, name) == 0);
	play_case(&run);
	run_release(&run);
	return true;
}

void golden_lambda_mining_pack(const char *dir, struct golden_report *report)
{
	struct buf pack = BUF_INIT(GOLDEN_FILE_BYTES);
	const char *at, *end;

	if (golden_need(report, dir, "cases.txt", &pack)) {
		at = buf_text(&pack);
		end = at + pack.len;
		while (play_packed(&at, end, report))
			continue;
		if (at != end)
			golden_fail(report, dir,
				    "cases.txt: byte %zu is no part of a case",
				    pack.len - (size_t)(end - at));
	}
	buf_release(&pack);
}
