/* SPDX-License-Identifier: MIT */
#include "server/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/buffer.h"

#ifndef HILL_VERSION
#define HILL_VERSION "unknown"
#endif

enum { HELP_BYTES = 65536 };

static const char usage[] =
	"usage: hilld [options]\n"
	"Hosts king-of-the-hill contests for programs.\n"
	"\n"
	"  -c, --config FILE      read the JSON file (see --help-config)\n"
	"  -l, --listen LIST      HOST:PORT, several with commas; port 0: any\n"
	"  -d, --database FILE    the SQLite file; made when it is not there\n"
	"      --control PATH     the control socket for hillctl\n"
	"      --log FILE         the log; default: standard error\n"
	"      --log-level WORD   error, warn, info or debug\n"
	"      --drain-seconds N  how long matches may go on after SIGTERM\n"
	"      --set KEY=VALUE    any key of the config\n"
	"      --port-file FILE   write the port there once it is open\n"
	"      --http LIST        serve the HTTP API at HOST:PORT, likewise\n"
	"      --http-port-file FILE  write its port there\n"
	"      --dev              for one author at one desk: loopback, a database\n"
	"                         that goes with hilld, guests, house bots\n"
	"      --check-config     check config and flags, then end\n"
	"      --help-config      every key and what it means\n"
	"  -h, --help             this text\n"
	"      --version          the version\n"
	"\n"
	"SIGTERM drains, a second one ends at once; SIGHUP reopens the log and\n"
	"reads the config again.\n"
	"\n"
	"Exit status: 0 drained or stopped, 1 it could not start or its loop\n"
	"failed, 2 flags or config make no sense, 3 it ended while the disk\n"
	"failed and dropped results that nobody was told of (the log says how\n"
	"many).\n";

const char *options_version(void)
{
	return HILL_VERSION;
}

static const struct option long_options[] = {
	{ "config", required_argument, NULL, 'c' },
	{ "listen", required_argument, NULL, 'l' },
	{ "database", required_argument, NULL, 'd' },
	{ "control", required_argument, NULL, 'k' },
	{ "log", required_argument, NULL, 'o' },
	{ "log-level", required_argument, NULL, 'v' },
	{ "drain-seconds", required_argument, NULL, 'D' },
	{ "set", required_argument, NULL, 's' },
	{ "port-file", required_argument, NULL, 'p' },
	{ "http", required_argument, NULL, 'w' },
	{ "http-port-file", required_argument, NULL, 'W' },
	{ "dev", no_argument, NULL, 'e' },
	{ "check-config", no_argument, NULL, 'n' },
	{ "help-config", no_argument, NULL, 'H' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

/* Note `--FLAG VALUE` for KEY; later ones win. */
static void override(struct options *options, const char *flag, const char *key,
		     const char *value)
{
	if (options->noverrides == OPTIONS_OVERRIDES_MAX) {
		(void)fprintf(stderr, "hilld: too many flags\n");
		exit(OPTIONS_EXIT_USAGE);
	}
	options->overrides[options->noverrides].flag = flag;
	options->overrides[options->noverrides].key = key;
	options->overrides[options->noverrides].value = value;
	options->noverrides++;
}

void options_presume(struct options *options, const char *key,
		     const char *value)
{
	override(options, "--dev", key, value);
	for (unsigned i = options->noverrides - 1; i > 0; i--)
		options->overrides[i] = options->overrides[i - 1];
	options->overrides[0].flag = "--dev";
	options->overrides[0].key = key;
	options->overrides[0].value = value;
}

static void override_any(struct options *options, char *pair)
{
	char *equals = strchr(pair, '=');

	if (equals == NULL) {
		(void)fprintf(stderr, "hilld: --set %s: not KEY=VALUE\n", pair);
		exit(OPTIONS_EXIT_USAGE);
	}
	*equals = '\0';
	override(options, "--set", pair, equals + 1);
}

static void print_config_help(void)
{
	struct buf text = BUF_INIT(HELP_BYTES);

	config_help(&text);
	(void)fputs(buf_text(&text), stdout);
	buf_release(&text);
}

void options_parse(int argc, char **argv, struct options *options)
{
	int c;

	while ((c = getopt_long(argc, argv, "c:l:d:h", long_options, NULL)) !=
	       -1) {
		switch (c) {
		case 'c':
			options->config_path = optarg;
			break;
		case 'l':
			override(options, "--listen", "listen", optarg);
			break;
		case 'd':
			override(options, "--database", "database", optarg);
			break;
		case 'k':
			override(options, "--control", "control", optarg);
			break;
		case 'o':
			override(options, "--log", "log", optarg);
			break;
		case 'v':
			override(options, "--log-level", "log-level", optarg);
			break;
		case 'D':
			override(options, "--drain-seconds", "drain-seconds",
				 optarg);
			break;
		case 's':
			override_any(options, optarg);
			break;
		case 'p':
			options->port_file = optarg;
			break;
		case 'w':
			override(options, "--http", "http-listen", optarg);
			break;
		case 'W':
			options->http_port_file = optarg;
			break;
		case 'e':
			options->is_dev = true;
			break;
		case 'n':
			options->is_check = true;
			break;
		case 'H':
			print_config_help();
			exit(EXIT_SUCCESS);
		case 'h':
			(void)fputs(usage, stdout);
			exit(EXIT_SUCCESS);
		case 'V':
			(void)puts("hilld " HILL_VERSION);
			exit(EXIT_SUCCESS);
		default:
			(void)fprintf(stderr, "Try: hilld --help\n");
			exit(OPTIONS_EXIT_USAGE);
		}
	}
	if (optind < argc) {
		(void)fprintf(stderr, "hilld: %s: unexpected word\n",
			      argv[optind]);
		exit(OPTIONS_EXIT_USAGE);
	}
}

int options_config(const struct options *options, struct config *config,
		   struct config_error *error)
{
	int rc = 0;

	config_init(config);
	if (options->config_path != NULL)
		rc = config_load(config, options->config_path, error);
	for (unsigned i = 0; i < options->noverrides && rc == 0; i++)
		rc = config_set(config, options->overrides[i].flag,
				options->overrides[i].key,
				options->overrides[i].value, error);
	return rc;
}
