/* SPDX-License-Identifier: MIT */
/* main.c - hilld: wiring, start and shutdown. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "server/base/alloc.h"
#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/base/thread.h"
#include "server/config.h"
#include "server/dev.h"
#include "server/net/net.h"
#include "server/options.h"
#include "server/settings.h"
#include "server/store/register.h"
#include "server/store/store.h"
#include "server/web/web.h"

enum {
	STORE_PATIENCE_MS = 5000, /* for a failing disk at the end */
	LOCK_PATIENCE_S = 10,     /* for who has the database at the start */
	LOCK_PAUSE_MS = 50,
	TEXT_BYTES = 65536,
};

/* Everything that lives as long as the program. */
struct daemon {
	struct options options;
	struct dev dev; /* --dev; else nothing */
	struct buf dev_database;
	struct config config; /* of the start: its fixed keys are in force */
	char *log;            /* owned; where the log goes, "": stderr */
	struct store *store;
	struct net *net;
	struct web *web; /* NULL: no HTTP */
	size_t nlost;    /* results that could not be stored */
};

static void set_rules(struct store *store, const struct config *config)
{
	struct store_rules rules;

	settings_rules(config, &rules);
	store_set_rules(store, &rules);
}

/* A start that fails is told where the host looks: in the log, on stderr. */
static void start_failed(const struct daemon *hilld, const char *what,
			 const char *why)
{
	log_error("event=start_failed reason=\"%s%s\"", what, why);
	if (hilld->config.log[0] != '\0')
		(void)fprintf(stderr, "hilld: %s%s\n", what, why);
}

/* When it cannot be, the log stays where it is, and the next SIGHUP tries. */
static void move_log(struct daemon *hilld, const char *path)
{
	char quoted[LOG_QUOTE_BYTES];
	int rc = log_open(path[0] == '\0' ? NULL : path);

	if (rc < 0) {
		log_error("event=log_not_opened log=%s reason=\"%s\"",
			  log_quote(quoted, sizeof(quoted), path, strlen(path)),
			  strerror(-rc));
		return;
	}
	free(hilld->log);
	hilld->log = xstrdup(path);
}

/* SIGHUP: the log, then the config; what is wrong is told and changes nothing. */
static void on_hangup(void *arg)
{
	struct daemon *hilld = arg;
	struct config config;
	struct config_error error;
	struct net_settings settings;
	struct buf fixed = BUF_INIT(TEXT_BYTES);
	int rc = log_reopen();

	if (rc < 0)
		log_error("event=log_not_reopened reason=\"%s\"",
			  strerror(-rc));
	if (options_config(&hilld->options, &config, &error) < 0) {
		log_error("event=config_refused reason=\"%s\"", error.text);
		config_release(&config);
		return;
	}
	config_fixed_changes(&hilld->config, &config, &fixed);
	if (fixed.len > 0)
		log_warn("event=config_needs_restart keys=\"%s\"",
			 buf_text(&fixed));
	buf_release(&fixed);
	if (strcmp(config.log, hilld->log) != 0)
		move_log(hilld, config.log);
	log_set_level(config.log_level);
	set_rules(hilld->store, &config);
	settings_net(&config, "", &settings);
	net_configure(hilld->net, &settings);
	config_release(&config);
	log_info("event=config_reread");
}

static int write_port_file(const struct daemon *hilld, const char *path,
			   unsigned port)
{
	struct buf temporary = BUF_INIT(TEXT_BYTES);
	FILE *file;
	int rc = 0;

	/* Renamed into place: who waits for the file finds it whole. */
	buf_add_format(&temporary, "%s.tmp", path);
	file = fopen(buf_text(&temporary), "we");
	if (file == NULL || fprintf(file, "%u\n", port) < 0)
		rc = -errno;
	if (file != NULL && fclose(file) != 0)
		rc = -errno;
	if (rc == 0 && rename(buf_text(&temporary), path) < 0)
		rc = -errno;
	buf_clear(&temporary);
	buf_add_format(&temporary, "%s: ", path);
	if (rc < 0)
		start_failed(hilld, buf_text(&temporary), strerror(-rc));
	buf_release(&temporary);
	return rc;
}

static int open_net(struct daemon *hilld)
{
	struct net_settings settings;
	struct net_error error;
	char host[256] = "localhost";
	char *control = config_control_path(&hilld->config);
	int rc = 0;

	(void)gethostname(host, sizeof(host) - 1);
	settings_net(&hilld->config,
		     hilld->config.host[0] != '\0' ? hilld->config.host : host,
		     &settings);
	if (getrandom(settings.lobby.random_key, LOBBY_KEY_BYTES, 0) !=
	    LOBBY_KEY_BYTES)
		abort(); /* a kernel without random numbers: not ours to fix */
	rc = net_new(&hilld->net, &settings, hilld->store, &error);
	for (size_t i = 0; i < hilld->config.listens.count && rc == 0; i++)
		rc = net_listen(hilld->net, hilld->config.listens.list[i].host,
				hilld->config.listens.list[i].port, &error);
	if (rc == 0)
		rc = net_control(hilld->net, control, &error);
	if (rc < 0)
		start_failed(hilld, "", error.text);
	free(control);
	return rc;
}

/* ---- between the bots' loop and web's: messages alone ---- */

static void on_second(void *arg, struct net_second *second)
{
	struct daemon *hilld = arg;
	struct web_feed feed = { .live = second->live,
				 .metrics = second->metrics,
				 .store_trouble = second->store_trouble,
				 .saved = second->saved,
				 .nsaved = second->nsaved };

	web_feed(hilld->web, &feed);
}

static void on_command(void *arg, uint64_t id, char *command_take, size_t len)
{
	struct daemon *hilld = arg;

	net_web_ask(hilld->net, id, command_take, len);
}

static void on_answer(void *arg, uint64_t id, char *reply_take)
{
	struct daemon *hilld = arg;

	web_answer(hilld->web, id, reply_take);
}

static int open_web(struct daemon *hilld)
{
	const struct config *config = &hilld->config;
	struct web_settings settings;
	struct web_error error;
	int rc;

	if (config->http_listens.count == 0)
		return 0;
	settings_web(config, &settings);
	settings.database = store_path(hilld->store);
	settings.version = options_version();
	settings.command = on_command;
	settings.arg = hilld;
	rc = web_new(&hilld->web, &settings, &error);
	for (size_t i = 0; i < config->http_listens.count && rc == 0; i++)
		rc = web_listen(hilld->web, config->http_listens.list[i].host,
				config->http_listens.list[i].port, &error);
	if (rc == 0) {
		net_on_second(hilld->net, on_second, hilld);
		net_on_web_answer(hilld->net, on_answer, hilld);
		rc = web_start(hilld->web, &error);
	}
	if (rc < 0)
		start_failed(hilld, "", error.text);
	return rc;
}

/* Nothing of it is used any more when it is freed. */
static void close_web(struct daemon *hilld)
{
	if (hilld->web == NULL)
		return;
	net_on_second(hilld->net, NULL, NULL);
	net_on_web_answer(hilld->net, NULL, NULL);
	web_free(hilld->web);
	hilld->web = NULL;
}

static int cancel_unplayable(struct store *store, struct store_error *error)
{
	struct buf told = BUF_INIT(65536);
	int rc = store_cancel_unplayable(store, &told, error);
	char *rest = NULL, *text = xstrdup(buf_text(&told)), *line;

	for (line = strtok_r(text, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest))
		log_error("event=tournament_cancelled %s", line);
	free(text);
	buf_release(&told);
	return rc;
}

/* A hillctl that writes is done soon, and so is a hilld that ends. */
static int open_database(struct daemon *hilld, struct store_error *error)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_MS * 1000000L };
	int64_t until_us =
		clock_now_us() + (int64_t)LOCK_PATIENCE_S * 1000 * 1000;
	bool is_told = false;

	for (;;) {
		int rc = store_open(&hilld->store, hilld->config.database,
				    STORE_CREATE, error);

		if (rc != -EWOULDBLOCK || clock_now_us() >= until_us)
			return rc;
		if (!is_told)
			log_warn("event=database_locked seconds=%d "
				 "reason=\"%s\"",
				 LOCK_PATIENCE_S, error->text);
		is_told = true;
		(void)nanosleep(&pause, NULL);
	}
}

static int open_store(struct daemon *hilld)
{
	struct store_error error;
	unsigned ndropped = 0;
	int rc = open_database(hilld, &error);

	if (rc < 0) {
		start_failed(hilld, "", error.text);
		return rc;
	}
	rc = store_close_rounds(hilld->store, &error);
	if (rc == 0)
		rc = cancel_unplayable(hilld->store, &error);
	if (rc == 0)
		rc = store_drop_stock(hilld->store, &ndropped, &error);
	if (rc < 0) {
		start_failed(hilld, "", error.text);
		return rc;
	}
	if (ndropped > 0)
		log_info("event=unused_maps_dropped maps=%u", ndropped);
	if (hilld->config.guests == 1) {
		rc = store_guests(hilld->store, &error);
		if (rc < 0) {
			start_failed(hilld, "", error.text);
			return rc;
		}
	}
	set_rules(hilld->store, &hilld->config);
	rc = store_writer_start(hilld->store);
	if (rc < 0)
		start_failed(hilld, "store writer: ", strerror(-rc));
	return rc;
}

static int announce_web(struct daemon *hilld)
{
	char address[64];
	unsigned port;

	if (hilld->web == NULL)
		return 0;
	for (unsigned i = 0; (port = web_address(hilld->web, i, address)) != 0;
	     i++) {
		log_info("event=http_ready address=%s", address);
		if (i == 0 && hilld->options.is_dev)
			(void)printf("HTTP API: http://%s/api/v1/health\n",
				     address);
		if (i == 0 && hilld->options.http_port_file != NULL &&
		    write_port_file(hilld, hilld->options.http_port_file,
				    port) < 0)
			return -EIO;
	}
	return 0;
}

/* Say where we are, in the log and, for scripts, in the port file. */
static int announce(struct daemon *hilld, unsigned descriptors)
{
	char address[NET_ADDRESS_TEXT];
	unsigned port;

	for (unsigned i = 0; (port = net_address(hilld->net, i, address)) != 0;
	     i++) {
		log_info("event=ready address=%s database=%s descriptors=%u",
			 address, store_path(hilld->store), descriptors);
		if (i == 0 && hilld->options.is_dev)
			dev_start(&hilld->dev, port);
		if (i == 0 && hilld->options.port_file != NULL &&
		    write_port_file(hilld, hilld->options.port_file, port) < 0)
			return -EIO;
	}
	return 0;
}

/* In the order of who uses whom. */
static void close_all(struct daemon *hilld)
{
	close_web(hilld);
	hilld->nlost = net_free(hilld->net);
	if (hilld->store != NULL)
		hilld->nlost +=
			store_writer_stop(hilld->store, STORE_PATIENCE_MS);
	if (hilld->nlost > 0)
		log_error("event=results_lost count=%zu reason=\"the store "
			  "could not write them; nobody was told of them\"",
			  hilld->nlost);
	store_close(hilld->store);
}

static int serve(struct daemon *hilld)
{
	unsigned descriptors = net_raise_descriptors();
	int rc;

	rc = open_store(hilld);
	if (rc == 0)
		rc = open_net(hilld);
	if (rc == 0)
		rc = open_web(hilld);
	/* Before the house bots: they would inherit it. */
	if (rc == 0 && hilld->options.is_dev)
		thread_hold_signals(false);
	if (rc == 0)
		rc = announce_web(hilld);
	if (rc == 0)
		rc = announce(hilld, descriptors);
	if (rc == 0) {
		net_on_hangup(hilld->net, on_hangup, hilld);
		rc = net_run(hilld->net);
	}
	thread_hold_signals(true);
	close_all(hilld);
	if (rc == 0 && hilld->nlost > 0)
		log_info("event=ended status=results_lost");
	else
		log_info("event=ended status=%s", rc == 0 ? "ok" : "failed");
	return rc;
}

/* --dev: a database of its own, loopback, quiet, over at once. */
static int prepare_dev(struct daemon *hilld)
{
	struct dev_error error;
	int rc;

	/* Its folder would stay. */
	thread_hold_signals(true);
	rc = dev_prepare(&hilld->dev, &error);
	if (rc < 0) {
		(void)fprintf(stderr, "hilld: %s\n", error.text);
		return rc;
	}
	buf_init(&hilld->dev_database, TEXT_BYTES);
	dev_database(&hilld->dev, &hilld->dev_database);
	options_presume(&hilld->options, "log-level", "warn");
	options_presume(&hilld->options, "drain-seconds", "0");
	options_presume(&hilld->options, "registration", "open");
	options_presume(&hilld->options, "guests", "on");
	options_presume(&hilld->options, "listen", "127.0.0.1:0");
	options_presume(&hilld->options, "http-listen", "127.0.0.1:0");
	options_presume(&hilld->options, "database",
			buf_text(&hilld->dev_database));
	return 0;
}

static int run(struct daemon *hilld)
{
	int rc;

	hilld->log = xstrdup(hilld->config.log);
	log_set_level(hilld->config.log_level);
	rc = log_open(hilld->log[0] == '\0' ? NULL : hilld->log);
	if (rc < 0)
		(void)fprintf(stderr, "hilld: %s: %s\n", hilld->config.log,
			      strerror(-rc));
	else
		rc = serve(hilld);
	log_close();
	return rc;
}

int main(int argc, char **argv)
{
	struct daemon hilld = { 0 };
	struct config_error error;
	int rc = 0;

	/* Invites and tokens pass through it. */
	json_set_alloc_funcs(malloc, free_wiped);
	(void)signal(SIGPIPE, SIG_IGN);
	/* A bound on file sizes is a full disk, which the store can bear. */
	(void)signal(SIGXFSZ, SIG_IGN);
	options_parse(argc, argv, &hilld.options);
	dev_init(&hilld.dev);
	if (hilld.options.is_dev)
		rc = prepare_dev(&hilld);
	if (rc == 0 &&
	    options_config(&hilld.options, &hilld.config, &error) < 0) {
		(void)fprintf(stderr, "hilld: %s\n", error.text);
		rc = OPTIONS_EXIT_USAGE;
	} else if (rc == 0 && hilld.options.is_check) {
		(void)puts("the config is good");
	} else if (rc == 0) {
		rc = run(&hilld);
	}
	config_release(&hilld.config);
	free(hilld.log);
	dev_stop(&hilld.dev);
	buf_release(&hilld.dev_database);
	if (rc == OPTIONS_EXIT_USAGE)
		return rc;
	if (rc == 0 && hilld.nlost > 0)
		return OPTIONS_EXIT_LOST;
	return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
