/* SPDX-License-Identifier: MIT */
/*
 * control.c - the control socket: hillctl writes one JSON object a line, each
 * is answered by one line, in order. Only our own user may connect. Not on
 * the turn path, so it is made of bufferevents.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>

#include "server/net/net_internal.h"

enum {
	CLIENTS_MAX = 16,
	BACKLOG = 16,
	UNREAD_BYTES_MAX = 1 << 20, /* of replies; commands wait behind them */
	/* A map in base64 and what is around it. */
	LINE_BYTES_MAX = LIMIT_MAP_BYTES / 3 * 4 + 65536,
};

struct client {
	LIST_ENTRY(client) link;
	struct control *control; /* borrowed */
	struct bufferevent *bev; /* owned */
	uint64_t id;
	uid_t uid;
	size_t scanned;  /* bytes of the input without an LF */
	bool is_waiting; /* a command of it is with a worker */
	bool has_eof;
};

struct control {
	struct net *net;                 /* borrowed */
	struct evconnlistener *listener; /* owned */
	char *path;                      /* owned */
	LIST_HEAD(, client) clients;
	unsigned nclients;
	bool is_resting; /* does not listen until control_wake() */
	uint64_t last_id;
};

static void client_free(struct client *client)
{
	LIST_REMOVE(client, link);
	client->control->nclients--;
	bufferevent_free(client->bev);
	free(client);
}

/* The next whole line (malloc'ed), or NULL; no byte is looked at twice. */
static char *take_line(struct client *client, size_t *ret_len)
{
	struct evbuffer *input = bufferevent_get_input(client->bev);
	struct evbuffer_ptr at;

	if (evbuffer_ptr_set(input, &at, client->scanned, EVBUFFER_PTR_SET) <
		    0 ||
	    evbuffer_search(input, "\n", 1, &at).pos < 0) {
		client->scanned = evbuffer_get_length(input);
		return NULL;
	}
	client->scanned = 0;
	return evbuffer_readln(input, ret_len, EVBUFFER_EOL_LF);
}

/*
 * Give the next whole line to the store, unless one is with it or too much
 * waits to be read. May free the client.
 */
static void next_command(struct client *client)
{
	struct evbuffer *output = bufferevent_get_output(client->bev);
	size_t len;
	char *line;

	if (client->is_waiting ||
	    evbuffer_get_length(output) > UNREAD_BYTES_MAX)
		return;
	line = take_line(client, &len);
	if (line != NULL) {
		client->is_waiting = true;
		net_admin(client->control->net, client->id, client->uid, line,
			  len);
		return;
	}
	if (client->has_eof ? evbuffer_get_length(output) == 0
			    : client->scanned >= LINE_BYTES_MAX)
		client_free(client);
}

/* There is something to read, or all replies are written. */
static void on_ready(struct bufferevent *bev, void *arg)
{
	struct client *client = arg;

	(void)bev;
	net_turn_began(client->control->net);
	next_command(client);
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
	struct client *client = arg;

	(void)bev;
	net_turn_began(client->control->net);
	if ((what & BEV_EVENT_EOF) == 0) {
		client_free(client);
		return;
	}
	client->has_eof = true; /* it may still read its replies */
	next_command(client);
}

void control_reply(struct control *control, uint64_t id, const char *reply,
		   size_t len)
{
	struct client *client;

	LIST_FOREACH(client, &control->clients, link)
	{
		if (client->id == id)
			break;
	}
	if (client == NULL)
		return;
	client->is_waiting = false;
	if (bufferevent_write(client->bev, reply, len) < 0 ||
	    bufferevent_write(client->bev, "\n", 1) < 0) {
		client_free(client);
		return;
	}
	/* More lines may lie there already: in another turn, not deeper. */
	bufferevent_trigger(client->bev, EV_READ, BEV_OPT_DEFER_CALLBACKS);
}

static bool is_own_user(int fd, uid_t *ret_uid)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
		return false;
	*ret_uid = peer.uid;
	return peer.uid == geteuid() || peer.uid == 0;
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd,
		      struct sockaddr *address, int len, void *arg)
{
	struct control *control = arg;
	struct client *client;
	uid_t uid;

	(void)listener;
	(void)address;
	(void)len;
	net_turn_began(control->net);
	if (control->nclients == CLIENTS_MAX || !is_own_user(fd, &uid)) {
		(void)close(fd);
		return;
	}
	client = xcalloc(1, sizeof(*client));
	client->control = control;
	client->id = ++control->last_id;
	client->uid = uid;
	client->bev = bufferevent_socket_new(control->net->base, fd,
					     BEV_OPT_CLOSE_ON_FREE);
	if (client->bev == NULL) {
		(void)close(fd);
		free(client);
		return;
	}
	LIST_INSERT_HEAD(&control->clients, client, link);
	control->nclients++;
	bufferevent_setwatermark(client->bev, EV_READ, 0, LINE_BYTES_MAX);
	bufferevent_setcb(client->bev, on_ready, on_ready, on_event, client);
	(void)bufferevent_enable(client->bev, EV_READ | EV_WRITE);
}

/* Without descriptors it would be called again at once, for ever. */
static void on_accept_error(struct evconnlistener *listener, void *arg)
{
	struct control *control = arg;

	net_turn_began(control->net);
	(void)evconnlistener_disable(listener);
	control->is_resting = true;
	log_warn("event=control_rests reason=\"%s\"", strerror(errno));
}

void control_wake(struct control *control)
{
	if (control != NULL && control->is_resting &&
	    evconnlistener_enable(control->listener) == 0)
		control->is_resting = false;
}

/*
 * A socket file that nobody listens to is left over from a killed hilld: the
 * database's lock already says that there is no other one.
 */
static int bind_socket(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat info;
	mode_t mask;
	size_t len = strlen(path);
	int fd, rc;

	if (len >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, len + 1);
	if (lstat(path, &info) == 0) {
		if (!S_ISSOCK(info.st_mode))
			return -EEXIST;
		(void)unlink(path);
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	/* Before there are threads that make files. */
	mask = umask(0177);
	rc = bind(fd, (struct sockaddr *)&address, sizeof(address));
	if (rc == 0)
		rc = listen(fd, BACKLOG);
	rc = rc < 0 ? -errno : fd;
	(void)umask(mask);
	if (rc < 0)
		(void)close(fd);
	return rc;
}

int net_control(struct net *net, const char *path, struct net_error *error)
{
	struct control *control;
	int fd = bind_socket(path);

	if (fd < 0)
		return net_fail(error, fd, "control socket %s: %s", path,
				strerror(-fd));
	control = xcalloc(1, sizeof(*control));
	control->net = net;
	LIST_INIT(&control->clients);
	control->listener = evconnlistener_new(
		net->base, on_accept, control,
		LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
	if (control->listener == NULL) {
		(void)close(fd);
		free(control);
		return net_fail(error, -ENOMEM, "control socket %s: no memory",
				path);
	}
	evconnlistener_set_error_cb(control->listener, on_accept_error);
	control->path = xstrdup(path);
	net->control = control;
	return 0;
}

void control_flush(struct control *control)
{
	struct client *client;

	if (control == NULL)
		return;
	LIST_FOREACH(client, &control->clients, link)
	{
		struct evbuffer *output = bufferevent_get_output(client->bev);
		const void *bytes = evbuffer_pullup(output, -1);

		if (bytes != NULL)
			(void)send(bufferevent_getfd(client->bev), bytes,
				   evbuffer_get_length(output), MSG_NOSIGNAL);
	}
}

void control_free(struct control *control)
{
	if (control == NULL)
		return;
	while (!LIST_EMPTY(&control->clients))
		client_free(LIST_FIRST(&control->clients));
	evconnlistener_free(control->listener);
	(void)unlink(control->path);
	free(control->path);
	free(control);
}
