/* SPDX-License-Identifier: MIT */
/* The real loop on a thread of its own, with clients on the loopback. */
#include "server/net/net.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "server/base/log.h"
#include "server/store/admin.h"
#include "server/store/store.h"
#include "tests/unit/unit.h"

enum { WAIT_S = 20, TEXT_BYTES = 65536 };

struct server {
	struct store *store;
	struct net *net;
	pthread_t thread;
	unsigned port;
	int rc; /* of net_run */
	bool is_joined;
	char token[200];
	char folder[64], control[96];
	int answers[2]; /* a pipe: answers to the web's questions, by line */
	struct net_settings settings;
	atomic_bool is_hung_up;          /* SIGHUP has had its effect */
	atomic_bool shall_hold, is_held; /* the loop, once a second */
};

struct client {
	int fd;
	const char *wanted; /* what expect() waits for */
	size_t len;
	char text[TEXT_BYTES]; /* received, not yet looked at */
};

/* ---- the server ---- */

static void *run(void *arg)
{
	struct server *server = arg;

	server->rc = net_run(server->net);
	return NULL;
}

static json_t *admin(struct store *store, json_t *request)
{
	json_t *reply = store_admin(store, request, NULL);

	json_decref(request);
	if (!json_is_true(json_object_get(reply, "ok")))
		fail_msg("%s",
			 json_string_value(json_object_get(reply, "error")));
	return reply;
}

static void fill(struct server *server)
{
	/* "#######\n#s   e#\n#######\n" */
	static const char map[] = "IyMjIyMjIwojcyAgIGUjCiMjIyMjIyMK";
	json_t *reply;

	reply = admin(server->store,
		      json_pack("{s:s, s:s, s:s, s:i}", "command", "bot add",
				"name", "crazy", "owner", "alice",
				"max_connections", 100));
	(void)snprintf(server->token, sizeof(server->token), "%s",
		       json_string_value(json_object_get(reply, "token")));
	json_decref(reply);
	json_decref(admin(server->store,
			  json_pack("{s:s, s:s, s:s, s:s}", "command",
				    "map add", "name", "t.map", "game",
				    "rabbit-runner", "data", map)));
	/* Unrated: a rated one pauses who often breaks off. */
	json_decref(admin(server->store,
			  json_pack("{s:s, s:s, s:s, s:[s], s:s, s:i, s:b}",
				    "command", "ladder add", "name",
				    "rabbit-runner", "game", "rabbit-runner",
				    "maps", "t.map", "params", "turns=3",
				    "turn_ms", 10000, "rated", 0)));
	json_decref(admin(server->store,
			  json_pack("{s:s, s:s, s:s, s:[s], s:s, s:i, s:i, "
				    "s:i, s:i, s:b}",
				    "command", "ladder add", "name", "quick",
				    "game", "rabbit-runner", "maps", "t.map",
				    "params", "turns=3", "turn_ms", 2000,
				    "init_ms", 0, "bank_ms", 9000,
				    "bank_step_ms", 0, "rated", 0)));
}

static void on_web_answer(void *arg, uint64_t id, char *reply_take)
{
	const struct server *server = arg;

	(void)id;
	assert_true(dprintf(server->answers[1], "%s\n", reply_take) > 0);
	free(reply_take);
}

static void on_hangup(void *arg)
{
	struct server *server = arg;

	net_configure(server->net, &server->settings);
	atomic_store(&server->is_hung_up, true);
}

static void nap(void)
{
	const struct timespec time = { .tv_nsec = 5000000 };

	(void)nanosleep(&time, NULL);
}

static void on_second(void *arg, struct net_second *second_take)
{
	struct server *server = arg;

	free(second_take->live);
	free(second_take->metrics);
	free(second_take->saved);
	while (atomic_load(&server->shall_hold)) {
		atomic_store(&server->is_held, true);
		nap();
	}
}

static int start(void **state)
{
	struct server *server = calloc(1, sizeof(*server));
	struct net_settings settings = {
		.lobby = { .host = "test.host",
			   .stall_void_ms = 10000,
			   .login_ms = 60000,
			   .peers_max = 1000,
			   .peers_per_address = 1000,
			   .prelogin_per_address = 1000,
			   .failures_per_address = 10,
			   .failure_forget_ms = 10000,
			   .registrations_per_hour = 3,
			   .retry_after_s = 1,
			   .matches_max = 100,
			   .results_max = 100,
			   .match_budget_bytes = 100 << 20,
			   .map_budget_bytes = 100 << 20 },
		.drain_ms = 0,
		.output_stall_ms = 1000,
		.dead_peer_ms = 60000,
		.workers = 1,
	};
	struct net_error error;
	struct store_error store_error;
	char address[NET_ADDRESS_TEXT];

	assert_non_null(server);
	log_set_level(LOG_LEVEL_ERROR);
	(void)snprintf(server->folder, sizeof(server->folder),
		       "/tmp/hill-net-XXXXXX");
	assert_non_null(mkdtemp(server->folder));
	(void)snprintf(server->control, sizeof(server->control), "%s/sock",
		       server->folder);
	assert_int_equal(store_open(&server->store, ":memory:", STORE_CREATE,
				    &store_error),
			 0);
	fill(server);
	assert_int_equal(store_writer_start(server->store), 0);
	assert_int_equal(
		net_new(&server->net, &settings, server->store, &error), 0);
	server->settings = settings;
	net_on_hangup(server->net, on_hangup, server);
	net_on_second(server->net, on_second, server);
	assert_int_equal(pipe(server->answers), 0);
	net_on_web_answer(server->net, on_web_answer, server);
	assert_int_equal(net_listen(server->net, "127.0.0.1", "0", &error), 0);
	assert_int_equal(net_control(server->net, server->control, &error), 0);
	server->port = net_address(server->net, 0, address);
	assert_true(server->port > 0);
	assert_int_equal(pthread_create(&server->thread, NULL, run, server), 0);
	*state = server;
	return 0;
}

static void join(struct server *server)
{
	(void)pthread_join(server->thread, NULL);
	server->is_joined = true;
}

static int stop(void **state)
{
	struct server *server = *state;

	if (!server->is_joined) {
		net_stop(server->net);
		join(server);
	}
	assert_int_equal(net_free(server->net), 0);
	store_close(server->store);
	(void)close(server->answers[0]);
	(void)close(server->answers[1]);
	assert_int_equal(access(server->control, F_OK), -1);
	assert_int_equal(rmdir(server->folder), 0);
	free(server);
	return 0;
}

/* ---- clients ---- */

static void set_timeout(int fd)
{
	const struct timeval wait = { .tv_sec = WAIT_S };

	assert_int_equal(
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)),
		0);
}

/* A socket that may yet be connected; -1 where there is no descriptor. */
static int socket_new(int receive_bytes)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	if (receive_bytes > 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_bytes,
				 sizeof(receive_bytes));
	set_timeout(fd);
	return fd;
}

static void connect_to(const struct server *server, int fd)
{
	struct sockaddr_in address = { .sin_family = AF_INET };

	address.sin_port = htons((uint16_t)server->port);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(
		connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
}

static int try_connect(const struct server *server, int receive_bytes)
{
	int fd = socket_new(receive_bytes);

	if (fd >= 0)
		connect_to(server, fd);
	return fd;
}

static struct client *client_new(const struct server *server)
{
	struct client *client = calloc(1, sizeof(*client));

	assert_non_null(client);
	client->fd = try_connect(server, 0);
	assert_true(client->fd >= 0);
	return client;
}

static void client_free(struct client *client)
{
	(void)close(client->fd);
	free(client);
}

static void say(struct client *client, const char *text)
{
	size_t len = strlen(text);

	assert_int_equal(send(client->fd, text, len, MSG_NOSIGNAL), len);
}

/* Read on; false at the end of the stream. */
static bool more(struct client *client)
{
	ssize_t count = recv(client->fd, client->text + client->len,
			     TEXT_BYTES - 1 - client->len, 0);

	if (count < 0 && errno == ECONNRESET)
		count = 0;
	if (count < 0)
		fail_msg("nothing comes for %s; so far: %s", client->wanted,
			 client->text);
	client->len += (size_t)count;
	client->text[client->len] = '\0';
	return count > 0;
}

/* Wait for a line that begins with START; what came before it is dropped. */
static char *expect(struct client *client, const char *start)
{
	static char line[TEXT_BYTES];
	size_t start_len = strlen(start);

	client->wanted = start;
	for (;;) {
		char *end = memchr(client->text, '\n', client->len);
		size_t len;

		if (end == NULL) {
			if (!more(client))
				fail_msg("the link ended before \"%s\": %s",
					 start, client->text);
			continue;
		}
		len = (size_t)(end - client->text);
		memcpy(line, client->text, len);
		line[len] = '\0';
		client->len -= len + 1;
		memmove(client->text, end + 1, client->len + 1);
		if (strncmp(line, start, start_len) == 0)
			return line;
	}
}

static void expect_end(struct client *client)
{
	do {
		client->len = 0;
	} while (more(client));
}

static void login(const struct server *server, struct client *client)
{
	char text[300];

	(void)snprintf(text, sizeof(text), "@login crazy %s\n", server->token);
	say(client, text);
	(void)expect(client, "@welcome crazy");
}

static unsigned long long ready_on(struct client *client, const char *ladder)
{
	unsigned long long id;
	char text[64];

	(void)snprintf(text, sizeof(text), "@play %s\n", ladder);
	say(client, text);
	assert_int_equal(sscanf(expect(client, "@match "), "@match %llu", &id),
			 1);
	(void)snprintf(text, sizeof(text), "@ready %llu\n", id);
	say(client, text);
	(void)expect(client, "@file t.map lines=");
	(void)expect(client, "@args t.map ");
	(void)expect(client, "@start ");
	return id;
}

static unsigned long long ready(struct client *client)
{
	return ready_on(client, "rabbit-runner");
}

static unsigned count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	assert_non_null(dir);
	while (readdir(dir) != NULL)
		count++;
	(void)closedir(dir);
	return count;
}

/* The server's end of CLIENT's link. */
static int server_end(const struct client *client)
{
	struct sockaddr_in mine = { 0 }, peer;
	socklen_t len = sizeof(mine);

	assert_int_equal(
		getsockname(client->fd, (struct sockaddr *)&mine, &len), 0);
	for (int fd = 0; fd < 1024; fd++) {
		len = sizeof(peer);
		if (fd != client->fd &&
		    getpeername(fd, (struct sockaddr *)&peer, &len) == 0 &&
		    len == sizeof(peer) && peer.sin_family == AF_INET &&
		    peer.sin_port == mine.sin_port)
			return fd;
	}
	fail_msg("the server has no such link");
	return -1;
}

/* ---- tests ---- */

static void greets_and_answers_byte_by_byte(void **state)
{
	struct client *client = client_new(*state);
	static const char text[] = "@help\r\n";

	(void)expect(client, "@hill 1 test.host");
	for (size_t i = 0; i < sizeof(text) - 1; i++)
		assert_int_equal(send(client->fd, text + i, 1, 0), 1);
	(void)expect(client, "@help");
	client_free(client);
}

static void serves_the_lines_of_a_half_closed_link(void **state)
{
	struct client *client = client_new(*state);

	(void)expect(client, "@hill 1 ");
	say(client, "@help\n");
	assert_int_equal(shutdown(client->fd, SHUT_WR), 0);
	(void)expect(client, "@help");
	expect_end(client);
	client_free(client);
}

static void plays_a_match_to_the_disk(void **state)
{
	struct server *server = *state;
	struct client *client = client_new(server);
	struct store_error error;
	struct row_match match;
	unsigned long long id;

	login(server, client);
	id = ready(client);
	for (int turn = 3; turn > 0; turn--) {
		char wanted[32];

		(void)snprintf(wanted, sizeof(wanted), "turnsleft %d", turn);
		(void)expect(client, wanted);
		say(client, "move\n");
	}
	/*
	 * The connection is offered its next match meanwhile, before or after
	 * the result.
	 */
	say(client, "@leave\n");
	(void)expect(client, "@end ");
	(void)expect(client, "@place ");
	(void)expect(client, "@result ");
	assert_int_equal(
		store_match(server->store, (int64_t)id, &match, &error), 0);
	assert_int_equal(match.status, ROW_MATCH_STORED);
	assert_string_equal(match.seats[0].bot, "crazy");
	assert_string_equal(match.seats[0].reason, "finished");
	client_free(client);
}

static void resets_leave_no_descriptor(void **state)
{
	struct server *server = *state;
	struct client *witness = client_new(server);
	const struct linger linger = { .l_onoff = 1, .l_linger = 0 };
	unsigned before;

	(void)expect(witness, "@hill");
	before = count_fds();
	for (int i = 0; i < 200; i++) {
		struct client *client = client_new(server);

		if (i % 2 == 0)
			login(server, client);
		if (i % 4 == 0)
			(void)ready(client);
		assert_int_equal(setsockopt(client->fd, SOL_SOCKET, SO_LINGER,
					    &linger, sizeof(linger)),
				 0);
		client_free(client);
	}
	/* Each answer is a turn of the loop: soon all of them are reaped. */
	for (int i = 0; i < 1000 && count_fds() > before; i++) {
		say(witness, "@help\n");
		(void)expect(witness, "@help");
	}
	assert_int_equal(count_fds(), before);
	client_free(witness);
}

static void drops_who_does_not_read(void **state)
{
	struct server *server = *state;
	struct client *other = client_new(server);
	int fd = try_connect(server, 4096);
	static char flood[60000];
	ssize_t count;

	for (size_t i = 0; i + 6 <= sizeof(flood); i += 6)
		memcpy(flood + i, "@help\n", 6);
	assert_true(fd >= 0);
	/* Sends until the server has had enough: reset or closed. */
	do {
		count = send(fd, flood, sizeof(flood) - sizeof(flood) % 6,
			     MSG_NOSIGNAL | MSG_DONTWAIT);
		say(other, "@help\n");
		(void)expect(other, "@help");
	} while (count > 0 || errno == EAGAIN);
	assert_true(errno == EPIPE || errno == ECONNRESET);
	(void)close(fd);
	client_free(other);
}

static void rests_without_descriptors(void **state)
{
	enum { WAITING = 20 };
	struct server *server = *state;
	struct client *player = client_new(server);
	int fds[WAITING];
	struct rlimit before, tight;
	unsigned ngreeted = 0;
	char byte;

	login(server, player);
	(void)ready(player);
	(void)expect(player, "turnsleft 3");
	/* Both ends are of this process: the clients' come first. */
	for (int i = 0; i < WAITING; i++) {
		fds[i] = socket_new(0);
		assert_true(fds[i] >= 0);
	}
	/* Room for hardly any of the server's ends. */
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	tight = before;
	tight.rlim_cur = (rlim_t)count_fds() + 5;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
	for (int i = 0; i < WAITING; i++)
		connect_to(server, fds[i]);
	/* Who plays plays on. */
	say(player, "move\n");
	(void)expect(player, "turnsleft 2");
	/* Some are not let in, and none of them is sent away. */
	for (int i = 0; i < WAITING; i++) {
		ssize_t n = recv(fds[i], &byte, 1, MSG_DONTWAIT | MSG_PEEK);

		assert_true(n == 1 || (n < 0 && errno == EAGAIN));
		ngreeted += n == 1;
	}
	assert_true(ngreeted < WAITING / 2);
	for (int i = 0; i < WAITING / 2; i++)
		(void)close(fds[i]);
	/* There is room again: the others are greeted. */
	for (int i = WAITING / 2; i < WAITING; i++) {
		assert_int_equal(recv(fds[i], &byte, 1, 0), 1);
		assert_int_equal(byte, '@');
		(void)close(fds[i]);
	}
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	say(player, "move\n");
	(void)expect(player, "turnsleft 1");
	client_free(player);
}

/* The reply lies there while the loop does what it does once a second. */
static void time_that_a_turns_end_took_is_nobodys(void **state)
{
	struct server *server = *state;
	struct client *client = client_new(server);

	login(server, client);
	(void)ready_on(client, "quick");
	(void)expect(client, "turnsleft 3");
	say(client, "move\n");
	(void)expect(client, "turnsleft 2");
	(void)expect(client, "rabbits");
	atomic_store(&server->shall_hold, true);
	while (!atomic_load(&server->is_held))
		nap();
	say(client, "move\n");
	for (unsigned i = 0; i < 500; i++)
		nap();
	atomic_store(&server->shall_hold, false);
	/* Else the bank would have paid. */
	assert_string_equal(expect(client, ""), "turnsleft 1");
	client_free(client);
}

static void a_changed_dead_peer_time_is_for_new_links(void **state)
{
	struct server *server = *state;
	struct client *client;
	unsigned ms = 0;
	socklen_t len = sizeof(ms);

	server->settings.lobby.host = "test.host";
	server->settings.dead_peer_ms = 7000;
	assert_int_equal(kill(getpid(), SIGHUP), 0);
	while (!atomic_load(&server->is_hung_up))
		nap();
	client = client_new(server);
	(void)expect(client, "@hill");
	assert_int_equal(getsockopt(server_end(client), IPPROTO_TCP,
				    TCP_USER_TIMEOUT, &ms, &len),
			 0);
	assert_int_equal(ms, 7000);
	client_free(client);
}

static void a_drain_sends_what_waits_for_a_slow_reader(void **state)
{
	static const int bytes = 4096;
	struct server *server = *state;
	struct client *slow = calloc(1, sizeof(*slow));
	struct client *witness = client_new(server);
	bool is_told = false;

	assert_non_null(slow);
	slow->fd = try_connect(server, bytes);
	assert_true(slow->fd >= 0);
	(void)expect(slow, "@hill");
	assert_int_equal(setsockopt(server_end(slow), SOL_SOCKET, SO_SNDBUF,
				    &bytes, sizeof(bytes)),
			 0);
	for (unsigned i = 0; i < 60; i++) {
		say(slow, "@help\n");
		say(witness, "@help\n");
		(void)expect(witness, "@help : @quit");
	}
	assert_int_equal(kill(getpid(), SIGTERM), 0);
	(void)expect(witness, "@error shutdown");
	client_free(witness);
	/* All of it is more than `text` holds: only the end is kept. */
	while (more(slow)) {
		is_told |= strstr(slow->text, "@error shutdown") != NULL;
		if (slow->len > TEXT_BYTES / 2) {
			memmove(slow->text, slow->text + slow->len - 64, 64);
			slow->len = 64;
		}
	}
	assert_true(is_told);
	client_free(slow);
	join(server);
	assert_int_equal(server->rc, 0);
}

static void abandons_at_sigterm(void **state)
{
	struct server *server = *state;
	struct client *client = client_new(server);

	login(server, client);
	(void)ready(client);
	(void)expect(client, "turnsleft 3");
	assert_int_equal(kill(getpid(), SIGTERM), 0);
	assert_non_null(strstr(expect(client, "@end "), "reason=abandoned"));
	(void)expect(client, "@void ");
	expect_end(client);
	join(server);
	assert_int_equal(server->rc, 0);
	client_free(client);
}

static void serves_the_control_socket(void **state)
{
	struct server *server = *state;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct client *bot = client_new(server);
	struct client *host = calloc(1, sizeof(*host));
	json_t *reply;
	char text[300];

	assert_non_null(host);
	host->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s",
		       server->control);
	assert_int_equal(
		connect(host->fd, (struct sockaddr *)&address, sizeof(address)),
		0);
	set_timeout(host->fd);
	/* Two commands at once are answered in order. */
	say(host, "{\"command\": \"bot add\", \"name\": \"second\", "
		  "\"owner\": \"bob\"}\n{\"command\": \"status\"}\n");
	reply = json_loads(expect(host, "{"), 0, NULL);
	assert_true(json_is_true(json_object_get(reply, "ok")));
	(void)snprintf(text, sizeof(text), "@login second %s\n",
		       json_string_value(json_object_get(reply, "token")));
	json_decref(reply);
	reply = json_loads(expect(host, "{"), 0, NULL);
	assert_int_equal(
		json_integer_value(json_object_get(
			json_object_get(reply, "server"), "connections")),
		1);
	json_decref(reply);
	/* The lobby knows the new bot. */
	say(bot, text);
	(void)expect(bot, "@welcome second");
	say(host, "nonsense\n");
	reply = json_loads(expect(host, "{"), 0, NULL);
	assert_true(json_is_false(json_object_get(reply, "ok")));
	json_decref(reply);
	say(host, "{\"command\": \"drain\"}\n");
	(void)expect(host, "{\"ok\": true}");
	expect_end(bot);
	join(server);
	client_free(bot);
	client_free(host);
}

/* Ask what the web asks, of crazy's token; the status of the answer. */
static int status_of(const struct server *server, const char *what,
		     const char *address)
{
	struct pollfd fd = { .fd = server->answers[0], .events = POLLIN };
	char *text = NULL, reply[4096];
	ssize_t len;
	json_t *answer;
	int status;

	assert_true(asprintf(&text,
			     "{\"do\":\"%s\",\"bot\":\"crazy\",\"name\":\"x\","
			     "\"token\":\"hill_wrong\",\"address\":\"%s\"}",
			     what, address) > 0);
	net_web_ask(server->net, 1, text, strlen(text));
	assert_int_equal(poll(&fd, 1, WAIT_S * 1000), 1);
	len = read(server->answers[0], reply, sizeof(reply));
	assert_true(len > 0 && reply[len - 1] == '\n');
	answer = json_loadb(reply, (size_t)len, 0, NULL);
	status = (int)json_integer_value(json_object_get(answer, "status"));
	json_decref(answer);
	return status;
}

/* Three an hour and address, tries for new tokens and to register together. */
static void the_webs_new_tokens_are_bounded_by_address(void **state)
{
	const struct server *server = *state;

	assert_int_equal(status_of(server, "rotate", "10.0.0.1"), 401);
	assert_int_equal(status_of(server, "register", "10.0.0.1"), 422);
	assert_int_equal(status_of(server, "rotate", "::ffff:10.0.0.1"), 401);
	assert_int_equal(status_of(server, "rotate", "10.0.0.1"), 429);
	assert_int_equal(status_of(server, "register", "10.0.0.1"), 429);
	assert_int_equal(status_of(server, "rotate", "10.0.0.2"), 401);
	/* Addresses with a scope are one. */
	assert_int_equal(status_of(server, "rotate", "fe80::1%eth0"), 401);
	assert_int_equal(status_of(server, "rotate", "fe80::2%eth0"), 401);
	assert_int_equal(status_of(server, "rotate", "fe80::1%eth1"), 401);
	assert_int_equal(status_of(server, "rotate", "fe80::1%eth0"), 429);
	assert_int_equal(status_of(server, "rotate", "fe80::1"), 401);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(greets_and_answers_byte_by_byte,
						start, stop),
		cmocka_unit_test_setup_teardown(
			serves_the_lines_of_a_half_closed_link, start, stop),
		cmocka_unit_test_setup_teardown(plays_a_match_to_the_disk,
						start, stop),
		cmocka_unit_test_setup_teardown(resets_leave_no_descriptor,
						start, stop),
		cmocka_unit_test_setup_teardown(drops_who_does_not_read, start,
						stop),
		cmocka_unit_test_setup_teardown(rests_without_descriptors,
						start, stop),
		cmocka_unit_test_setup_teardown(
			time_that_a_turns_end_took_is_nobodys, start, stop),
		cmocka_unit_test_setup_teardown(
			a_changed_dead_peer_time_is_for_new_links, start, stop),
		cmocka_unit_test_setup_teardown(
			a_drain_sends_what_waits_for_a_slow_reader, start,
			stop),
		cmocka_unit_test_setup_teardown(abandons_at_sigterm, start,
						stop),
		cmocka_unit_test_setup_teardown(serves_the_control_socket,
						start, stop),
		cmocka_unit_test_setup_teardown(
			the_webs_new_tokens_are_bounded_by_address, start,
			stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
