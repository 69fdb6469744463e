/* SPDX-License-Identifier: MIT */
/* main.c - hill-run: the contests' matches between local programs. */
#include <stdio.h>
#include <string.h>

#include "clients/program/program.h"
#include "clients/run/options.h"
#include "clients/run/tell.h"

struct command {
	const char *name;
	enum run_use use;
	int (*run)(const struct run_options *options, int argc, char **argv);
};

static const struct command commands[] = {
	{ "rabbit-runner", RUN_RABBIT, run_rabbit },
	{ "image-battle", RUN_BATTLE, run_battle },
	{ "lambda-mining", RUN_MINING, run_mining },
	{ "league", RUN_LEAGUE, run_league },
};

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	}
	return NULL;
}

/* What is printed must have arrived; else that is what STATUS becomes. */
static int finish(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	tell("cannot write to standard output");
	return EXIT_BAD;
}

int main(int argc, char **argv)
{
	struct run_options options = {
		.turn_ms = -1,
		.init_ms = -1,
		.turns_max = -1,
		.from_turn = 1,
		.parallel = 1,
	};
	const struct command *command;
	const struct game *game;
	int used, status;

	program_keep_standard();
	status = options_parse(&options, argc, argv, &used);
	if (status >= 0)
		return status;
	if (options.match_path != NULL &&
	    (options.preset != NULL || options.output_path != NULL))
		return usage_error("--generate and -o do not go with --match");
	if (options.match_path != NULL) {
		status = options_check(&options, RUN_MATCH);
		return status >= 0 ? status
				   : finish(run_rehearsal(&options, argc - used,
							  argv + used));
	}
	if (used >= argc)
		return usage_error("wants a contest: rabbit-runner, "
				   "image-battle or lambda-mining");
	command = find_command(argv[used]);
	game = game_find(argv[used]);
	if (command == NULL && game == NULL)
		return usage_error("'%.60s' is no contest: rabbit-runner, "
				   "image-battle or lambda-mining",
				   argv[used]);
	argc -= used;
	argv += used;
	status = options_parse(&options, argc, argv, &used);
	if (status >= 0)
		return status;
	argc -= used;
	argv += used;
	if (options.preset != NULL && game != NULL)
		return finish(run_generate(game, &options, argc, argv));
	if (options.preset != NULL || options.output_path != NULL)
		return usage_error("--generate and -o go with a game's name");
	status = options_check(&options,
			       command != NULL ? command->use : RUN_ANY);
	if (status >= 0)
		return status;
	return finish(command != NULL ? command->run(&options, argc, argv)
				      : run_any(game, &options, argc, argv));
}
