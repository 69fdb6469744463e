/* SPDX-License-Identifier: MIT */
/*
 * loop.c - turns, deadlines, signals, the store's events.
 *
 * A turn: wait for events and run their callbacks (event_base_loop, once);
 * then what is due by now: last reads and verdicts, connections that stall;
 * then free what died. The next deadline sits in one timerfd, to the
 * microsecond. It is armed lazily: while it fires no later than the next
 * deadline it is left alone, and a wake-up that was too early does no harm.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "server/base/clock.h"
#include "server/match/record.h"
#include "server/net/link.h"
#include "server/net/net_internal.h"
#include "server/store/store.h"

enum {
	TICK_US = 1000000, /* the once-a-second round */
	PLAY_US = 50000,  /* while clocks run, wake up so often at least: ... */
	STALL_US = 20000, /* ... what is later than this was lost by us */
	SECOND_BYTES = 1024 * 1024,
};

int net_fail(struct net_error *error, int rc, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return rc;
}

/* ---- time ---- */

/* No bot pays for the LOST_US before NOW_US. */
static void credit(struct net *net, int64_t lost_us, int64_t now_us)
{
	if (lost_us < STALL_US)
		return;
	lobby_stalled(net->lobby, lost_us, now_us);
	net_act(net);
}

static void count_lag(struct net *net, int64_t lag_us)
{
	metrics_count(&net->figures.lag, lag_us);
	if (lag_us > net->lag_us)
		net->lag_us = lag_us;
}

static void note_lag(struct net *net, int64_t lag_us, int64_t now_us)
{
	count_lag(net, lag_us);
	credit(net, lag_us, now_us);
}

/* What this turn has lost is credited before the next reply gets its time. */
static void credit_turn(struct net *net, int64_t now_us)
{
	int64_t lost_us = now_us - net->turn_us;

	if (lost_us < STALL_US)
		return;
	net->turn_us = now_us;
	net->credited_us += lost_us;
	credit(net, lost_us, now_us);
}

void net_turn_began(struct net *net)
{
	int64_t now_us = clock_now_us();

	if (net->turn_us != 0) {
		credit_turn(net, now_us);
		return;
	}
	net->turn_us = now_us;
	/* We slept past our own alarm: somebody held us. */
	if (net->armed_us != 0 && now_us > net->armed_us) {
		note_lag(net, now_us - net->armed_us, now_us);
		net->armed_us = 0;
	}
}

static int64_t next_deadline(const struct net *net, int64_t now_us)
{
	int64_t lobby_us = lobby_deadline(net->lobby);
	int64_t next_us = net->tick_us;

	if (lobby_us != INT64_MAX && now_us + PLAY_US < next_us)
		next_us = now_us + PLAY_US;
	if (lobby_us < next_us)
		next_us = lobby_us;
	if (heap_first_key(&net->timers) < next_us)
		next_us = heap_first_key(&net->timers);
	if (heap_first_key(&net->watches) < next_us)
		next_us = heap_first_key(&net->watches);
	return next_us;
}

/* See that we wake up for the next deadline; false: it is due already. */
static bool arm(struct net *net, int64_t now_us)
{
	int64_t next_us = next_deadline(net, now_us);
	struct itimerspec when = { 0 };

	if (next_us <= now_us)
		return false;
	if (net->armed_us > now_us && net->armed_us <= next_us)
		return true;
	when.it_value.tv_sec = (time_t)(next_us / 1000000);
	when.it_value.tv_nsec = (long)(next_us % 1000000) * 1000;
	if (timerfd_settime(net->timer_fd, TFD_TIMER_ABSTIME, &when, NULL) < 0)
		return false;
	net->armed_us = next_us;
	return true;
}

/* Hand over what the second brought. */
static void tell_second(struct net *net)
{
	struct net_figures *figures = &net->figures;
	struct buf live = BUF_INIT(SECOND_BYTES);
	struct buf metrics = BUF_INIT(SECOND_BYTES);
	struct net_second second;

	figures_live(net, &live);
	figures_text(net, &metrics);
	second.live = buf_detach(&live);
	second.metrics = buf_detach(&metrics);
	second.store_trouble =
		net->store_trouble == NULL ? NULL : xstrdup(net->store_trouble);
	second.saved = figures->saved;
	second.nsaved = figures->nsaved;
	figures->saved = NULL;
	figures->nsaved = figures->saved_cap = 0;
	net->second(net->second_arg, &second);
}

void net_on_second(struct net *net,
		   void (*fn)(void *arg, struct net_second *second_take),
		   void *arg)
{
	net->second = fn;
	net->second_arg = arg;
}

static void tick(struct net *net, int64_t now_us)
{
	lobby_loop_lag(net->lobby, net->lag_us, now_us);
	net_act(net);
	net->lag_us = 0;
	net->tick_us = now_us + TICK_US;
	listeners_wake(net);
	control_wake(net->control);
	net_put_held(net);
	net_do_planned(net);
	if (net->second != NULL)
		tell_second(net);
}

/* All that time has brought. */
static void expire(struct net *net)
{
	int64_t now_us = clock_now_us(), end_us;

	if (net->turn_us != 0) {
		count_lag(net, net->credited_us + now_us - net->turn_us);
		credit(net, now_us - net->turn_us, now_us);
	}
	net->turn_us = 0;
	net->credited_us = 0;
	if (net->armed_us != 0 && net->armed_us <= now_us)
		net->armed_us = 0;
	if (lobby_deadline(net->lobby) <= now_us) {
		lobby_last_reads(net->lobby, now_us);
		net_act(net);
		lobby_expire(net->lobby, now_us);
		net_act(net);
	}
	conns_expire(net, now_us);
	if (net->tick_us <= now_us)
		tick(net, now_us);
	net_reap(net);
	/* What came meanwhile has waited for us as well. */
	end_us = clock_now_us();
	if (end_us - now_us >= STALL_US) {
		note_lag(net, end_us - now_us, end_us);
		/* An alarm of that time is not late once more. */
		if (net->armed_us != 0 && net->armed_us <= end_us)
			net->armed_us = 0;
	}
}

/*
 * Stopped; or drained, and all has been answered, too, and is with those who
 * asked: a connection that closes has a bounded time for it.
 */
static bool is_over(const struct net *net)
{
	return net->is_done || (net->is_drained && net->nwriting == 0 &&
				LIST_EMPTY(&net->conns));
}

int net_run(struct net *net)
{
	net->tick_us = clock_now_us();
	net_act(net);
	while (!is_over(net)) {
		/* Without ONCE, NONBLOCK goes on while there are events. */
		int flags = EVLOOP_ONCE;

		if (!arm(net, clock_now_us()))
			flags |= EVLOOP_NONBLOCK;
		if (event_base_loop(net->base, flags) < 0)
			return -EIO;
		expire(net);
	}
	net_end_jobs(net);
	control_flush(net->control);
	return 0;
}

/* ---- callbacks ---- */

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct net *net = arg;
	uint64_t count;

	(void)what;
	net_turn_began(net);
	if (read(fd, &count, sizeof(count)) < 0)
		return; /* set again meanwhile */
}

static void on_done(evutil_socket_t fd, short what, void *arg)
{
	struct net *net = arg;

	(void)fd;
	(void)what;
	net_turn_began(net);
	net_finish_jobs(net);
}

static void on_ask(evutil_socket_t fd, short what, void *arg)
{
	struct net *net = arg;

	(void)fd;
	(void)what;
	net_turn_began(net);
	net_take_web_asks(net);
}

static void on_stop(evutil_socket_t fd, short what, void *arg)
{
	struct net *net = arg;

	(void)fd;
	(void)what;
	net->is_done = true;
}

void net_stop(struct net *net)
{
	const uint64_t one = 1;
	ssize_t count = write(net->stop_fd, &one, sizeof(one));

	(void)count; /* a full counter is readable as well */
}

/*
 * The store cannot write because of WHY; NULL: it can. Whoever asks for the
 * health of the server need not learn where the database is.
 */
static void note_trouble(struct net *net, const char *why)
{
	const char *path = store_path(net->store);
	size_t len = strlen(path);

	free(net->store_trouble);
	net->store_trouble = NULL;
	if (why == NULL)
		return;
	if (strncmp(why, path, len) == 0 && strncmp(why + len, ": ", 2) == 0)
		why += len + 2;
	net->store_trouble = xstrdup(why);
}

static void store_event(struct net *net, const struct store_event *event)
{
	int64_t now_us = clock_now_us();
	char text[LOG_QUOTE_BYTES];

	switch (event->kind) {
	case STORE_CLOSED:
		lobby_round_closed(net->lobby, event->id, event->closing,
				   now_us);
		break;
	case STORE_SAVED:
		if (event->closing != NULL)
			lobby_round_closed(net->lobby, event->closing->round_id,
					   event->closing, now_us);
		if (net->second != NULL)
			figures_saved(&net->figures, event->id);
		lobby_stored(net->lobby, event->id, now_us);
		break;
	case STORE_REFUSED:
		log_error("match=%lld event=refused reason=%s",
			  (long long)event->id,
			  log_quote(text, sizeof(text), event->text,
				    strlen(event->text)));
		lobby_store_refused(net->lobby, event->id, now_us);
		break;
	case STORE_IDS:
		lobby_ids(net->lobby, event->ids.first, event->ids.count,
			  now_us);
		break;
	case STORE_TROUBLED:
		note_trouble(net, event->text);
		lobby_store_trouble(net->lobby, event->text, now_us);
		break;
	case STORE_RECOVERED:
		note_trouble(net, NULL);
		lobby_store_trouble(net->lobby, NULL, now_us);
		break;
	case STORE_NEVENTS:
		break;
	}
	net_act(net);
}

static void on_store(evutil_socket_t fd, short what, void *arg)
{
	struct net *net = arg;
	struct store_event event;

	(void)fd;
	(void)what;
	net_turn_began(net);
	while (store_next_event(net->store, &event)) {
		store_event(net, &event);
		free(event.closing);
	}
	if (net->nheld > 0)
		net_put_held(net);
}

void net_drain(struct net *net, const char *why)
{
	int64_t now_us = clock_now_us();

	if (net->is_draining) {
		log_warn("event=stopped by=%s", why);
		net->is_done = true;
		return;
	}
	log_info("event=draining by=%s ms=%u", why, net->settings.drain_ms);
	net->is_draining = true;
	for (unsigned i = 0; i < net->nlisteners; i++)
		listener_free(net->listeners[i]);
	net->nlisteners = 0;
	lobby_drain(net->lobby, now_us + (int64_t)net->settings.drain_ms * 1000,
		    now_us);
	net_act(net);
}

static void on_signal(evutil_socket_t number, short what, void *arg)
{
	struct net *net = arg;

	(void)what;
	net_turn_began(net);
	if (number != SIGHUP)
		net_drain(net, number == SIGTERM ? "SIGTERM" : "SIGINT");
	else if (net->hangup != NULL)
		net->hangup(net->hangup_arg);
}

/* ---- the catalogue ---- */

void net_set_catalogue(struct net *net, struct row_catalogue *rows_take)
{
	/* Workers may bring what they have read out of turn. */
	if (rows_take->serial < net->rows.serial) {
		row_catalogue_release(rows_take);
		return;
	}
	row_catalogue_release(&net->rows);
	net->rows = *rows_take;
	*rows_take = (struct row_catalogue){ 0 };
	lobby_catalogue_replace(net->lobby, &net->rows, clock_now_us());
	net_act(net);
}

int net_read_rows(struct store *store, bool wants_roads,
		  struct row_catalogue *ret, struct store_error *error)
{
	int rc = store_catalogue(store, ret, error);

	if (rc < 0)
		return rc;
	rc = store_ratings(store, ret, error);
	if (rc == 0 && wants_roads)
		rc = store_roads(store, ret, error);
	if (rc < 0)
		row_catalogue_release(ret);
	return rc;
}

int net_reload(struct net *net)
{
	struct row_catalogue rows;
	struct store_error error;
	int rc = net_read_rows(net->store, true, &rows, &error);

	if (rc < 0) {
		log_error("event=catalogue_unread reason=\"%s\"", error.text);
		return rc;
	}
	net_set_catalogue(net, &rows);
	return 0;
}

/* ---- birth and death ---- */

static void set_settings(struct net *net, const struct net_settings *settings)
{
	unsigned fds = net_raise_descriptors();

	net->settings = *settings;
	net->settings.lobby.host = NULL; /* borrowed for the call only */
	net->peers_max =
		fds > 2 * NET_SPARE_FDS ? fds - NET_SPARE_FDS : NET_SPARE_FDS;
	/* A few more than the lobby takes, so that they can be told why. */
	if (net->settings.lobby.peers_max > net->peers_max - net->peers_max / 8)
		net->settings.lobby.peers_max =
			net->peers_max - net->peers_max / 8;
}

void net_configure(struct net *net, const struct net_settings *settings)
{
	set_settings(net, settings);
	/* New connections inherit them. */
	for (unsigned i = 0; i < net->nlisteners; i++)
		link_set_options(net->listeners[i]->fd, settings->dead_peer_ms);
	lobby_configure(net->lobby, &net->settings.lobby, clock_now_us());
	net_act(net);
}

void net_on_hangup(struct net *net, void (*fn)(void *arg), void *arg)
{
	net->hangup = fn;
	net->hangup_arg = arg;
}

static struct event *add_event(struct net *net, int fd, short what,
			       event_callback_fn fn)
{
	struct event *event =
		event_new(net->base, fd, what | EV_PERSIST, fn, net);

	if (event != NULL && event_add(event, NULL) < 0) {
		event_free(event);
		return NULL;
	}
	return event;
}

static int add_events(struct net *net)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP };

	net->timer_fd =
		timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	net->stop_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (net->timer_fd < 0 || net->stop_fd < 0)
		return -errno;
	net->timer_ev = add_event(net, net->timer_fd, EV_READ, on_timer);
	net->stop_ev = add_event(net, net->stop_fd, EV_READ, on_stop);
	net->done_ev = add_event(net, mailbox_fd(&net->done), EV_READ, on_done);
	net->asks_ev = add_event(net, mailbox_fd(&net->asks), EV_READ, on_ask);
	net->store_ev = add_event(net, store_fd(net->store), EV_READ, on_store);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		net->signal_ev[i] =
			add_event(net, signals[i], EV_SIGNAL, on_signal);
		if (net->signal_ev[i] == NULL)
			return -ENOMEM;
	}
	if (net->timer_ev == NULL || net->stop_ev == NULL ||
	    net->done_ev == NULL || net->store_ev == NULL ||
	    net->asks_ev == NULL)
		return -ENOMEM;
	return 0;
}

static struct event_base *new_base(void)
{
	struct event_config *config = event_config_new();
	struct event_base *base = NULL;

	if (config == NULL)
		return NULL;
	/* One thread uses it: no locks. Deadlines are not libevent's. */
	if (event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK) == 0)
		base = event_base_new_with_config(config);
	event_config_free(config);
	return base;
}

static int start_pools(struct net *net, unsigned workers)
{
	int rc = 0;

	for (unsigned i = 0; i < NET_NPOOLS && rc == 0; i++)
		rc = pool_new(&net->pools[i], i == NET_COMPUTING ? workers : 1,
			      &net->done);
	return rc;
}

int net_new(struct net **ret, const struct net_settings *settings,
	    struct store *store, struct net_error *error)
{
	struct net *net = xcalloc(1, sizeof(*net));
	struct lobby_config first;
	int rc;

	LIST_INIT(&net->conns);
	LIST_INIT(&net->dead);
	net->timer_fd = -1;
	net->stop_fd = -1;
	net->store = store;
	set_settings(net, settings);
	rc = mailbox_init(&net->done, true);
	if (rc == 0) {
		rc = mailbox_init(&net->asks, true);
		if (rc < 0)
			mailbox_release(&net->done);
	}
	if (rc < 0) {
		free(net);
		return net_fail(error, rc, "mailbox: %s", strerror(-rc));
	}
	net->base = new_base();
	rc = net->base == NULL ? -ENOMEM : add_events(net);
	if (rc == 0)
		rc = start_pools(net, settings->workers);
	if (rc < 0) {
		(void)net_free(net);
		return net_fail(error, rc, "event loop: %s", strerror(-rc));
	}
	first = net->settings.lobby;
	first.host = settings->lobby.host;
	net->lobby = lobby_new(&first);
	rc = net_reload(net);
	if (rc < 0) {
		(void)net_free(net);
		return net_fail(error, rc, "the catalogue cannot be read: %s",
				strerror(-rc));
	}
	*ret = net;
	return 0;
}

static void free_events(struct net *net)
{
	struct event *events[] = { net->timer_ev,     net->stop_ev,
				   net->done_ev,      net->store_ev,
				   net->asks_ev,      net->signal_ev[0],
				   net->signal_ev[1], net->signal_ev[2] };

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		if (events[i] != NULL)
			event_free(events[i]);
	}
	if (net->timer_fd >= 0)
		(void)close(net->timer_fd);
	if (net->stop_fd >= 0)
		(void)close(net->stop_fd);
}

size_t net_free(struct net *net)
{
	size_t ndropped;

	if (net == NULL)
		return 0;
	/* First: a map or a match in a worker's hands belongs to the lobby. */
	net_end_jobs(net);
	control_free(net->control);
	for (unsigned i = 0; i < net->nlisteners; i++)
		listener_free(net->listeners[i]);
	net->nlisteners = 0;
	while (!LIST_EMPTY(&net->conns))
		conn_kill(LIST_FIRST(&net->conns), "shutdown");
	net_reap(net);
	lobby_free(net->lobby);
	/* The store's writer still runs; nobody was told of these. */
	net_put_held(net);
	ndropped = net->nheld;
	for (size_t i = 0; i < net->nheld; i++)
		match_record_free(net->held[i]);
	free(net->held);
	free(net->store_trouble);
	heap_release(&net->timers);
	heap_release(&net->watches);
	row_catalogue_release(&net->rows);
	net_drop_web_asks(net);
	mailbox_release(&net->asks);
	mailbox_release(&net->done);
	figures_release(&net->figures);
	free_events(net);
	if (net->base != NULL) {
		/*
		 * A bufferevent is freed by a callback of its base. No event
		 * of ours is left that this could call.
		 */
		(void)event_base_loop(net->base, EVLOOP_NONBLOCK);
		event_base_free(net->base);
	}
	free(net);
	return ndropped;
}
