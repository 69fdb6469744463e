/* SPDX-License-Identifier: MIT */
#include "clients/run/hear.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "clients/run/tell.h"

enum {
	TOLD_MAX = 5,      /* faults of a seat that are told, but late ones */
	TAIL_BYTES = 2048, /* of standard error */
	TAIL_LINES = 8,
	NAME_BYTES = 300,
	US_PER_MS = 1000,
};

/* "run 3 (seed 17)", and of several seats whose. */
static const char *who(const struct play_match *match, unsigned seat,
		       unsigned seats, char *text)
{
	if (seats > 1)
		(void)snprintf(text, NAME_BYTES, "%s: bot %u (%s)",
			       match->label, seat + 1, match->names[seat]);
	else
		(void)snprintf(text, NAME_BYTES, "%s", match->label);
	return text;
}

void hear_word(struct play_match *match, unsigned seat, unsigned seats,
	       const char *line)
{
	char name[NAME_BYTES];
	char fault[16];
	char count[32];
	char turn[32];
	int read = 0;

	if (strncmp(line, "@interrupt ", strlen("@interrupt ")) == 0)
		tell("%s: its time is up, interrupting it",
		     who(match, seat, seats, name));
	if (sscanf(line, "@fault %15s %31s turn=%31s : %n", fault, count, turn,
		   &read) < 3)
		return;
	(void)who(match, seat, seats, name);
	if (strcmp(fault, "late") == 0) {
		tell("%s: late (%s) at turn %s: %s", name, count, turn,
		     line + read);
		return;
	}
	if (match->told[seat] < TOLD_MAX)
		tell("%s: %s at turn %s: %s", name, fault, turn, line + read);
	if (++match->told[seat] == TOLD_MAX)
		tell("%s: more such faults are not told", name);
}

void hear_hint(const struct play_match *match, unsigned seat, unsigned seats,
	       const char *text)
{
	char name[NAME_BYTES];

	tell("%s: %s", who(match, seat, seats, name), text);
}

void hear_over(const struct play_match *match,
	       const struct match_record *record)
{
	char text[120];

	for (unsigned i = 0; i < record->nseats; i++) {
		unsigned early = record->seats[i].early;

		if (early == 0)
			continue;
		(void)snprintf(text, sizeof(text),
			       "%u repl%s before %s asked for: does it print "
			       "more than one line a turn?",
			       early, early == 1 ? "y came" : "ies came",
			       early == 1 ? "it was" : "they were");
		hear_hint(match, i, record->nseats, text);
	}
}

/* The last lines of the file PATH; nothing when there is none. */
static void tell_tail(const char *path)
{
	char text[TAIL_BYTES + 1];
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	off_t size;
	ssize_t len;
	char *from = text;
	int lines = 0;

	if (fd < 0)
		return;
	size = lseek(fd, 0, SEEK_END);
	len = pread(fd, text, TAIL_BYTES,
		    size > TAIL_BYTES ? size - TAIL_BYTES : 0);
	(void)close(fd);
	while (len > 0 && text[len - 1] == '\n')
		len--;
	if (len <= 0)
		return;
	text[len] = '\0';
	for (ssize_t i = len; i > 0 && lines < TAIL_LINES; i--) {
		if (text[i - 1] == '\n' && ++lines == TAIL_LINES)
			from = text + i;
	}
	for (char *p = from; *p != '\0'; p++) {
		if ((unsigned char)*p < ' ' && *p != '\n' && *p != '\t')
			*p = '?';
	}
	tell("its standard error ended in:");
	for (char *end; from != NULL; from = end != NULL ? end + 1 : NULL) {
		end = strchr(from, '\n');
		if (end != NULL)
			*end = '\0';
		tell("  %s", from);
	}
}

bool hear_end(const struct play_match *match, unsigned seat, unsigned seats,
	      bool is_early, bool is_one_reply)
{
	const struct keeper_status *status = &match->status[seat];
	bool has_status = match->has_status[seat];
	bool has_failed = has_status &&
			  (status->end != KEEPER_EXITED || status->value != 0);
	char name[NAME_BYTES];

	(void)who(match, seat, seats, name);
	if (!is_early) {
		if (is_one_reply && has_failed && status->end == KEEPER_EXITED)
			tell("%s: the program ended with exit status %d", name,
			     status->value);
		return false;
	}
	if (!has_status) {
		tell("%s: the program closed its output at turn %lld", name,
		     (long long)match->turns);
	} else if (status->end == KEEPER_NOT_STARTED) {
		tell("%s: cannot run %s: %s", name, match->argv[seat].words[0],
		     strerror(status->value));
		return true;
	} else if (status->end == KEEPER_SIGNALLED) {
		tell("%s: the program was ended by signal %d (%s) at turn %lld",
		     name, status->value, strsignal(status->value),
		     (long long)match->turns);
	} else {
		tell("%s: the program ended with exit status %d at turn %lld",
		     name, status->value, (long long)match->turns);
	}
	if (match->log_paths[seat] != NULL)
		tell_tail(match->log_paths[seat]);
	return true;
}

static json_t *number(double value)
{
	if (value == floor(value) && fabs(value) < 9e15)
		return json_integer((json_int_t)value);
	return json_real(value);
}

static json_t *seat_json(const struct play_match *match,
			 const struct match_record *record, unsigned seat)
{
	const struct match_record_seat *of = &record->seats[seat];
	const struct game_score *score = &of->score;
	json_t *object = json_object();
	json_t *bot = json_stringn(of->bot, strlen(of->bot));

	/* A name that is no UTF-8 cannot be told. */
	(void)json_object_set_new(object, "bot",
				  bot != NULL ? bot : json_null());
	(void)json_object_set_new(object, "score", number(score->score));
	(void)json_object_set_new(object, "rank", json_integer(score->rank));
	(void)json_object_set_new(object, "reason",
				  json_string(game_reason_word(score->reason)));
	for (unsigned i = 0; i < record->game->ncolumns; i++)
		(void)json_object_set_new(object, record->game->columns[i],
					  number(score->columns[i]));
	(void)json_object_set_new(object, "requests",
				  json_integer(of->requests));
	for (unsigned i = 0; i < MATCH_NFAULTS; i++)
		(void)json_object_set_new(object,
					  match_fault_word((enum match_fault)i),
					  json_integer(of->faults[i]));
	(void)json_object_set_new(object, "early", json_integer(of->early));
	(void)json_object_set_new(object, "slowest-ms",
				  json_real((double)of->max_us / US_PER_MS));
	if (match->has_status[seat]) {
		const struct keeper_status *status = &match->status[seat];
		static const char *const names[KEEPER_NENDS] = {
			[KEEPER_EXITED] = "exit",
			[KEEPER_SIGNALLED] = "signal",
			[KEEPER_NOT_STARTED] = "start-errno",
		};

		(void)json_object_set_new(object, names[status->end],
					  json_integer(status->value));
	}
	return object;
}

json_t *hear_json(const struct play_match *match,
		  const struct match_record *record)
{
	json_t *seats = json_array();
	json_t *object = json_object();

	for (unsigned i = 0; i < record->nseats; i++)
		(void)json_array_append_new(seats, seat_json(match, record, i));
	(void)json_object_set_new(object, "number",
				  json_integer(match->number));
	(void)json_object_set_new(object, "seed", json_string(match->seed));
	(void)json_object_set_new(object, "map", json_string(record->map_name));
	(void)json_object_set_new(object, "turns", json_integer(match->turns));
	if (match->ended != NULL)
		(void)json_object_set_new(object, "ended",
					  json_string(match->ended));
	(void)json_object_set_new(object, "seats", seats);
	return object;
}
