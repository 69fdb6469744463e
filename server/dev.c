/* SPDX-License-Identifier: MIT */
#include "server/dev.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "server/games/game.h"
#include "server/store/admin.h"
#include "server/store/base64.h"
#include "server/store/store.h"

enum {
	PATH_BYTES = 4096,
	MAPS_MAX = 64, /* of one game */
	STOP_MS = 4000,
	STOP_STEP_MS = 20,
	OWNER_ONLY = 0600,
};

extern char **environ;

/*
 * A house bot: the program is looked for among the installed ones and in the
 * build that hilld lies in; a Python one in the sources as well.
 */
static const struct house {
	const char *bot, *game, *file;
} houses[] = {
	{ "house-rabbit", "rabbit-runner", "rabbit_careful.py" },
	{ "house-image", "image-battle", "image-blob" },
	{ "house-lambda", "lambda-mining", "lambda_careful.py" },
};

static int fail(struct dev_error *error, int rc, const char *what,
		const char *why)
{
	(void)snprintf(error->text, sizeof(error->text), "--dev: %s: %s", what,
		       why);
	return rc;
}

void dev_init(struct dev *dev)
{
	*dev = (struct dev){ 0 };
	buf_init(&dev->folder, PATH_BYTES);
}

/* ---- where things lie ---- */

/* The folder of the running program, appended to RET. */
static void own_folder(struct buf *ret)
{
	char path[PATH_BYTES];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (len <= 0)
		return;
	path[len] = '\0';
	*strrchr(path, '/') = '\0';
	buf_add_text(ret, path);
}

/* The first of PLACES/NAME that is there; RET is its path, or "". */
static void find(const char *const *places, const char *name, struct buf *ret)
{
	struct buf own = BUF_INIT(PATH_BYTES);
	char *real;

	own_folder(&own);
	for (; *places != NULL; places++) {
		buf_clear(ret);
		/* A relative place is meant from where hilld lies. */
		if ((*places)[0] != '/')
			buf_add_format(ret, "%s/", buf_text(&own));
		buf_add_format(ret, "%s/%s", *places, name);
		real = realpath(buf_text(ret), NULL);
		buf_clear(ret);
		if (real == NULL)
			continue;
		buf_add_text(ret, real);
		free(real);
		break;
	}
	buf_release(&own);
}

static void find_bot(const char *name, struct buf *ret)
{
	static const char *const places[] = { "../clients/bots", HILL_BOTS_DIR,
					      HILL_SOURCE_BOTS_DIR, NULL };

	find(places, name, ret);
}

static void find_bridge(struct buf *ret)
{
	static const char *const places[] = { "../clients/bridge", ".", NULL };

	find(places, "hill-bridge", ret);
}

static void find_ctl(struct buf *ret)
{
	static const char *const places[] = { "../clients/ctl", ".", NULL };

	find(places, "hillctl", ret);
}

static void find_maps(const char *game, struct buf *ret)
{
	static const char *const places[] = { HILL_MAPS_DIR,
					      HILL_SOURCE_MAPS_DIR, NULL };

	find(places, game, ret);
}

/* ---- the database ---- */

/* Carry out COMMAND (taken over); the reply is the caller's, NULL: refused. */
static json_t *command(struct store *store, json_t *request_take,
		       struct dev_error *error)
{
	json_t *reply = store_admin(store, request_take, NULL);
	const char *why = json_string_value(json_object_get(reply, "error"));

	if (why != NULL) {
		(void)fail(error, -EINVAL,
			   json_string_value(
				   json_object_get(request_take, "command")),
			   why);
		json_decref(reply);
		reply = NULL;
	}
	json_decref(request_take);
	return reply;
}

static int read_file(const char *path, struct buf *ret)
{
	FILE *file = fopen(path, "re");
	char *room;
	size_t count;
	int rc = 0;

	if (file == NULL)
		return -errno;
	while ((room = buf_reserve(ret, PATH_BYTES)) != NULL &&
	       (count = fread(room, 1, PATH_BYTES, file)) > 0)
		ret->len += count;
	if (ferror(file) || ret->is_failed)
		rc = -EIO;
	(void)fclose(file);
	return rc;
}

/* Add the map file FOLDER/NAME, and its name to MAPS. */
static int add_map(struct store *store, const struct game *game,
		   const char *folder, const char *name, json_t *maps,
		   struct dev_error *error)
{
	struct buf path = BUF_INIT(PATH_BYTES);
	struct buf bytes = BUF_INIT(LIMIT_MAP_BYTES);
	struct buf text = BUF_INIT(LIMIT_MAP_BYTES * 2u);
	json_t *reply = NULL;
	int rc;

	buf_add_format(&path, "%s/%s", folder, name);
	rc = read_file(buf_text(&path), &bytes);
	if (rc < 0) {
		rc = fail(error, rc, buf_text(&path), strerror(-rc));
		goto out;
	}
	base64_encode((const uint8_t *)bytes.data, bytes.len, &text);
	reply = command(store,
			json_pack("{s:s, s:s, s:s, s:s}", "command", "map add",
				  "name", name, "game", game->name, "data",
				  buf_text(&text)),
			error);
	rc = reply == NULL ? -EINVAL : 0;
	if (rc == 0)
		(void)json_array_append_new(maps, json_string(name));
out:
	json_decref(reply);
	buf_release(&path);
	buf_release(&bytes);
	buf_release(&text);
	return rc;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* The game's maps, and a ladder that bears its name. */
static int add_ladder(struct store *store, const struct game *game,
		      struct dev_error *error)
{
	struct buf folder = BUF_INIT(PATH_BYTES);
	json_t *maps = json_array();
	struct dirent **names = NULL;
	int count;
	int rc = 0;

	find_maps(game->name, &folder);
	count = folder.len == 0 ? 0
				: scandir(buf_text(&folder), &names, is_visible,
					  alphasort);
	for (int i = 0; i < count; i++) {
		if (rc == 0 && i < MAPS_MAX)
			rc = add_map(store, game, buf_text(&folder),
				     names[i]->d_name, maps, error);
		free(names[i]);
	}
	free(names);
	buf_release(&folder);
	/* Without maps there is nothing to play: that game is left out. */
	if (rc == 0 && json_array_size(maps) > 0) {
		json_t *reply = command(
			store,
			json_pack("{s:s, s:s, s:s, s:O, s:i, s:b}", "command",
				  "ladder add", "name", game->name, "game",
				  game->name, "maps", maps, "seats",
				  game->is_shared ? 2 : 1, "rated", 0),
			error);

		rc = reply == NULL ? -EINVAL : 0;
		json_decref(reply);
	}
	json_decref(maps);
	return rc;
}

/* A bot with its token in FOLDER/NAME.token. */
static int add_bot(const struct dev *dev, struct store *store, const char *name,
		   const char *owner, struct dev_error *error)
{
	struct buf path = BUF_INIT(PATH_BYTES);
	json_t *reply =
		command(store,
			json_pack("{s:s, s:s, s:s}", "command", "bot add",
				  "name", name, "owner", owner),
			error);
	const char *token = json_string_value(json_object_get(reply, "token"));
	int fd;
	int rc = -EINVAL;

	if (reply == NULL)
		return -EINVAL;
	buf_add_format(&path, "%s/%s.token", buf_text(&dev->folder), name);
	fd = open(buf_text(&path), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		  OWNER_ONLY);
	if (fd >= 0 && token != NULL && dprintf(fd, "%s\n", token) > 0)
		rc = 0;
	else
		rc = fail(error, -EIO, buf_text(&path), strerror(errno));
	if (fd >= 0)
		(void)close(fd);
	json_decref(reply);
	buf_release(&path);
	return rc;
}

/* They take seats where nobody else waits, and play unrated with all. */
static int mark_house(struct store *store, struct dev_error *error)
{
	json_t *reply = command(store,
				json_pack("{s:s, s:s}", "command",
					  "owner house", "name", "house"),
				error);

	json_decref(reply);
	return reply == NULL ? -EINVAL : 0;
}

static int fill(const struct dev *dev, struct store *store,
		struct dev_error *error)
{
	char name[24];
	int rc = 0;

	for (size_t i = 0; games_all[i] != NULL && rc == 0; i++)
		rc = add_ladder(store, games_all[i], error);
	for (int i = 1; i <= DEV_GUESTS && rc == 0; i++) {
		(void)snprintf(name, sizeof(name), "guest-%d", i);
		rc = add_bot(dev, store, name, "guests", error);
	}
	for (size_t i = 0; i < sizeof(houses) / sizeof(houses[0]) && rc == 0;
	     i++)
		rc = add_bot(dev, store, houses[i].bot, "house", error);
	return rc == 0 ? mark_house(store, error) : rc;
}

void dev_database(const struct dev *dev, struct buf *ret)
{
	buf_add_format(ret, "%s/hill.db", buf_text(&dev->folder));
}

int dev_prepare(struct dev *dev, struct dev_error *error)
{
	const char *base = getenv("TMPDIR");
	struct buf path = BUF_INIT(PATH_BYTES);
	struct store_error store_error;
	struct store *store = NULL;
	int rc;

	buf_add_format(&dev->folder, "%s/hill-dev-XXXXXX",
		       base != NULL && base[0] == '/' ? base : "/tmp");
	if (mkdtemp(dev->folder.data) == NULL) {
		rc = fail(error, -errno, buf_text(&dev->folder),
			  strerror(errno));
		buf_clear(&dev->folder);
		return rc;
	}
	dev_database(dev, &path);
	rc = store_open(&store, buf_text(&path), STORE_CREATE, &store_error);
	if (rc < 0)
		rc = fail(error, rc, "database", store_error.text);
	else
		rc = fill(dev, store, error);
	store_close(store);
	buf_release(&path);
	return rc;
}

/* ---- the house ---- */

static void start_house(struct dev *dev, const struct house *house,
			const char *bridge, unsigned port)
{
	struct buf server = BUF_INIT(64);
	struct buf token = BUF_INIT(PATH_BYTES);
	struct buf program = BUF_INIT(PATH_BYTES);
	posix_spawn_file_actions_t actions;
	pid_t pid;

	buf_add_format(&server, "127.0.0.1:%u", port);
	buf_add_format(&token, "%s/%s.token", buf_text(&dev->folder),
		       house->bot);
	find_bot(house->file, &program);
	(void)posix_spawn_file_actions_init(&actions);
	(void)posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO,
					       "/dev/null", O_WRONLY, 0);
	(void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO,
					       "/dev/null", O_WRONLY, 0);
	/* A second's rest a match: it plays for company, not for the heat. */
	if (program.len > 0) {
		char *argv[] = { (char *)(uintptr_t)bridge,
				 (char[]){ "--server" },
				 server.data,
				 (char[]){ "--bot" },
				 (char *)(uintptr_t)house->bot,
				 (char[]){ "--token-file" },
				 token.data,
				 (char[]){ "--play" },
				 (char *)(uintptr_t)house->game,
				 (char[]){ "--no-log" },
				 (char[]){ "--" },
				 (char[]){ "sh" },
				 (char[]){ "-c" },
				 (char[]){ "sleep 1; exec \"$0\" \"$@\"" },
				 program.data,
				 NULL };

		if (posix_spawn(&pid, bridge, &actions, NULL, argv, environ) ==
		    0)
			dev->house[dev->nhouse++] = pid;
	}
	(void)posix_spawn_file_actions_destroy(&actions);
	buf_release(&server);
	buf_release(&token);
	buf_release(&program);
}

void dev_start(struct dev *dev, unsigned port)
{
	struct buf bridge = BUF_INIT(PATH_BYTES), ctl = BUF_INIT(PATH_BYTES);

	find_bridge(&bridge);
	find_ctl(&ctl);
	for (size_t i = 0;
	     i < sizeof(houses) / sizeof(houses[0]) && bridge.len > 0; i++)
		start_house(dev, &houses[i], buf_text(&bridge), port);
	(void)printf("hilld --dev: 127.0.0.1:%u, all is gone at the end\n",
		     port);
	(void)printf("  play     %s --server 127.0.0.1:%u --bot guest-1 \\\n"
		     "             --token-file %s/guest-1.token --play "
		     "rabbit-runner -- YOUR PROGRAM\n",
		     bridge.len > 0 ? buf_text(&bridge) : "hill-bridge", port,
		     buf_text(&dev->folder));
	(void)printf("  by hand  nc 127.0.0.1 %u, then @guest NAME,\n"
		     "             @play rabbit-runner unrated "
		     "turn-ms=600000,\n"
		     "             and within 10 s of each @match N: "
		     "@ready N\n",
		     port);
	(void)printf("  ladders ");
	for (size_t i = 0; games_all[i] != NULL; i++)
		(void)printf(" %s", games_all[i]->name);
	(void)printf("\n  guests   guest-1 .. guest-%d; house bots: %zu\n",
		     DEV_GUESTS, dev->nhouse);
	(void)printf("  look     %s --database %s/hill.db match list\n",
		     ctl.len > 0 ? buf_text(&ctl) : "hillctl",
		     buf_text(&dev->folder));
	(void)fflush(stdout);
	buf_release(&bridge);
	buf_release(&ctl);
}

static void stop_house(struct dev *dev)
{
	for (size_t i = 0; i < dev->nhouse; i++)
		(void)kill(dev->house[i], SIGTERM);
	for (int waited = 0; dev->nhouse > 0; waited += STOP_STEP_MS) {
		const struct timespec step = { .tv_nsec =
						       STOP_STEP_MS * 1000000 };

		while (dev->nhouse > 0 &&
		       waitpid(dev->house[dev->nhouse - 1], NULL, WNOHANG) != 0)
			dev->nhouse--;
		if (dev->nhouse == 0)
			break;
		if (waited >= STOP_MS)
			(void)kill(dev->house[dev->nhouse - 1], SIGKILL);
		(void)nanosleep(&step, NULL);
	}
}

void dev_stop(struct dev *dev)
{
	struct dirent **names = NULL;
	int count;

	stop_house(dev);
	if (dev->folder.len == 0)
		return;
	/* No folder in it is ours or anybody's. */
	count = scandir(buf_text(&dev->folder), &names, NULL, NULL);
	for (int i = 0; i < count; i++) {
		struct buf path = BUF_INIT(PATH_BYTES);

		buf_add_format(&path, "%s/%s", buf_text(&dev->folder),
			       names[i]->d_name);
		(void)unlink(buf_text(&path));
		buf_release(&path);
		free(names[i]);
	}
	free(names);
	(void)rmdir(buf_text(&dev->folder));
	buf_release(&dev->folder);
}
