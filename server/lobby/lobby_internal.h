/* SPDX-License-Identifier: MIT */
/*
 * lobby_internal.h - the lobby's own structs; for its files and its tests.
 *
 * How a match comes about, by file:
 *
 *	login.c    @login: a peer becomes one of a bot's connections
 *	waiting.c  @play: the peer gets an entry in the ladder's queue
 *	start.c    enough wait: the ladder's next instance (instance.c), its
 *	           map (maps.c), memory and an id are there: an offer
 *	play.c     lines and time go to the match, what it says to its seats
 *	results.c  the record goes to the store; once it is on disk, seats
 *	           hear of it, perhaps during a later match; the play is freed
 *
 * Everything that may let a ladder start calls start_touch(); start_pump() at
 * the end of each entry point looks at the ladders touched.
 */
#ifndef HILL_LOBBY_LOBBY_INTERNAL_H
#define HILL_LOBBY_LOBBY_INTERNAL_H

#include <sys/queue.h>

#include "server/base/buffer.h"
#include "server/base/heap.h"
#include "server/games/game.h"
#include "server/ladder/pairing.h"
#include "server/ladder/pairing_penalty.h"
#include "server/lobby/address.h"
#include "server/lobby/lobby.h"
#include "server/match/match.h"
#include "server/session/session.h"
#include "server/store/rows.h"

/* What unrated matches of a peer are to be: unrated.c. */
struct wish {
	int64_t map_id;            /* 0: any */
	char seed[ROW_SEED_BYTES]; /* "": drawn */
	int64_t against_id;        /* the bot; 0: anybody who is willing */
	uint32_t turn_ms;          /* 0: the ladder's */
	uint32_t left;             /* matches; 0: no end */
	bool is_settled;           /* one is under way, or about to begin */
	int64_t absent_us;         /* since then the opponent is away; or 0 */
};

/* A ladder's place in a peer's plans: from @play until @leave or the end. */
struct waiting {
	struct lobby_peer *peer;
	struct ladder *ladder;
	uint64_t ticket;            /* lower is earlier */
	int64_t since_us;           /* when it began to wait ... */
	uint64_t since_set;         /* ... before which set of the ladder */
	bool is_told_idle;          /* that there is nothing to play just now */
	struct waiting *next;       /* of the same peer */
	TAILQ_ENTRY(waiting) queue; /* in ladder->queue while is_queued */
	bool is_queued;             /* not while its peer is in a match */
	bool is_any;                /* plays unrated with who asks, too */
	bool is_appointed;          /* an appointment has a seat for it alone */
	uint8_t lender;             /* lend.c's, during one look */
	struct wish *wish;          /* owned; NULL: the ladder's own matches */
};

TAILQ_HEAD(waiting_queue, waiting);
TAILQ_HEAD(peer_list, lobby_peer);
LIST_HEAD(told_list, play_seat);

/* How far one has come in a row of instances. */
struct road {
	uint64_t next;
	/* Given back by cancelled offers, or left behind by a crash. */
	uint64_t again[ROW_ROAD_AGAIN_MAX];
	unsigned nagain;
};

enum { COMPARISONS_MAX = 4 };

/* Of a bot's candidate and its active version on a ladder: candidate.c. */
struct comparison {
	int64_t candidate_id, predecessor_id;
	size_t count; /* of instances */
	double mean, squares;
};

/* How far a bot has come on a ladder, and how it fared since the start. */
struct standing {
	int64_t ladder_id;
	struct road road; /* on ladders of solo games with seeds in order */
	uint32_t matches;
	uint32_t firsts;  /* of shared matches: alone or shared first place */
	double best, sum; /* of scores */
	struct pairing_penalty penalty;
	struct comparison comparisons[COMPARISONS_MAX]; /* the last first */
	struct standing *link;
};

struct bot {
	int64_t id;
	int64_t owner_id;
	int64_t version_id; /* the active one; a peer's may be another */
	uint32_t version;
	int64_t predecessor_id; /* the version before the active one, or 0 */
	uint32_t max_connections;
	uint32_t npeers;
	/*
	 * Peers, seats of plays, appointments, sets and duels that point here,
	 * and the catalogue.
	 */
	uint32_t refs;
	uint32_t nappointments; /* seats of them that name it */
	bool is_listed;         /* in the catalogue now */
	bool is_disabled;
	char *ban_reason; /* owned; what its author is told of it, or NULL */
	bool is_house;    /* the host's own */
	bool is_hidden;   /* who looks on is not told of it */
	uint32_t ntokens;
	uint8_t (*tokens)[ROW_HASH_BYTES]; /* owned */
	struct row_version *versions; /* owned: the active one, candidates */
	size_t nversions;
	struct bucket new_versions; /* asked for */
	struct bucket kept_seeds;   /* asked for, that are not to be had */
	struct peer_list peers;     /* oldest login first */
	struct standing *standings; /* owned */
	char name[LIMIT_NAME_BYTES + 1];
};

/* Why a ladder on which enough bots wait does not start. */
enum hold {
	HOLD_NONE,
	HOLD_SEATS, /* too few wait */
	HOLD_DRAIN,
	HOLD_STORE,
	HOLD_LAG,
	HOLD_ROOM, /* matches or memory */
	HOLD_IDS,
	HOLD_MAP,    /* being loaded */
	HOLD_BROKEN, /* no map of it can be played */
	HOLD_NKINDS
};

TAILQ_HEAD(appointment_list, appointment);
TAILQ_HEAD(round_list, open_round);
TAILQ_HEAD(set_list, set);

enum { FRESH_MAX = 4 };

/* Generated maps of a ladder that nobody has played on. */
struct fresh {
	int64_t ready[FRESH_MAX]; /* ids; the first is the next */
	unsigned nready;
	bool is_making;   /* a worker makes one */
	bool is_stale;    /* ... of presets that the ladder had before */
	int64_t retry_us; /* none is made before, after a failure */
};

struct ladder {
	struct row_ladder row; /* map_ids owned */
	const struct game *game;
	int64_t params[GAME_PARAMS_MAX];
	struct waiting_queue queue; /* by ticket */
	unsigned nqueued;
	unsigned nwaiting; /* entries, those of playing peers too */
	unsigned nwishes;  /* of these, with a wish */
	unsigned nplaying; /* matches offered or under way */
	unsigned refs;   /* plays, appointments, sets, duels that point here */
	bool is_known;   /* in the catalogue now */
	bool is_listed;  /* and can be played */
	bool is_touched; /* in lobby->touched */
	bool is_held;    /* in lobby->held */
	int64_t wake_us; /* look at it again then; INT64_MAX: no need */
	enum hold hold;
	struct appointment_list appointments; /* oldest first */
	struct round_list rounds;             /* owned; of round.c */
	unsigned nrounds;
	bool has_pairing;
	struct pairing pairing; /* of set.c, when has_pairing */
	struct road road; /* of all that is no solo game with seeds in order */
	/* That there were: other maps, presets or seeds, other roads. */
	uint32_t nroads;
	bool takes_roads;   /* those of the catalogue that is being read */
	struct fresh fresh; /* when it draws its maps */
	int64_t duels_us;   /* no duel of a candidate begins before */
	TAILQ_ENTRY(ladder) touch; /* in touched, or in held */
};

TAILQ_HEAD(ladder_list, ladder);

/* What one match is played on. */
struct instance {
	int64_t map_id;
	uint64_t number; /* on the road */
	uint32_t road;   /* ladder->nroads then */
	bool is_fresh;   /* its map is drawn for what counts for nothing */
	char seed[ROW_SEED_BYTES];
	char bot_seed[ROW_SEED_BYTES];
};

/* What became of a match that was settled beforehand. */
enum deal_end {
	DEAL_DROPPED,   /* never offered: a bot left, or no map, ... */
	DEAL_CANCELLED, /* not all seats said @ready */
	DEAL_VOID,      /* our fault; or abandoned, or not stored */
	DEAL_STORED,    /* and told */
	DEAL_NENDS
};

struct deal;
/*
 * DEAL came to END. AT_FAULT: a bit for each seat that was not there or not
 * ready (of DROPPED and CANCELLED; 0: nobody's). PLAY: its seats and bots, or
 * NULL (DROPPED). May make appointments, and must not end any.
 */
typedef void deal_over_fn(struct lobby *lobby, const struct deal *deal,
			  enum deal_end end, const struct lobby_play *play,
			  uint32_t at_fault, int64_t now_us);

/* All that is settled about a match before it begins, but its peers. */
struct deal {
	struct instance instance;
	unsigned seats;
	int64_t params[GAME_PARAMS_MAX];
	uint32_t turn_ms; /* in place of the ladder's; 0: that */
	bool is_rated;
	bool is_of_road; /* the instance is one of the ladder's row */
	enum match_purpose purpose;
	struct match_round round;
	struct match_meeting meeting;
	deal_over_fn *over; /* called exactly once; may be NULL */
	int64_t tags[3];    /* OVER's own: the match played again, a tournament
			       with pairing and number, ... */
};

/* A match to come, between certain bots: appointment.c. */
struct appointment {
	struct ladder *ladder; /* one reference */
	struct deal deal;
	struct bot *bots[LIMIT_SEATS]; /* by seat; one reference each */
	/* Only connections that play this version may take the seat; 0: any. */
	int64_t version_ids[LIMIT_SEATS];
	uint64_t link_ids[LIMIT_SEATS]; /* or only this one; 0: any */
	/*
	 * By seat: who is not there is waited for so long from when it is
	 * missed; 0: not at all. Who is there, but plays, always is.
	 */
	int64_t patience_us[LIMIT_SEATS];
	int64_t until_us[LIMIT_SEATS]; /* of those absent */
	uint32_t absent;               /* seats, at the last look */
	TAILQ_ENTRY(appointment) link; /* ladder->appointments */
};

struct lobby_map {
	uint32_t refs;
	const struct game *game;
	struct game_map *map; /* owned */
	char *name;           /* owned */
	struct buf block;     /* @file or @input with its raw lines */
	size_t line_max;
	unsigned seats_max;
};

enum map_state { MAP_LOADING, MAP_READY, MAP_FAILED };

/* A map in the cache. */
struct cached_map {
	int64_t id;
	enum map_state state;
	bool is_stale;         /* its row changed while it was loading */
	int64_t retry_us;      /* of a failed one */
	struct lobby_map *map; /* one reference, when ready */
	LIST_ENTRY(cached_map) chain;
	TAILQ_ENTRY(cached_map) age; /* least used first, when ready */
};

enum { MAP_BUCKETS = 256 };

struct map_cache {
	LIST_HEAD(map_bucket, cached_map) buckets[MAP_BUCKETS];
	TAILQ_HEAD(map_ages, cached_map) ages;
	size_t count; /* ready ones */
	size_t bytes;
};

/* A map's row, as far as a change of it matters, and who may see it. */
struct map_mark {
	int64_t id;
	uint64_t mark;
	const struct game *game; /* NULL: none that there is */
	bool is_public;          /* and in use */
	char name[LIMIT_NAME_BYTES + 1];
};

/* What a peer waits for the store to do: asks.c. */
struct ask {
	struct lobby_ask body;
	struct lobby_peer *peer;      /* NULL once it is gone */
	char client[LOG_QUOTE_BYTES]; /* of its login */
	TAILQ_ENTRY(ask) link;        /* lobby->asks */
};

struct lobby_peer {
	void *conn;
	uint64_t link_id;
	struct session session;
	struct address *address;
	struct bot *bot;               /* NULL before login */
	int64_t version_id;            /* of the bot: that of the login */
	int64_t rated_from_us;         /* its matches count; INT64_MAX: never */
	int64_t active_us;             /* its version's first activation */
	struct ask *ask;               /* it is not heard until the answer */
	struct lobby_play *play;       /* while offered or playing */
	struct waiting *waiting;       /* owned; in the order of @play */
	struct told_list told;         /* seats whose result it is to hear */
	int64_t rtt_us;                /* when its RTT was last asked for */
	TAILQ_ENTRY(lobby_peer) group; /* lobby->prelogin, bot->peers, dead */
	TAILQ_ENTRY(lobby_peer) run;   /* lobby->runs, when is_running */
	LIST_ENTRY(lobby_peer) all;
	int64_t notice_id; /* the last announcement that it was told */
	int64_t set_id;    /* the round that it sits at, 0: none */
	int64_t lent_us;   /* when its last match ended, if others asked for it
			      unrated; else 0 */
	char guest[NAME_SHOWN_MAX + 1]; /* "guest:NAME"; "": a bot */
	uint8_t seat;
	bool is_running; /* has lines left over from an earlier step */
	bool is_paused;  /* its caller does not read it */
	bool is_eof;
	bool is_end_told; /* and its match knows */
	bool is_closing;  /* a CLOSE is queued */
	bool is_dead;     /* lobby_peer_closed */
	bool is_quiet;    /* plays, and wants no other control lines */
	bool is_overfull; /* they were too many: they come all the same */
	struct buf *held; /* owned: what waits for the end of a quiet match */
};

struct play_seat {
	struct lobby_play *play;
	struct lobby_peer *peer; /* as long as this match is its current one */
	struct lobby_peer *told; /* who hears the result; in peer->told */
	LIST_ENTRY(play_seat) tell;
	struct bot *bot;    /* one reference */
	int64_t version_id; /* of the bot: its peer's when the match began */
	char *result;       /* owned: its lines, while they wait for the disk */
	double score;       /* these while storing */
	int64_t points;
	unsigned rank;
	uint32_t faults;
};

enum play_state {
	PLAY_OFFERED,
	PLAY_RUNNING,
	PLAY_STORING, /* over; its record is with the store */
};

struct lobby_play {
	int64_t id;
	struct match *match;   /* owned; NULL while storing */
	struct ladder *ladder; /* one reference; NULL while storing */
	struct lobby_map *map; /* likewise */
	int64_t ladder_id;
	struct deal deal;
	uint64_t cost;       /* bytes admitted */
	size_t record_bytes; /* what it adds to the lobby's */
	double mu;           /* an open round's run: its bot's, when it began */
	int64_t given_id;    /* likewise: who was given it */
	struct heap_node deadline;
	TAILQ_ENTRY(lobby_play) link; /* lobby->plays or ->storing */
	TAILQ_ENTRY(lobby_play) due;  /* lobby->due, when is_due */
	LIST_ENTRY(lobby_play) slow;  /* lobby->slow, when is_slow */
	enum play_state state;
	bool is_due;
	bool is_slow; /* not over, unrated, with more time than the ladder's */
	bool is_busy; /* a worker has the match */
	bool is_void;
	bool is_lost; /* its offer was, with a link */
	unsigned nseats;
	struct play_seat seats[];
};

TAILQ_HEAD(play_list, lobby_play);

struct queued_action {
	struct lobby_action action;
	size_t offset; /* of its bytes in scratch */
	bool is_scratch;
};

/* By ladder and version. */
struct ratings {
	struct rated **slots; /* owned, with what is chained there */
	size_t nslots, count;
	int64_t sequence; /* the last event in what was read whole */
};

struct lobby {
	struct lobby_config config; /* its host is the next */
	char *host;                 /* owned */

	struct queued_action *actions; /* owned */
	size_t action_head, naction, action_cap;
	struct buf scratch;    /* bytes of the actions queued */
	struct match_out *out; /* owned; of the call being carried out */
	struct peer_list dead; /* freed when no action is left */

	LIST_HEAD(, lobby_peer) peers;
	size_t npeers, nlogged_in, nguests;
	struct peer_list prelogin; /* oldest first */
	struct peer_list runs;     /* peers with lines left to take */
	size_t nruns;
	struct address_table addresses;

	struct bot **bots;       /* owned; listed ones by name ... */
	struct bot **bots_by_id; /* owned; ... and by id */
	size_t nbots;
	struct ladder **ladders; /* owned; listed and gone ones, by name */
	size_t nladders;
	struct map_mark *marks; /* owned; by id */
	size_t nmarks;
	struct map_cache maps;
	struct ratings ratings;

	struct row_announcement *notices; /* owned; by id */
	size_t nnotices;

	struct ladder_list touched;
	struct ladder_list held;
	TAILQ_HEAD(, ask) asks; /* oldest first */
	size_t nasks;
	uint64_t last_ask;
	TAILQ_HEAD(, duel) duels; /* oldest first */
	int64_t last_duel;
	uint64_t next_ticket;
	uint64_t random_count;

	struct heap deadlines; /* of plays */
	struct play_list plays, due, storing;
	LIST_HEAD(, lobby_play) slow; /* of plays: lend.c */
	struct set_list sets;         /* owned; of set.c */
	size_t nplays, nstoring;
	size_t nappointments;  /* that wait */
	uint64_t match_bytes;  /* admitted for engines */
	uint64_t record_bytes; /* of matches that are not on disk yet */
	struct lobby_tournament **tournaments; /* owned; running ones */
	size_t ntournaments;

	int64_t id_next, id_end;           /* left of the current block */
	int64_t id_more_next, id_more_end; /* the block after it */
	bool is_reserving;
	int64_t reserve_us; /* not before, after the store refused */
	int64_t retry_us;   /* look at held ladders again */

	int64_t lag_us;
	bool is_draining, is_abandoned, is_drained, has_trouble;
	int64_t drain_us;
	uint64_t nstarted, nfinished, ncancelled, nvoided;
};

/* actions.c */
/* A new action of KIND for PEER (may be NULL); the rest is zero. */
struct lobby_action *action_add(struct lobby *lobby,
				enum lobby_action_kind kind,
				struct lobby_peer *peer);
/*
 * SEND to PEER what was appended to lobby->scratch since it had MARK bytes;
 * nothing when that is nothing or PEER is closing or dead.
 */
void action_send(struct lobby *lobby, struct lobby_peer *peer, size_t mark,
		 bool starts_clock);
void action_log(struct lobby *lobby, enum log_level level, const char *format,
		...) PRINTF_LIKE(3, 4);
/* CLOSE_ROUND; who left it is what was appended to scratch since MARK. */
void action_close_round(struct lobby *lobby, int64_t round_id, size_t mark,
			bool is_void);
void actions_release(struct lobby *lobby);

/* peer.c */
/*
 * The session has CLOSED: leave queues and match, queue the CLOSE. Its last
 * bytes are sent already.
 */
void peer_close(struct lobby *lobby, struct lobby_peer *peer, int64_t now_us);
/* Tell PEER `@error CODE : TEXT` (NULL: the table's words), then peer_close. */
void peer_refuse(struct lobby *lobby, struct lobby_peer *peer,
		 enum error_code code, int64_t retry_after_s, const char *text,
		 int64_t now_us);
/*
 * SEND to PEER what scratch holds since MARK; while it plays and asked for
 * quiet, that waits until its match is over.
 */
void peer_say(struct lobby *lobby, struct lobby_peer *peer, size_t mark);
/*
 * In a drain, or when its bot may not play any more: PEER is closed, unless
 * it is in a match, has results to hear or waits for the answer to an ask;
 * then that ends in this call again.
 */
void peer_send_home(struct lobby *lobby, struct lobby_peer *peer,
		    int64_t now_us);
/*
 * Why what PEER plays on LADDER does not count there now, because of its
 * version: the word of @queued's `unrated`. NULL: it counts, or nothing does.
 */
const char *peer_unrated(const struct lobby_peer *peer,
			 const struct ladder *ladder, int64_t now_us);
/* PEER has left its match: what waited for that goes on. */
void peer_left_match(struct lobby *lobby, struct lobby_peer *peer,
		     int64_t now_us);
/* PEER has heard the result of a match: perhaps that was all. */
void peer_was_told(struct lobby *lobby, struct lobby_peer *peer,
		   int64_t now_us);
/* PEER may have lines to take now: go on with it in this loop turn. */
void peer_wake(struct lobby *lobby, struct lobby_peer *peer);
/* PEER is heard again: what it has said by now, or what comes. */
void peer_listen(struct lobby *lobby, struct lobby_peer *peer);
/* Take some lines of the peers in lobby->runs. */
void peer_run_all(struct lobby *lobby, int64_t now_us);
/* Who must log in next, or NULL: not those that wait for an answer. */
struct lobby_peer *peer_first_login(const struct lobby *lobby);
void peer_expire_logins(struct lobby *lobby, int64_t now_us);
void peer_free(struct lobby *lobby, struct lobby_peer *peer);

/* login.c */
void login_try(struct lobby *lobby, struct lobby_peer *peer,
	       const struct session_request *request, int64_t now_us);

/*
 * PEER, whose token was right, plays VERSION (NULL: the bot's active one) from
 * now on, or is told why not. CLIENT, for the log, is quoted already.
 */
void login_enter(struct lobby *lobby, struct lobby_peer *peer, struct bot *bot,
		 const struct row_version *version, const char *client,
		 int64_t now_us);

/*
 * PEER, which is one of BOT's or has shown a token of it, is told that BOT is
 * disabled, and why as far as the host has said. Closes.
 */
void login_refuse_disabled(struct lobby *lobby, struct lobby_peer *peer,
			   const struct bot *bot, int64_t now_us);

/* PEER becomes one of BOT's, and plays VERSION (NULL: the active one). */
void peer_join(struct lobby *lobby, struct lobby_peer *peer, struct bot *bot,
	       const struct row_version *version);

/* guest.c */
/* PEER said @guest: it is let in, or told why not. */
void guest_enter(struct lobby *lobby, struct lobby_peer *peer,
		 const struct session_request *request, int64_t now_us);
/* PEER, if it is a guest, counts as one no more. */
void guest_leave(struct lobby *lobby, struct lobby_peer *peer);
bool guest_is(const struct lobby_peer *peer);
/* What PEER, who is logged in, is called: "guest:NAME", or its bot's name. */
const char *guest_shown(const struct lobby_peer *peer);

/* asks.c */
void ask_version(struct lobby *lobby, struct lobby_peer *peer, struct bot *bot,
		 const struct session_request *request, int64_t now_us);
void ask_register(struct lobby *lobby, struct lobby_peer *peer,
		  const struct session_request *request, int64_t now_us);
void ask_rotate(struct lobby *lobby, struct lobby_peer *peer, int64_t now_us);
/* PEER hears no answer any more. */
void ask_forget(struct lobby_peer *peer);
void asks_release(struct lobby *lobby);

/* catalogue.c */
/* Those of BOT that are not retired, or NULL. */
const struct row_version *bot_version_by_id(const struct bot *bot, int64_t id);
const struct row_version *bot_version_by_label(const struct bot *bot,
					       struct slice label);
struct bot *bot_find(struct lobby *lobby, struct slice name);
struct ladder *ladder_find(struct lobby *lobby, struct slice name);
/* Listed ones, or NULL. */
struct bot *bot_by_id(struct lobby *lobby, int64_t id);
struct ladder *ladder_by_id(struct lobby *lobby, int64_t id);
/* Say to PEER what @ladders asks for: each ladder that can be played. */
void ladders_tell(struct lobby *lobby, struct lobby_peer *peer);
struct bot *bot_ref(struct bot *bot);
void bot_unref(struct bot *bot);
/* The bot's standing on LADDER_ID, made when it has none. */
struct standing *bot_standing(struct bot *bot, int64_t ladder_id);
/* Free LADDER when it is gone from the catalogue and nothing points to it. */
void ladder_settle(struct lobby *lobby, struct ladder *ladder);
void catalogue_release(struct lobby *lobby);

/* notice.c */
/* `@notice : TEXT` to all connections of BOT. */
void notice_bot(struct lobby *lobby, struct bot *bot, const char *format, ...)
	PRINTF_LIKE(3, 4);
/* What the host announces is what ROWS say: tell it to who has not heard. */
void notice_take(struct lobby *lobby, const struct row_catalogue *rows,
		 int64_t now_us);
/* PEER has logged in: tell it what holds. */
void notice_tell(struct lobby *lobby, struct lobby_peer *peer, int64_t now_us);

/* waiting.c */
void waiting_play(struct lobby *lobby, struct lobby_peer *peer,
		  const struct session_request *request, int64_t now_us);
/* PEER waits for nothing any more, and is told so. */
void waiting_end(struct lobby *lobby, struct lobby_peer *peer, int64_t now_us);
void waiting_leave(struct lobby *lobby, struct lobby_peer *peer,
		   const struct session_request *request, int64_t now_us);
/* Tell ENTRY's peer, an author's, once that it has played all there is. */
void waiting_idle(struct lobby *lobby, struct waiting *entry);
/* PEER waits for LADDER no more; nothing when it does not. Says no word. */
void waiting_drop(struct lobby *lobby, struct lobby_peer *peer,
		  struct ladder *ladder);
void waiting_drop_all(struct lobby *lobby, struct lobby_peer *peer);
struct waiting *waiting_find(const struct lobby_peer *peer,
			     const struct ladder *ladder);
unsigned waiting_count(const struct lobby_peer *peer);
/* PEER begins a match: out of all queues, its entries stay. */
void waiting_suspend(struct lobby_peer *peer);
/*
 * PEER's match is over: back into its queues at its old places, but behind
 * all others on PLAYED (NULL: nowhere).
 */
void waiting_resume(struct lobby *lobby, struct lobby_peer *peer,
		    struct ladder *played, int64_t now_us);

/* lobby.c */
/* The end of each entry point: start what can, see whether a drain is over. */
void lobby_settle(struct lobby *lobby, int64_t now_us);

#endif
