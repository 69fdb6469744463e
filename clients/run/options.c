/* SPDX-License-Identifier: MIT */
#include "clients/run/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/program/system.h"
#include "clients/run/referee.h"

enum { LIMIT_MS_MAX = 1000 * 1000 * 1000 };

static const char usage_text[] =
	"usage: hill-run rabbit-runner [OPTION...] MAP TURNS SEED RUNS PROG [ARG...]\n"
	"       hill-run image-battle [OPTION...] ARENA BATCH SEED COLOUR=COMMAND...\n"
	"       hill-run image-battle [OPTION...] --cfg CFG.PY\n"
	"       hill-run lambda-mining [OPTION...] MAP... -- PROG [ARG...]\n"
	"       hill-run GAME [OPTION...] MAP SEED [NAME=VALUE...] -- PROG [ARG...]...\n"
	"       hill-run GAME --generate [PRESET SEED] [--seats N] [-o FILE]\n"
	"       hill-run league GAME [OPTION...] --bot NAME=COMMAND... MAP...\n"
	"       hill-run --match FILE --seat S [OPTION...] -- PROG [ARG...]\n"
	"\n"
	"Plays local programs by the contests' own rules, without a server, and\n"
	"prints what the contests' own judges printed.\n"
	"\n"
	"rabbit-runner: SEED 0 draws the first run's seed, each later run's comes\n"
	"  from the run before; A..B gives the runs these seeds in turn. PROG is\n"
	"  started once a run, with MAP and the run's seed as last arguments.\n"
	"image-battle: COLOUR is R,G,B; COMMAND is split at blanks, '...' and \"...\"\n"
	"  hold them together. BATCH is how many pixels an answer may hold; SEED a\n"
	"  number or `random`. Each bot runs in a private folder that holds a copy\n"
	"  of the arena and is removed afterwards; words of COMMAND that are paths\n"
	"  here become absolute. CFG.PY is the original judge's: plain literals, and\n"
	"  the bots' files, looked for beside it, are copied into their folders.\n"
	"lambda-mining: PROG reads each MAP from its standard input.\n"
	"GAME: any other game that is built in; a `-- PROG [ARG...]` for each seat.\n"
	"\n"
	"  --limit MS|none    time for an answer; none: wait for ever, as when a\n"
	"                     debugger stops the program (default: the contest's)\n"
	"  --init MS          more time for the first answer (default: likewise)\n"
	"  -j N               play N matches at once (default 1); they take each\n"
	"                     other's processor time, and the limits stay\n"
	"  --seed N           rabbit-runner with SEED 0: draw the first seed as\n"
	"                     Python seeded with N does; with --cfg: the battle's\n"
	"  --log FILE         the grid, turn by turn, as text (image-battle: at the\n"
	"                     start and every 100 turns; lambda-mining: at the end)\n"
	"  --stderr DIR       keep standard errors in DIR, one file a program, 1 MiB\n"
	"                     at most (default: shown when the program dies)\n"
	"  --stderr inherit   let the programs write to this terminal\n"
	"  --json             print one JSON document instead\n"
	"  --quiet            no line of progress (there is none but on a terminal)\n"
	"  --frames DIR       pictures of the match into this folder, one file each;\n"
	"                     of several matches each has a folder in it: 0001, ...\n"
	"  --animation FILE   one animated PNG of the match; of several matches each\n"
	"                     has its own: FILE is x.png, they are x-0001.png, ...\n"
	"  --every N          only each N-th turn or move, and the last\n"
	"  --max-frames N     so many pictures of a match at most (default 500)\n"
	"  --scale N          so many pixels a cell, across and down (default: small\n"
	"                     maps are enlarged, to 300 pixels or more)\n"
	"  --fps N            pictures a second of the animation (default 20)\n"
	"  --picture FILE     image-battle: the final picture (default battle.png,\n"
	"                     with --cfg BATTLE.png); none: write no picture\n"
	"  --max-turns N      image-battle: end after N turns (default 20000)\n"
	"  --here             image-battle: run the bots in the current folder\n"
	"  --route-limit      lambda-mining: cut routes after width x height steps\n"
	"  --help, --version\n"
	"  An option that does nothing in what is asked for is refused.\n";

static const char league_text[] =
	"\n"
	"league: every bot on equal instances, each map with each seed. In a solo game\n"
	"  each bot plays each instance once; in a shared one every group of --seats\n"
	"  bots plays it once in every order of turning seats. Prints mean scores; the\n"
	"  mean difference per instance to a reference bot with its 95 % interval\n"
	"  (paired t); wins/draws/losses; worst and best instance against the others'\n"
	"  mean there; faults. After Ctrl-C the same command goes on where it stopped.\n"
	"  --bot NAME=COMMAND several times; COMMAND as for image-battle\n"
	"  --seeds A..B       seeds of the instances (default 1..1); bots get it, too\n"
	"  --maps M[,M...]    maps, beside those that stand as words\n"
	"  --params TEXT      the game's parameters, as in 'turns=500' or 'batch=10'\n"
	"  --seats N          bots in a match of a shared game (default 2)\n"
	"  --colours TEXT     of the seats, as in '255,0,0;0,255,0' (default: those\n"
	"                     that own one pixel of the arena each, in reading order;\n"
	"                     where they are too few, red, green, blue, yellow, ...)\n"
	"  --against NAME     the reference bot; best: the one with the best mean\n"
	"                     (default: the first)\n"
	"  --state FILE       keeps the results, a line a match (default: named after\n"
	"                     the game and a digest of all that decides the results);\n"
	"                     a file of another league is refused\n"
	"\n"
	"--match: plays what `hillctl export` wrote again: same map, parameters, seed\n"
	"  and arguments, PROG in seat S, the other seats from the transcript. Names the\n"
	"  first turn (PROG's request, from 1) whose reply differs, and goes on with\n"
	"  PROG's replies. Others' stored replies are then fed in their order, whenever\n"
	"  their seat is asked; a seat with none left is gone.\n"
	"  --from-turn T      turns before T are fed from the transcript for seat S as\n"
	"                     well; PROG's replies to them are only compared\n"
	"  --limit, --init    instead of the stored limits; without bank and lag\n"
	"  PROG's standard error goes to this terminal, or to DIR/match.log\n";

static const char generate_text[] =
	"\n"
	"--generate: writes a fresh map of GAME to FILE or to standard output; without\n"
	"  PRESET, or with `list`, it lists the presets. PRESET, its version and SEED\n"
	"  (0 to 2^64-1, or 0x...) give the same bytes on every machine.\n"
	"  --seats N          seats of a shared game's map (default 2)\n"
	"  -o, --output FILE  the map's file\n";

static const char end_text[] =
	"\n"
	"Examples:\n"
	"  hill-run rabbit-runner test.map 500 0 5 python3 bunny.py\n"
	"  hill-run rabbit-runner --limit none test.map 500 17 1 ./bunny\n"
	"  hill-run image-battle arena1.png 10 1 '0,255,0=python3 blob.py' \\\n"
	"           '255,0,0=./mybot --fast'\n"
	"  hill-run lambda-mining -j 2 contest*.map -- ./lifter\n"
	"  hill-run league rabbit-runner --seeds 1..20 -j 2 --bot old=./v1 \\\n"
	"           --bot 'new=python3 v2.py' test.map small.map\n"
	"  hill-run rabbit-runner --generate station 7 -o seven.map\n"
	"  hill-run --match 4711.json --seat 1 --from-turn 17 -- ./mybot\n"
	"\n"
	"Exit status: 0 played; 1 a program did not start, or died; 2 wrong usage or\n"
	"an input that cannot be read. Ctrl-C ends all programs, prints the table so\n"
	"far and exits with 130. With --match: 0 every reply is as it was; 1 one differs;\n"
	"2 also when PROG cannot be started.\n";

int usage_error(const char *format, ...)
{
	va_list args;

	(void)fputs("hill-run: ", stderr);
	va_start(args, format);
	(void)vfprintf(stderr, format, args);
	va_end(args);
	(void)fputs("\n(--help shows the usage)\n", stderr);
	return EXIT_BAD;
}

bool options_number(const char *text, int64_t least, int64_t most, int64_t *ret)
{
	char *end;
	long long value;
	const char *digits = text + (*text == '-' || *text == '+');

	if (*digits < '0' || *digits > '9')
		return false;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno != 0 || *end != '\0' || value < least || value > most)
		return false;
	*ret = value;
	return true;
}

enum option_id {
	OPTION_LIMIT = 256,
	OPTION_INIT,
	OPTION_SEED,
	OPTION_LOG,
	OPTION_STDERR,
	OPTION_JSON,
	OPTION_QUIET,
	OPTION_CFG,
	OPTION_PICTURE,
	OPTION_FRAMES,
	OPTION_ANIMATION,
	OPTION_EVERY,
	OPTION_MAX_FRAMES,
	OPTION_SCALE,
	OPTION_FPS,
	OPTION_MAX_TURNS,
	OPTION_HERE,
	OPTION_ROUTE_LIMIT,
	OPTION_SEEDS,
	OPTION_MAPS,
	OPTION_PARAMS,
	OPTION_COLOURS,
	OPTION_SEATS,
	OPTION_BOT,
	OPTION_STATE,
	OPTION_AGAINST,
	OPTION_MATCH,
	OPTION_SEAT,
	OPTION_FROM_TURN,
	OPTION_GENERATE,
	OPTION_VERSION,
};

static const struct option long_options[] = {
	{ "limit", required_argument, NULL, OPTION_LIMIT },
	{ "init", required_argument, NULL, OPTION_INIT },
	{ "seed", required_argument, NULL, OPTION_SEED },
	{ "log", required_argument, NULL, OPTION_LOG },
	{ "stderr", required_argument, NULL, OPTION_STDERR },
	{ "json", no_argument, NULL, OPTION_JSON },
	{ "quiet", no_argument, NULL, OPTION_QUIET },
	{ "cfg", required_argument, NULL, OPTION_CFG },
	{ "picture", required_argument, NULL, OPTION_PICTURE },
	{ "frames", required_argument, NULL, OPTION_FRAMES },
	{ "animation", required_argument, NULL, OPTION_ANIMATION },
	{ "every", required_argument, NULL, OPTION_EVERY },
	{ "max-frames", required_argument, NULL, OPTION_MAX_FRAMES },
	{ "scale", required_argument, NULL, OPTION_SCALE },
	{ "fps", required_argument, NULL, OPTION_FPS },
	{ "max-turns", required_argument, NULL, OPTION_MAX_TURNS },
	{ "here", no_argument, NULL, OPTION_HERE },
	{ "route-limit", no_argument, NULL, OPTION_ROUTE_LIMIT },
	{ "seeds", required_argument, NULL, OPTION_SEEDS },
	{ "maps", required_argument, NULL, OPTION_MAPS },
	{ "params", required_argument, NULL, OPTION_PARAMS },
	{ "colours", required_argument, NULL, OPTION_COLOURS },
	{ "seats", required_argument, NULL, OPTION_SEATS },
	{ "bot", required_argument, NULL, OPTION_BOT },
	{ "state", required_argument, NULL, OPTION_STATE },
	{ "against", required_argument, NULL, OPTION_AGAINST },
	{ "match", required_argument, NULL, OPTION_MATCH },
	{ "seat", required_argument, NULL, OPTION_SEAT },
	{ "from-turn", required_argument, NULL, OPTION_FROM_TURN },
	{ "generate", required_argument, NULL, OPTION_GENERATE },
	{ "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, OPTION_VERSION },
	{ NULL, 0, NULL, 0 },
};

/* Where an option does anything. Those for all stand in no row. */
static const struct {
	int option;
	const char *name;
	unsigned uses; /* enum run_use */
} option_uses[] = {
	{ OPTION_LIMIT, "--limit", RUN_GAMES | RUN_LEAGUE | RUN_MATCH },
	{ OPTION_INIT, "--init", RUN_GAMES | RUN_LEAGUE | RUN_MATCH },
	{ 'j', "-j", RUN_GAMES | RUN_LEAGUE },
	{ OPTION_SEED, "--seed", RUN_RABBIT | RUN_BATTLE },
	{ OPTION_LOG, "--log", RUN_GAMES },
	{ OPTION_STDERR, "--stderr", RUN_GAMES | RUN_LEAGUE | RUN_MATCH },
	{ OPTION_CFG, "--cfg", RUN_BATTLE },
	{ OPTION_PICTURE, "--picture", RUN_BATTLE },
	{ OPTION_FRAMES, "--frames", RUN_GAMES | RUN_LEAGUE },
	{ OPTION_ANIMATION, "--animation", RUN_GAMES | RUN_LEAGUE },
	{ OPTION_EVERY, "--every", RUN_GAMES | RUN_LEAGUE },
	{ OPTION_MAX_FRAMES, "--max-frames", RUN_GAMES | RUN_LEAGUE },
	{ OPTION_SCALE, "--scale", RUN_GAMES | RUN_LEAGUE },
	{ OPTION_FPS, "--fps", RUN_GAMES | RUN_LEAGUE },
	{ OPTION_MAX_TURNS, "--max-turns", RUN_BATTLE },
	{ OPTION_HERE, "--here", RUN_BATTLE },
	{ OPTION_ROUTE_LIMIT, "--route-limit", RUN_MINING },
	{ OPTION_SEEDS, "--seeds", RUN_LEAGUE },
	{ OPTION_MAPS, "--maps", RUN_LEAGUE },
	{ OPTION_PARAMS, "--params", RUN_LEAGUE },
	{ OPTION_COLOURS, "--colours", RUN_LEAGUE },
	{ OPTION_SEATS, "--seats", RUN_LEAGUE | RUN_GENERATE },
	{ OPTION_BOT, "--bot", RUN_LEAGUE },
	{ OPTION_STATE, "--state", RUN_LEAGUE },
	{ OPTION_AGAINST, "--against", RUN_LEAGUE },
	{ OPTION_MATCH, "--match", RUN_MATCH },
	{ OPTION_SEAT, "--seat", RUN_MATCH },
	{ OPTION_FROM_TURN, "--from-turn", RUN_MATCH },
	{ OPTION_GENERATE, "--generate", RUN_GENERATE },
	{ 'o', "-o", RUN_GENERATE },
};

enum { NUSES = sizeof(option_uses) / sizeof(option_uses[0]) };

_Static_assert(NUSES <= 64, "a bit each");

/* How pictures are made; NULL or what is wrong. */
static const char *take_film(struct film_options *film, int option,
			     const char *value)
{
	static const struct {
		int option;
		int64_t least, most;
		const char *wrong;
	} rows[] = {
		{ OPTION_EVERY, 1, FILM_EVERY_MAX,
		  "--every wants a number from 1 on" },
		{ OPTION_MAX_FRAMES, 2, FILM_FRAMES_MAX,
		  "--max-frames wants a number from 2 to 100000" },
		{ OPTION_SCALE, 1, FILM_SCALE_MAX,
		  "--scale wants a number from 1 to 64" },
		{ OPTION_FPS, 1, FILM_FPS_MAX,
		  "--fps wants a number from 1 to 100" },
	};
	unsigned *const to[] = { &film->every, &film->max_frames, &film->scale,
				 &film->fps };
	int64_t number;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].option != option)
			continue;
		if (!options_number(value, rows[i].least, rows[i].most,
				    &number))
			return rows[i].wrong;
		*to[i] = (unsigned)number;
		return NULL;
	}
	return "unknown option, or one without its value";
}

/* An option that takes a number or a word; NULL or what is wrong. */
static const char *take_value(struct run_options *options, int option,
			      const char *value)
{
	int64_t number;

	switch (option) {
	case OPTION_LIMIT:
		if (strcmp(value, "none") == 0) {
			options->turn_ms = 0;
			return NULL;
		}
		return options_number(value, 1, LIMIT_MS_MAX, &options->turn_ms)
			       ? NULL
			       : "--limit wants milliseconds, or none";
	case OPTION_INIT:
		return options_number(value, 0, LIMIT_MS_MAX, &options->init_ms)
			       ? NULL
			       : "--init wants milliseconds";
	case OPTION_MAX_TURNS:
		return options_number(value, 1, INT64_MAX, &options->turns_max)
			       ? NULL
			       : "--max-turns wants a number from 1 on";
	case 'j':
		if (!options_number(value, 1, REFEREE_PARALLEL_MAX, &number))
			return "-j wants a number from 1 to 64";
		options->parallel = (unsigned)number;
		return NULL;
	case OPTION_SEED:
		options->seed = value;
		return game_seed_check(value) == 0
			       ? NULL
			       : "--seed wants a whole number";
	case OPTION_STDERR:
		options->is_stderr_shared = strcmp(value, "inherit") == 0;
		options->stderr_dir = options->is_stderr_shared ? NULL : value;
		return NULL;
	default:
		return take_film(&options->film, option, value);
	}
}

static const char *take_word(const char **words, unsigned *count,
			     const char *value)
{
	if (*count == RUN_WORDS_MAX)
		return "--maps and --bot go 64 times at most";
	words[(*count)++] = value;
	return NULL;
}

/* Those of a league and of a match played again. */
static const char *take_league_option(struct run_options *options, int option,
				      const char *value)
{
	int64_t number;

	switch (option) {
	case OPTION_SEEDS:
		options->seeds_text = value;
		return NULL;
	case OPTION_MAPS:
		return take_word(options->map_texts, &options->nmap_texts,
				 value);
	case OPTION_BOT:
		return take_word(options->bot_texts, &options->nbot_texts,
				 value);
	case OPTION_PARAMS:
		options->params_text = value;
		return NULL;
	case OPTION_COLOURS:
		options->colours_text = value;
		return NULL;
	case OPTION_STATE:
		options->state_path = value;
		return NULL;
	case OPTION_AGAINST:
		options->against = value;
		return NULL;
	case OPTION_MATCH:
		options->match_path = value;
		return NULL;
	case OPTION_SEATS:
	case OPTION_SEAT:
		if (!options_number(value, 1, GAME_SEATS_MAX, &number))
			return "--seat and --seats want a number from 1 to 8";
		if (option == OPTION_SEATS)
			options->seats = (unsigned)number;
		else
			options->match_seat = (unsigned)number;
		return NULL;
	case OPTION_FROM_TURN:
		return options_number(value, 1, INT64_MAX, &options->from_turn)
			       ? NULL
			       : "--from-turn wants a number from 1 on";
	default:
		return take_value(options, option, value);
	}
}

static const char *take_option(struct run_options *options, int option,
			       const char *value)
{
	switch (option) {
	case OPTION_LOG:
		options->log_path = value;
		return NULL;
	case OPTION_CFG:
		options->cfg_path = value;
		return NULL;
	case OPTION_PICTURE:
		options->picture_path = value;
		return NULL;
	case OPTION_FRAMES:
		options->film.frames = value;
		return NULL;
	case OPTION_ANIMATION:
		options->film.animation = value;
		return film_is_animation_name(value)
			       ? NULL
			       : "--animation makes a PNG file: name it .png";
	case OPTION_JSON:
		options->is_json = true;
		return NULL;
	case OPTION_QUIET:
		options->is_quiet = true;
		return NULL;
	case OPTION_GENERATE:
		options->preset = value;
		return NULL;
	case 'o':
		options->output_path = value;
		return NULL;
	case OPTION_HERE:
		options->is_here = true;
		return NULL;
	case OPTION_ROUTE_LIMIT:
		options->is_route_limited = true;
		return NULL;
	default:
		return take_league_option(options, option, value);
	}
}

static void note_given(struct run_options *options, int option)
{
	for (unsigned i = 0; i < NUSES; i++) {
		if (option_uses[i].option == option)
			options->given |= UINT64_C(1) << i;
	}
}

int options_parse(struct run_options *options, int argc, char **argv,
		  int *ret_used)
{
	int option;

	opterr = 0;
	optind = 0; /* anew: the options before and behind the game's name */
	while ((option = getopt_long(argc, argv, "+:hj:o:", long_options,
				     NULL)) != -1) {
		const char *wrong;

		if (option == 'h') {
			(void)fputs(usage_text, stdout);
			(void)fputs(league_text, stdout);
			(void)fputs(generate_text, stdout);
			(void)fputs(end_text, stdout);
			return EXIT_PLAYED;
		}
		if (option == OPTION_VERSION) {
			(void)printf("hill-run " HILL_VERSION "%s\n",
				     system_version);
			return EXIT_PLAYED;
		}
		if (option == ':' && optopt == OPTION_GENERATE) {
			options->preset = "";
			note_given(options, OPTION_GENERATE);
			continue;
		}
		if (option == ':')
			return usage_error("%s wants a value",
					   argv[optind - 1]);
		if (option == '?')
			return usage_error("unknown option %s",
					   argv[optind - 1]);
		note_given(options, option);
		wrong = take_option(options, option, optarg);
		if (wrong != NULL)
			return usage_error("%s, not '%.60s'", wrong, optarg);
	}
	*ret_used = optind;
	return -1;
}

/* "--log does nothing ...": where else it would. */
static const char *use_name(enum run_use use)
{
	switch (use) {
	case RUN_RABBIT:
		return "in rabbit-runner";
	case RUN_BATTLE:
		return "in image-battle";
	case RUN_MINING:
		return "in lambda-mining";
	case RUN_LEAGUE:
		return "in a league";
	case RUN_MATCH:
		return "with --match";
	case RUN_GENERATE:
		return "with --generate";
	case RUN_ANY:
	case RUN_GAMES:
		break;
	}
	return "in this game";
}

int options_check(const struct run_options *options, enum run_use use)
{
	for (unsigned i = 0; i < NUSES; i++) {
		if ((options->given >> i & 1) != 0 &&
		    (option_uses[i].uses & use) == 0)
			return usage_error("%s does nothing %s",
					   option_uses[i].name, use_name(use));
	}
	return -1;
}

struct match_limits options_limits(const struct run_options *options,
				   const struct game *game)
{
	/* The originals know neither bank nor lag. */
	struct match_limits limits = {
		.turn_ms = game->turn_ms,
		.init_ms = game->init_ms,
		.grace_ms = game->grace_ms,
		.stall_void_ms = UINT32_MAX,
	};

	if (options->turn_ms >= 0)
		limits.turn_ms = (uint32_t)options->turn_ms;
	if (options->init_ms >= 0)
		limits.init_ms = (uint32_t)options->init_ms;
	if (limits.turn_ms == 0)
		limits.grace_ms = 0;
	return limits;
}
