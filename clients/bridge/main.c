/* SPDX-License-Identifier: MIT */
/*
 * main.c - hill-bridge: carries a program that speaks a contest's protocol on
 * stdin and stdout to a hill server.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clients/bridge/bridge.h"
#include "clients/program/explain.h"
#include "clients/program/system.h"
#include "proto/name.h"
#include "server/base/clock.h"

/* How long a bridge that shall end waits for the result of a match. */
enum { RESULT_PATIENCE_US = 30 * 1000 * 1000 };

#define DEFAULT_PORT "4455"

static volatile sig_atomic_t interrupts;
static volatile sig_atomic_t terminations;

static void on_signal(int number)
{
	if (number == SIGINT)
		interrupts++;
	else
		terminations++;
}

static const char usage_text[] =
	"usage: hill-bridge --server HOST[:PORT] --bot NAME --token-file FILE\n"
	"                   --play LADDER [options] -- PROGRAM [ARG...]\n"
	"       hill-bridge join HOST[:PORT] [INVITE] [--name NAME]\n"
	"                   [--token-file FILE]\n"
	"       hill-bridge rotate HOST[:PORT] [--name NAME] [--token-file FILE]\n"
	"       hill-bridge --check HOST[:PORT] [--seconds N] [--think-ms N]\n"
	"\n"
	"Plays PROGRAM, which speaks a contest's protocol on its standard input\n"
	"and output, on a hill server. Every match gets a fresh process, with the\n"
	"original controller's arguments behind ARG...\n"
	"\n"
	"join registers a bot (called --name, or as you are), keeps its token in a\n"
	"new file of mode 0600 (NAME.token) and prints what to run; an INVITE of -\n"
	"is read from standard input, where no ps shows it. rotate puts a new token\n"
	"in that file's place; the old ones open nothing any more.\n"
	"\n"
	"  --server HOST[:PORT]\n"
	"                      where hilld listens (port 4455 unless told;\n"
	"                      [ADDRESS]:PORT for IPv6)\n"
	"  --bot NAME          the bot's name on the server\n"
	"  --token-file FILE   holds the bot's token and nothing else\n"
	"  --play LADDER       a ladder to play on; may be given several times. In one\n"
	"                      argument words of @play may follow: 'LADDER unrated\n"
	"                      against=house-image matches=5'\n"
	"  --version LABEL     which version of the bot this is: a new label makes a\n"
	"                      new version, the active one from then on\n"
	"  --candidate         a new version does not become the active one, and\n"
	"                      plays unrated, later too, until the host makes it\n"
	"                      the active one (hillctl bot activate NAME LABEL);\n"
	"                      or log in with a new LABEL, without --candidate\n"
	"  --slots N           play up to N matches at once (default 1)\n"
	"  --matches N         end after N matches, and the rest of a set that has\n"
	"                      begun (default: go on)\n"
	"  --log-dir DIR       where each match's standard error goes, 1 MiB at\n"
	"                      most, the ladder's last 200 (default hill-logs)\n"
	"  --no-log            throw standard error away\n"
	"  --chdir             run PROGRAM in the match's private folder, where its\n"
	"                      files lie, instead of in the current one\n"
	"  --quiet             no line when it waits, for a match or for its faults\n"
	"  --check HOST[:PORT]\n"
	"                      measure the link and say, ladder by ladder, how many\n"
	"                      replies it makes late and what the bank pays\n"
	"  --seconds N         measure so long (default 30)\n"
	"  --think-ms N        of a bot that thinks so long (default 0)\n"
	"  --help              this text\n"
	"  -V, or --version and nothing else: the program's own version\n"
	"\n"
	"The first Ctrl-C finishes the matches that run and takes no more; the\n"
	"second, or SIGTERM, ends at once. Either way no process of the bot is left.\n"
	"Exit status: 0 played; 1 refused by the server, an unknown host, or a program\n"
	"that ended at once in 3 matches in a row; 2 wrong usage, or a program that\n"
	"cannot be run.\n";

static void fail_usage(const char *what)
{
	(void)fprintf(stderr, "hill-bridge: %s\n(--help shows the options)\n",
		      what);
}

bool bridge_split_server(struct bridge *bridge, char *text)
{
	size_t len = strlen(text);
	char *colon = strrchr(text, ':');

	bridge->port = DEFAULT_PORT;
	if (colon != NULL && !(text[0] == '[' && text[len - 1] == ']')) {
		if (colon[1] == '\0')
			return false;
		*colon = '\0';
		bridge->port = colon + 1;
		len = (size_t)(colon - text);
	}
	if (len == 0)
		return false;
	if (text[0] == '[' && text[len - 1] == ']') {
		text[len - 1] = '\0';
		text++;
	}
	bridge->host = text;
	return true;
}

static bool parse_count(const char *text, unsigned long most,
			unsigned long *ret)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno != 0 || *end != '\0' || text[0] < '0' || text[0] > '9' ||
	    value < 1 || value > most)
		return false;
	*ret = value;
	return true;
}

/* It never becomes an argument or a variable of anything. */
bool bridge_read_token(struct bridge *bridge, const char *path)
{
	struct stat info;
	ssize_t len;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &info) < 0) {
		(void)fprintf(stderr, "hill-bridge: cannot read %s: %s\n", path,
			      strerror(errno));
		if (fd >= 0)
			(void)close(fd);
		return false;
	}
	if ((info.st_mode & 077) != 0 && S_ISREG(info.st_mode))
		(void)fprintf(stderr,
			      "hill-bridge: others may read %s: chmod 600 it\n",
			      path);
	len = read(fd, bridge->token, sizeof(bridge->token) - 1);
	(void)close(fd);
	if (len < 0)
		len = 0;
	while (len > 0 && strchr(" \t\r\n", bridge->token[len - 1]) != NULL)
		len--;
	bridge->token[len] = '\0';
	if (!name_is_token(bridge->token, (size_t)len)) {
		(void)fprintf(stderr, "hill-bridge: %s holds no token\n", path);
		return false;
	}
	return true;
}

enum option_id {
	OPTION_SERVER = 256,
	OPTION_BOT,
	OPTION_TOKEN_FILE,
	OPTION_PLAY,
	OPTION_SLOTS,
	OPTION_MATCHES,
	OPTION_LOG_DIR,
	OPTION_NO_LOG,
	OPTION_CHDIR,
	OPTION_QUIET,
	OPTION_CHECK,
	OPTION_SECONDS,
	OPTION_THINK_MS,
	OPTION_VERSION,
	OPTION_CANDIDATE,
	OPTION_HELP,
};

static const struct option options[] = {
	{ "server", required_argument, NULL, OPTION_SERVER },
	{ "bot", required_argument, NULL, OPTION_BOT },
	{ "token-file", required_argument, NULL, OPTION_TOKEN_FILE },
	{ "play", required_argument, NULL, OPTION_PLAY },
	{ "slots", required_argument, NULL, OPTION_SLOTS },
	{ "matches", required_argument, NULL, OPTION_MATCHES },
	{ "log-dir", required_argument, NULL, OPTION_LOG_DIR },
	{ "no-log", no_argument, NULL, OPTION_NO_LOG },
	{ "chdir", no_argument, NULL, OPTION_CHDIR },
	{ "quiet", no_argument, NULL, OPTION_QUIET },
	{ "check", required_argument, NULL, OPTION_CHECK },
	{ "seconds", required_argument, NULL, OPTION_SECONDS },
	{ "think-ms", required_argument, NULL, OPTION_THINK_MS },
	{ "version", required_argument, NULL, OPTION_VERSION },
	{ "candidate", no_argument, NULL, OPTION_CANDIDATE },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ NULL, 0, NULL, 0 },
};

/* One option; NULL or what is wrong with it. */
static const char *take_option(struct bridge *bridge, int option, char *value,
			       const char **token_file)
{
	unsigned long count;

	switch (option) {
	case OPTION_CHECK:
		bridge->is_check = true;
		return bridge_split_server(bridge, value)
			       ? NULL
			       : "--check wants HOST[:PORT]";
	case OPTION_SERVER:
		return bridge_split_server(bridge, value)
			       ? NULL
			       : "--server wants HOST[:PORT]";
	case OPTION_BOT:
		bridge->bot = value;
		return name_is_bot(value, strlen(value)) ? NULL
							 : name_bot_rule();
	case OPTION_TOKEN_FILE:
		*token_file = value;
		return NULL;
	case OPTION_PLAY:
		if (bridge->nladders == BRIDGE_LADDERS_MAX)
			return "too many --play";
		bridge->ladders[bridge->nladders++] = value;
		/* The rest is for the server to judge. */
		return name_is_ladder(value, strcspn(value, " ")) &&
				       strpbrk(value, "\r\n") == NULL
			       ? NULL
			       : "--play wants a ladder's name";
	case OPTION_SLOTS:
		if (!parse_count(value, BRIDGE_SLOTS_MAX, &count))
			return "--slots wants a number from 1 to 64";
		bridge->nslots = (unsigned)count;
		return NULL;
	case OPTION_MATCHES:
		return parse_count(value, 1000000000, &bridge->matches_wanted)
			       ? NULL
			       : "--matches wants a number from 1 on";
	case OPTION_LOG_DIR:
		bridge->log_dir = value;
		return NULL;
	case OPTION_NO_LOG:
		bridge->log_dir = NULL;
		return NULL;
	case OPTION_CHDIR:
		bridge->is_chdir = true;
		return NULL;
	case OPTION_VERSION:
		bridge->version = value;
		return name_is_version(value, strlen(value))
			       ? NULL
			       : "--version wants 1 to 32 of A-Z a-z 0-9 . _ + -";
	case OPTION_CANDIDATE:
		bridge->is_candidate = true;
		return NULL;
	case OPTION_QUIET:
		bridge->is_quiet = true;
		return NULL;
	case OPTION_SECONDS:
		return parse_count(value, 600, &bridge->check_s)
			       ? NULL
			       : "--seconds wants a number from 1 to 600";
	case OPTION_THINK_MS:
		if (strcmp(value, "0") == 0)
			bridge->think_ms = 0;
		else if (!parse_count(value, 600000, &bridge->think_ms))
			return "--think-ms wants a number from 0 to 600000";
		return NULL;
	default:
		return "unknown option, or one without its value";
	}
}

/* With --chdir a relative path would be seen from a folder yet to come. */
static void make_absolute(struct bridge *bridge)
{
	char **program = xcalloc(bridge->nprogram + 1, sizeof(*program));

	for (size_t i = 0; i < bridge->nprogram; i++) {
		const char *word = bridge->program[i];

		if (word[0] != '/' && (i > 0 || strchr(word, '/') != NULL))
			program[i] = realpath(word, NULL);
		if (program[i] == NULL)
			program[i] = xstrdup(word);
	}
	bridge->program = program; /* until the end */
}

/* Whether the program can be run at all: better known now than by a match. */
static bool can_run(const struct bridge *bridge)
{
	const char *name = bridge->program[0];
	int rc = explain_find(name);

	if (rc == -EACCES)
		(void)fprintf(stderr,
			      "hill-bridge: cannot run %s: it is no executable "
			      "file (chmod +x?)\n",
			      name);
	else if (rc < 0)
		(void)fprintf(stderr, "hill-bridge: cannot run %s: %s%s\n",
			      name, strerror(-rc),
			      strchr(name, '/') == NULL &&
					      access(name, F_OK) == 0
				      ? " on the path; for the file here put "
					"./ or its interpreter before it"
				      : "");
	return rc == 0;
}

/* Fill BRIDGE in. Negative: go on; else the exit status. */
static int parse_options(struct bridge *bridge, int argc, char **argv)
{
	const char *token_file = NULL;
	int option;

	bridge->self = argv[0];
	if (argc > 1 && strcmp(argv[1], "join") == 0)
		return bridge_join(bridge, argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "rotate") == 0)
		return bridge_rotate(bridge, argc - 1, argv + 1);
	opterr = 0;
	while ((option = getopt_long(argc, argv, "+hV", options, NULL)) != -1) {
		const char *wrong;

		if (option == OPTION_HELP || option == 'h') {
			(void)fputs(usage_text, stdout);
			(void)fputs(system_help, stdout);
			return EXIT_PLAYED;
		}
		if (option == 'V' || (option == '?' && argc == 2 &&
				      strcmp(argv[1], "--version") == 0)) {
			(void)printf("hill-bridge " HILL_VERSION "%s\n",
				     system_version);
			return EXIT_PLAYED;
		}
		wrong = take_option(bridge, option, optarg, &token_file);
		if (wrong != NULL) {
			fail_usage(wrong);
			return EXIT_USAGE;
		}
	}
	if (bridge->is_check)
		return bridge_check(bridge);
	bridge->program = argv + optind;
	bridge->nprogram = (size_t)(argc - optind);
	if (bridge->host == NULL || bridge->bot == NULL || token_file == NULL ||
	    bridge->nladders == 0 || bridge->nprogram == 0) {
		fail_usage("wants --server, --bot, --token-file, --play and, "
			   "behind --, the program");
		return EXIT_USAGE;
	}
	if (bridge->is_candidate && bridge->version == NULL) {
		fail_usage("--candidate wants --version");
		return EXIT_USAGE;
	}
	if (!bridge_read_token(bridge, token_file) || !can_run(bridge))
		return EXIT_USAGE;
	if (bridge->is_chdir)
		make_absolute(bridge);
	return -1;
}

/* As many matches as were wanted are played. */
static bool has_enough(const struct bridge *bridge)
{
	return bridge->is_finishing ||
	       (bridge->matches_wanted != 0 &&
		bridge->matches_done >= bridge->matches_wanted);
}

bool slot_has_match(const struct slot *slot)
{
	for (size_t i = 0; i < BRIDGE_PENDING_MAX; i++) {
		if (slot->played[i].id != 0)
			return true;
	}
	return false;
}

/* Whether a result is to come that a bridge about to end waits for. */
static bool awaits_result(const struct slot *slot, int64_t now_us)
{
	for (size_t i = 0; i < BRIDGE_PENDING_MAX; i++) {
		const struct played *played = &slot->played[i];
		int64_t since_us = slot->bridge->finish_us;

		if (played->ended_us > since_us)
			since_us = played->ended_us;
		/* The others' game is bounded by the server, and ours by that. */
		if (played->id != 0 && (played->is_early ||
					now_us < since_us + RESULT_PATIENCE_US))
			return true;
	}
	return false;
}

/* Retire the slots that have nothing more to do; true while one has. */
static bool settle_slots(struct bridge *bridge, int64_t now_us)
{
	bool is_enough = has_enough(bridge);
	bool is_busy = false;

	for (unsigned i = 0; i < bridge->nslots; i++) {
		struct slot *slot = &bridge->slots[i];
		bool is_idle = slot->state < SLOT_WAITING ||
			       (slot->state == SLOT_WAITING &&
				!awaits_result(slot, now_us));

		is_idle &= slot->set_left == 0;

		if (is_enough && is_idle) {
			slot_drop_match(slot, "no result came");
			slot_finish(slot);
		}
		/* A slot's last program may still be dying. */
		is_busy |= slot->state != SLOT_FINISHED ||
			   program_is_alive(&slot->program);
	}
	return is_busy;
}

/* What each slot's descriptors are waited for; `first` where they begin. */
struct watch {
	struct pollfd fds[BRIDGE_SLOTS_MAX * (PROGRAM_FDS + 1)];
	size_t count;
	struct {
		size_t link, program, nprogram;
		bool has_link;
	} slots[BRIDGE_SLOTS_MAX];
};

static void watch_slots(struct bridge *bridge, struct watch *watch)
{
	watch->count = 0;
	for (unsigned i = 0; i < bridge->nslots; i++) {
		struct slot *slot = &bridge->slots[i];
		short events = 0;

		if (slot->state == SLOT_CONNECTING || slot->out.len > 0)
			events |= POLLOUT;
		if (slot->state != SLOT_CONNECTING &&
		    !program_is_full(&slot->program))
			events |= POLLIN;
		watch->slots[i].has_link = slot->fd >= 0;
		watch->slots[i].link = watch->count;
		if (slot->fd >= 0)
			watch->fds[watch->count++] =
				(struct pollfd){ .fd = slot->fd,
						 .events = events };
		watch->slots[i].program = watch->count;
		watch->slots[i].nprogram =
			program_poll(&slot->program, &watch->fds[watch->count]);
		watch->count += watch->slots[i].nprogram;
	}
}

static void serve_slot(struct slot *slot, const struct watch *watch,
		       size_t index)
{
	int64_t now_us = clock_now_us();
	short events = 0;

	program_handle(&slot->program, &watch->fds[watch->slots[index].program],
		       watch->slots[index].nprogram);
	if (watch->slots[index].has_link && slot->fd >= 0)
		events = watch->fds[watch->slots[index].link].revents;
	if (slot->state == SLOT_CONNECTING && events != 0)
		slot_connected(slot, now_us);
	else if (slot->fd >= 0 && slot->state != SLOT_CONNECTING &&
		 ((events & (POLLIN | POLLHUP | POLLERR)) != 0 ||
		  (framer_has_line(&slot->framer) &&
		   !program_is_full(&slot->program))))
		slot_receive(slot, now_us);
	if (slot->state == SLOT_DOWN && now_us >= slot->retry_at_us)
		slot_connect(slot, now_us);
	if (slot->fd >= 0 && now_us >= slot->deadline_us)
		slot_lose_link(slot, "no answer from the server", now_us);
	slot_advance(slot, now_us);
	if (slot->out.len > 0)
		slot_flush(slot, now_us);
}

/* How long to wait at most; NULL for ever. */
static struct timespec *time_left(const struct bridge *bridge,
				  struct timespec *wait)
{
	int64_t deadline = INT64_MAX;
	int64_t left;

	for (unsigned i = 0; i < bridge->nslots; i++) {
		const struct slot *slot = &bridge->slots[i];

		if (slot_deadline(slot) < deadline)
			deadline = slot_deadline(slot);
		if (slot->fd >= 0 && framer_has_line(&slot->framer) &&
		    !program_is_full(&slot->program))
			deadline = 0;
	}
	/* A bridge about to end looks at its patience once a second. */
	if (has_enough(bridge) && deadline > clock_now_us() + 1000000)
		deadline = clock_now_us() + 1000000;
	if (deadline == INT64_MAX)
		return NULL;
	left = deadline - clock_now_us();
	if (left < 0)
		left = 0;
	wait->tv_sec = left / 1000000;
	wait->tv_nsec = left % 1000000 * 1000;
	return wait;
}

void bridge_finish(struct bridge *bridge)
{
	bridge->is_finishing = true;
	bridge->finish_us = clock_now_us();
	for (unsigned i = 0; i < bridge->nslots; i++)
		slot_leave(&bridge->slots[i]);
}

/* Whether a match runs, or its result is still to come. */
static bool is_playing(const struct bridge *bridge)
{
	for (unsigned i = 0; i < bridge->nslots; i++) {
		if (slot_has_match(&bridge->slots[i]))
			return true;
	}
	return false;
}

static void heed_signals(struct bridge *bridge)
{
	if (terminations > 0 || interrupts > 1) {
		bridge->is_stopping = true;
		return;
	}
	if (interrupts == 1 && !bridge->is_finishing) {
		report(NULL, "%s",
		       is_playing(bridge)
			       ? "finishing the matches that run, taking no "
				 "more; once more to stop now"
			       : "stopping");
		bridge_finish(bridge);
	}
}

static void run(struct bridge *bridge)
{
	static struct watch watch; /* too large for the stack */
	struct timespec wait;
	sigset_t during_wait;

	(void)sigprocmask(SIG_BLOCK, NULL, &during_wait);
	sigdelset(&during_wait, SIGINT);
	sigdelset(&during_wait, SIGTERM);
	for (;;) {
		heed_signals(bridge);
		if (bridge->is_stopping)
			return;
		for (unsigned i = 0; i < bridge->nslots; i++) {
			if (bridge->slots[i].out.len > 0)
				slot_flush(&bridge->slots[i], clock_now_us());
		}
		if (!settle_slots(bridge, clock_now_us()))
			return;
		watch_slots(bridge, &watch);
		if (system_poll(watch.fds, watch.count,
				time_left(bridge, &wait), &during_wait) < 0) {
			if (errno != EINTR)
				return;
			watch.count = 0;
			continue;
		}
		for (unsigned i = 0; i < bridge->nslots; i++)
			serve_slot(&bridge->slots[i], &watch, i);
		keeper_reap();
	}
}

int main(int argc, char **argv)
{
	static struct bridge bridge; /* all zero: takes no room in the file */
	int status;

	program_keep_standard();
	bridge.nslots = 1;
	bridge.check_s = 30;
	bridge.log_dir = "hill-logs";
	status = parse_options(&bridge, argc, argv);

	if (status >= 0)
		return status;
	program_catch_signals(on_signal);
	for (unsigned i = 0; i < bridge.nslots; i++)
		slot_init(&bridge.slots[i], &bridge, i + 1);
	run(&bridge);
	for (unsigned i = 0; i < bridge.nslots; i++)
		slot_release(&bridge.slots[i]);
	/* The keepers end all programs; see that they have. */
	keeper_wait_all(KEEPER_PATIENCE_MS);
	return bridge.exit_status;
}
