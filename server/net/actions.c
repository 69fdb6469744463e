/* SPDX-License-Identifier: MIT */
/* actions.c - the lobby decides, this does it. */
#include <errno.h>
#include <stdlib.h>

#include "server/base/clock.h"
#include "server/match/record.h"
#include "server/net/net_internal.h"
#include "server/store/store.h"

static void hold(struct net *net, struct match_record *record_take)
{
	if (net->nheld == net->held_cap) {
		net->held_cap = net->held_cap == 0 ? 64 : net->held_cap * 2;
		net->held = xreallocarray(net->held, net->held_cap,
					  sizeof(net->held[0]));
	}
	net->held[net->nheld++] = record_take;
}

/*
 * Results go in order: what a full queue refused goes first. The lobby starts
 * no match while many wait, so this list is bounded by it.
 */
static void put_record(struct net *net, struct match_record *record_take)
{
	figures_record(&net->figures, record_take);
	if (net->nheld > 0 || store_put(net->store, record_take) < 0)
		hold(net, record_take);
}

void net_put_held(struct net *net)
{
	size_t count = 0;

	while (count < net->nheld &&
	       store_put(net->store, net->held[count]) == 0)
		count++;
	if (count == 0)
		return;
	net->nheld -= count;
	for (size_t i = 0; i < net->nheld; i++)
		net->held[i] = net->held[i + count];
}

static void send_lines(struct net *net, const struct lobby_action *action)
{
	figures_lines(&net->figures, action->bytes, action->len);
	if (action->starts_clock)
		lobby_clock_started(net->lobby, action->peer, clock_now_us());
	conn_send(action->conn, action->bytes, action->len);
}

/* Who waits for a result that cannot be stored is the only one left. */
static void end_drained(struct net *net)
{
	struct conn *conn, *next;

	net->is_drained = true;
	for (conn = LIST_FIRST(&net->conns); conn != NULL; conn = next) {
		next = LIST_NEXT(conn, link);
		conn_close(conn, "shutdown");
	}
}

static void act(struct net *net, const struct lobby_action *action)
{
	switch (action->kind) {
	case LOBBY_SEND:
		send_lines(net, action);
		break;
	case LOBBY_SEND_BLOCK:
		conn_send_block(action->conn, action->block, action->bytes,
				action->len);
		break;
	case LOBBY_CLOSE:
		conn_close(action->conn, action->reason);
		break;
	case LOBBY_PAUSE:
		conn_pause(action->conn);
		break;
	case LOBBY_RESUME:
		conn_resume(action->conn);
		break;
	case LOBBY_READ:
		conn_read_all(action->conn);
		break;
	case LOBBY_WATCH_FILES:
		conn_watch_files(action->conn, clock_now_us());
		break;
	case LOBBY_SAMPLE_RTT:
		conn_sample_rtt(action->conn);
		break;
	case LOBBY_STORE:
		put_record(net, action->record);
		break;
	case LOBBY_LOAD_MAP:
		net_load_map(net, action->map_id);
		break;
	case LOBBY_MAKE_MAP:
		net_make_map(net, action);
		break;
	case LOBBY_RUN_MATCH:
		net_run_match(net, action->play);
		break;
	case LOBBY_RESERVE_IDS:
		store_ask_ids(net->store);
		break;
	case LOBBY_ASK:
		net_ask(net, action->ask);
		break;
	case LOBBY_CLOSE_ROUND:
		store_close_round(net->store, action->round_id, action->bytes,
				  action->is_void);
		break;
	case LOBBY_LOG:
		log_line(action->level, "%.*s", (int)action->len,
			 action->bytes);
		break;
	case LOBBY_DRAINED:
		end_drained(net);
		break;
	case LOBBY_NACTIONS:
		break;
	}
}

void net_act(struct net *net)
{
	struct lobby_action action;

	/* What an action leads to is queued: one loop carries out all. */
	if (net->is_acting)
		return;
	net->is_acting = true;
	while (lobby_next_action(net->lobby, &action))
		act(net, &action);
	net->is_acting = false;
}
