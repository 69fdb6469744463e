/* SPDX-License-Identifier: MIT */
/* request.c - one request and its reply, through hilld or in the file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "clients/ctl/ctl.h"
#include "clients/ctl/table.h"
#include "server/store/admin.h"

enum {
	/* Another hillctl is done soon; a hilld that starts listens soon. */
	LOCK_TRIES = 60,
	LOCK_PAUSE_MS = 50,
	REPLY_PATIENCE_S = 120,
	READ_BYTES = 65536,
};

char *ctl_socket_path(const struct ctl *ctl)
{
	struct buf path = BUF_INIT(65536);

	if (ctl->socket != NULL)
		return xstrdup(ctl->socket);
	buf_add_text(&path, ctl->database);
	buf_add_text(&path, ADMIN_SOCKET_SUFFIX);
	return buf_detach(&path);
}

/* A descriptor, or -errno. */
static int connect_to(const char *path)
{
	struct timeval patience = { .tv_sec = REPLY_PATIENCE_S };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len = strlen(path);
	int fd, err;

	if (len >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, len + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
		       sizeof(patience)) == 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience,
		       sizeof(patience)) == 0 &&
	    connect(fd, (const struct sockaddr *)&address, sizeof(address)) ==
		    0)
		return fd;
	err = -errno;
	(void)close(fd);
	return err;
}

int channel_open_socket(struct channel *channel, const struct ctl *ctl)
{
	char *path = ctl_socket_path(ctl);
	int fd = connect_to(path);

	free(path);
	channel->store = NULL;
	channel->fd = fd < 0 ? -1 : fd;
	if (fd == -ECONNREFUSED)
		return -ENOENT; /* left over from a killed hilld */
	return fd < 0 ? fd : 0;
}

/* deploy/quickstart's, which is easily forgotten. */
#define QUICKSTART_DATABASE "var/" CTL_DATABASE

/* CTL's database could not be opened, because of RC and what ERROR says. */
static void tell_closed(const struct ctl *ctl, int rc,
			const struct store_error *error)
{
	const char *hint = "";

	if (rc == -ENOENT && strcmp(ctl->database, CTL_DATABASE) == 0)
		hint = access(QUICKSTART_DATABASE, F_OK) == 0
			       ? "; is it --database " QUICKSTART_DATABASE
				 " that you mean?"
			       : " here: --database FILE names another";
	(void)ctl_fail(ctl, "%s%s", error->text, hint);
}

int channel_open_read(struct channel *channel, const struct ctl *ctl)
{
	struct store_error error = { "" };
	int rc;

	channel->fd = -1;
	rc = store_open(&channel->store, ctl->database, STORE_READ, &error);
	if (rc == 0)
		return 0;
	channel->store = NULL;
	tell_closed(ctl, rc, &error);
	return -1;
}

/* So that a mistyped --database is seen. */
static void tell_made(const struct ctl *ctl)
{
	struct buf shown = BUF_INIT(65536);

	if (!ctl->is_json) {
		text_escape(ctl->database, strlen(ctl->database), &shown);
		(void)printf("made %s\n", buf_text(&shown));
	}
	buf_release(&shown);
}

int channel_open(struct channel *channel, const struct ctl *ctl,
		 bool may_create)
{
	struct timespec pause = { .tv_nsec = LOCK_PAUSE_MS * 1000000L };
	enum store_mode mode = may_create ? STORE_CREATE : STORE_WRITE;
	struct store_error error = { "" };
	bool is_new;
	char *path;
	int rc = 0;

	channel->fd = -1;
	for (unsigned i = 0; i < LOCK_TRIES; i++) {
		is_new = access(ctl->database, F_OK) != 0;
		rc = store_open(&channel->store, ctl->database, mode, &error);
		if (rc == 0 && is_new)
			tell_made(ctl);
		if (rc == 0)
			return 0;
		channel->store = NULL;
		if (rc != -EWOULDBLOCK) {
			tell_closed(ctl, rc, &error);
			return -1;
		}
		rc = channel_open_socket(channel, ctl);
		if (rc == 0)
			return 0;
		if (rc != -ENOENT)
			break;
		(void)nanosleep(&pause, NULL);
	}
	path = ctl_socket_path(ctl);
	(void)ctl_fail(ctl,
		       "%s; its control socket %s cannot be reached: %s "
		       "(--socket says where hilld has it)",
		       error.text, path, strerror(-rc));
	free(path);
	return -1;
}

static int send_all(int fd, const char *text, size_t len)
{
	while (len > 0) {
		ssize_t sent = send(fd, text, len, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return -errno;
		text += sent;
		len -= (size_t)sent;
	}
	return 0;
}

/* The reply's line into LINE. */
static int receive_line(int fd, struct buf *line)
{
	for (;;) {
		char *at = buf_reserve(line, READ_BYTES);
		ssize_t got;

		if (at == NULL)
			return -EMSGSIZE;
		got = recv(fd, at, READ_BYTES, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		if (got == 0)
			return -ECONNRESET;
		line->len += (size_t)got;
		if (memchr(at, '\n', (size_t)got) != NULL)
			return 0;
	}
}

static json_t *send_to_hilld(int fd, const struct ctl *ctl, json_t *request)
{
	struct buf line = BUF_INIT((size_t)LIMIT_ADMIN_BYTES + READ_BYTES);
	char *text = json_dumps(request, JSON_COMPACT);
	json_t *reply = NULL;
	json_error_t where;
	int rc = -ENOMEM;

	if (text != NULL)
		rc = send_all(fd, text, strlen(text));
	if (rc == 0)
		rc = send_all(fd, "\n", 1);
	if (rc == 0)
		rc = receive_line(fd, &line);
	free(text);
	if (rc != 0) {
		(void)ctl_fail(ctl,
			       "hilld gave no answer: %s; it may have done "
			       "what it was asked",
			       strerror(-rc));
	} else {
		reply = json_loadb(line.data, line.len, JSON_REJECT_DUPLICATES,
				   &where);
		if (!json_is_object(reply)) {
			(void)ctl_fail(ctl,
				       "hilld's answer is no JSON "
				       "object: %s",
				       where.text);
			json_decref(reply);
			reply = NULL;
		}
	}
	if (line.data != NULL) /* it may hold a token */
		explicit_bzero(line.data, line.len);
	buf_release(&line);
	return reply;
}

json_t *channel_send(struct channel *channel, const struct ctl *ctl,
		     json_t *request)
{
	if (channel->store != NULL)
		return store_admin(channel->store, request, NULL);
	return send_to_hilld(channel->fd, ctl, request);
}

void channel_close(struct channel *channel)
{
	store_close(channel->store);
	if (channel->fd >= 0)
		(void)close(channel->fd);
	channel->store = NULL;
	channel->fd = -1;
}

void ctl_print_json(const json_t *json)
{
	if (json_dumpf(json, stdout, JSON_INDENT(2)) == 0)
		(void)fputc('\n', stdout);
}
