-- The public ladder: owners who join by themselves, versions, rounds, ratings,
-- tournaments, and what hosts do. Times as in the first version.

-- A house owner's bots are the host's own; an erased one is a number.
ALTER TABLE owner ADD COLUMN is_house INTEGER NOT NULL DEFAULT 0
	CHECK (is_house IN (0, 1));
ALTER TABLE owner ADD COLUMN is_erased INTEGER NOT NULL DEFAULT 0
	CHECK (is_erased IN (0, 1));
-- Not empty: banned, and why. Never public.
ALTER TABLE owner ADD COLUMN ban_reason TEXT NOT NULL DEFAULT '';

ALTER TABLE bot ADD COLUMN ban_reason TEXT NOT NULL DEFAULT '';
-- Plays, but no table and no page shows it.
ALTER TABLE bot ADD COLUMN is_hidden INTEGER NOT NULL DEFAULT 0
	CHECK (is_hidden IN (0, 1));

-- What its author calls the version. One of a bot is active: it plays when a
-- login names none. A candidate plays unrated against the active one.
ALTER TABLE bot_version ADD COLUMN label TEXT NOT NULL DEFAULT '';
ALTER TABLE bot_version ADD COLUMN state TEXT NOT NULL DEFAULT 'retired'
	CHECK (state IN ('active', 'candidate', 'retired'));
-- When it first became active: new ones are counted by the day.
ALTER TABLE bot_version ADD COLUMN active_us INTEGER;
UPDATE bot_version SET label = CAST(number AS TEXT);
UPDATE bot_version SET state = 'active', active_us = created_us
	WHERE number = (SELECT max(number) FROM bot_version other
			WHERE other.bot_id = bot_version.bot_id);
CREATE UNIQUE INDEX bot_version_by_label ON bot_version (bot_id, label);
CREATE UNIQUE INDEX bot_version_active ON bot_version (bot_id)
	WHERE state = 'active';

-- Each time a version became its bot's active one, going back included: what
-- was active at a tournament's deadline is the last one before it.
CREATE TABLE bot_activation (
	id INTEGER PRIMARY KEY,
	bot_id INTEGER NOT NULL REFERENCES bot (id),
	version_id INTEGER NOT NULL REFERENCES bot_version (id),
	at_us INTEGER NOT NULL
) STRICT;
CREATE INDEX bot_activation_by_bot ON bot_activation (bot_id, at_us, id);
INSERT INTO bot_activation (bot_id, version_id, at_us)
	SELECT bot_id, id, active_us FROM bot_version
	WHERE active_us IS NOT NULL ORDER BY id;

-- Each is good for one registration. Without an owner it makes one that is
-- called as the bot.
CREATE TABLE invite (
	id INTEGER PRIMARY KEY,
	owner_id INTEGER REFERENCES owner (id),
	hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32), -- SHA-256
	created_us INTEGER NOT NULL,
	expires_us INTEGER,
	used_us INTEGER,
	bot_id INTEGER REFERENCES bot (id), -- that used it
	CHECK ((used_us IS NULL) = (bot_id IS NULL))
) STRICT;
CREATE INDEX invite_by_owner ON invite (owner_id);

-- "preset/version/seed" of a generated map; '' came from a file. A hidden map
-- becomes public at public_us.
ALTER TABLE map ADD COLUMN generator TEXT NOT NULL DEFAULT '';
ALTER TABLE map ADD COLUMN public_us INTEGER;

-- '' plays the ladder's maps; else presets whose fresh maps are drawn.
ALTER TABLE ladder ADD COLUMN generators TEXT NOT NULL DEFAULT '';
-- A solo game's round closes after so many runs or so much time.
ALTER TABLE ladder ADD COLUMN round_runs INTEGER NOT NULL DEFAULT 8
	CHECK (round_runs BETWEEN 2 AND 64);
ALTER TABLE ladder ADD COLUMN round_s INTEGER NOT NULL DEFAULT 3600
	CHECK (round_s >= 1);
-- House bots take seats when nobody suitable has waited so long.
ALTER TABLE ladder ADD COLUMN house_wait_ms INTEGER NOT NULL DEFAULT 10000
	CHECK (house_wait_ms >= 0);
-- Versions that became active later play unrated.
ALTER TABLE ladder ADD COLUMN deadline_us INTEGER;

-- One instance as a rated ladder uses it, and one event of rating. `open`
-- ones are a solo game's: each owner's bot plays it once, whenever it is
-- there. A set is a shared game's: all seats' rotations, one after another.
-- The id is that of the first match that was offered in it.
CREATE TABLE round (
	id INTEGER PRIMARY KEY CHECK (id >= 1),
	ladder_id INTEGER NOT NULL REFERENCES ladder (id),
	instance_id INTEGER NOT NULL REFERENCES instance (id),
	kind TEXT NOT NULL CHECK (kind IN ('open', 'set')),
	state TEXT NOT NULL
		CHECK (state IN ('open', 'rated', 'unrated', 'void')),
	matches_wanted INTEGER NOT NULL CHECK (matches_wanted >= 1),
	opened_us INTEGER NOT NULL,
	closed_us INTEGER,
	left TEXT NOT NULL DEFAULT '', -- versions that left the set: "12,15"
	CHECK ((state = 'open') = (closed_us IS NULL))
) STRICT;
CREATE INDEX round_by_ladder ON round (ladder_id, id);
CREATE INDEX round_open ON round (id) WHERE state = 'open';
CREATE INDEX round_open_by_instance ON round (instance_id)
	WHERE state = 'open';

ALTER TABLE match ADD COLUMN round_id INTEGER REFERENCES round (id);
ALTER TABLE match ADD COLUMN purpose TEXT NOT NULL DEFAULT 'ladder'
	CHECK (purpose IN ('ladder', 'rematch', 'unrated', 'candidate',
			   'tournament'));
-- So far only rematches were unrated where others were not.
UPDATE match SET purpose = 'rematch' WHERE is_rated = 0 AND
	(SELECT is_rated FROM ladder WHERE id = match.ladder_id);
-- A match that the host voided can be made to count again.
ALTER TABLE match ADD COLUMN is_host_void INTEGER NOT NULL DEFAULT 0
	CHECK (is_host_void IN (0, 1));
CREATE INDEX match_by_round ON match (round_id) WHERE round_id IS NOT NULL;

-- Not empty: a guest of that name, whose version is the guests' own.
ALTER TABLE seat ADD COLUMN guest TEXT NOT NULL DEFAULT '';

-- How good a version is on a ladder, by all events up to `sequence`.
CREATE TABLE rating (
	ladder_id INTEGER NOT NULL REFERENCES ladder (id),
	bot_version_id INTEGER NOT NULL REFERENCES bot_version (id),
	mu REAL NOT NULL,
	sigma REAL NOT NULL CHECK (sigma > 0),
	rounds INTEGER NOT NULL CHECK (rounds >= 0),
	sequence INTEGER NOT NULL,
	changed_us INTEGER NOT NULL,
	PRIMARY KEY (ladder_id, bot_version_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX rating_by_version ON rating (bot_version_id);

-- 1, 2, 3, ... without a gap, in the order in which rounds were rated. One
-- whose round was made void later keeps its number and has no changes.
CREATE TABLE rating_event (
	sequence INTEGER PRIMARY KEY CHECK (sequence >= 1),
	ladder_id INTEGER NOT NULL REFERENCES ladder (id),
	round_id INTEGER NOT NULL UNIQUE REFERENCES round (id),
	rated_us INTEGER NOT NULL
) STRICT;
CREATE INDEX rating_event_by_ladder ON rating_event (ladder_id, sequence);

CREATE TABLE rating_change (
	sequence INTEGER NOT NULL REFERENCES rating_event (sequence),
	bot_version_id INTEGER NOT NULL REFERENCES bot_version (id),
	rank INTEGER NOT NULL CHECK (rank >= 1), -- in the round; ties share
	mu_before REAL NOT NULL,
	sigma_before REAL NOT NULL,
	mu_after REAL NOT NULL,
	sigma_after REAL NOT NULL,
	PRIMARY KEY (sequence, bot_version_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX rating_change_by_version ON rating_change (bot_version_id,
							sequence);

-- Tournaments. What is to be played follows from this and the results.
CREATE TABLE tournament (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,
	name_key TEXT NOT NULL UNIQUE,
	ladder_id INTEGER NOT NULL REFERENCES ladder (id),
	format TEXT NOT NULL,
	options TEXT NOT NULL, -- JSON: what its file said
	seed INTEGER NOT NULL,
	state TEXT NOT NULL CHECK (state IN ('planned', 'running', 'finished',
					     'cancelled')),
	starts_us INTEGER,   -- NULL: when the host says so
	deadline_us INTEGER, -- entrants are pinned then; NULL: at the start
	grace_s INTEGER NOT NULL CHECK (grace_s >= 0),
	is_embargo INTEGER NOT NULL CHECK (is_embargo IN (0, 1)),
	created_us INTEGER NOT NULL,
	started_us INTEGER,
	ended_us INTEGER,
	revealed_us INTEGER
) STRICT;

CREATE TABLE tournament_entrant (
	tournament_id INTEGER NOT NULL REFERENCES tournament (id),
	number INTEGER NOT NULL CHECK (number >= 1), -- its place in the draw
	bot_id INTEGER NOT NULL REFERENCES bot (id),
	bot_version_id INTEGER REFERENCES bot_version (id), -- once pinned
	withdrawn_us INTEGER,
	-- the first round it is not paired in any more; 0: still in
	withdrawn_round INTEGER NOT NULL DEFAULT 0
		CHECK (withdrawn_round >= 0),
	PRIMARY KEY (tournament_id, number),
	UNIQUE (tournament_id, bot_id)
) STRICT, WITHOUT ROWID;

-- What has been decided: a match played, or a forfeit without one.
CREATE TABLE tournament_match (
	tournament_id INTEGER NOT NULL REFERENCES tournament (id),
	pairing INTEGER NOT NULL CHECK (pairing >= 1),
	number INTEGER NOT NULL CHECK (number >= 1), -- set, turn in the set
	match_id INTEGER UNIQUE REFERENCES match (id), -- NULL: a forfeit
	entrants TEXT NOT NULL, -- their numbers by seat: "3,7"
	absent INTEGER NOT NULL CHECK (absent >= 0), -- bit S: seat S + 1
	decided_us INTEGER NOT NULL,
	CHECK ((match_id IS NULL) = (absent <> 0)),
	PRIMARY KEY (tournament_id, pairing, number)
) STRICT, WITHOUT ROWID;

-- What hosts did, secrets left out.
CREATE TABLE audit (
	id INTEGER PRIMARY KEY,
	at_us INTEGER NOT NULL,
	actor TEXT NOT NULL, -- "uid=1000", of the control socket or the file
	command TEXT NOT NULL,
	arguments TEXT NOT NULL, -- JSON
	outcome TEXT NOT NULL    -- "ok" or the refusal
) STRICT;

CREATE TABLE announcement (
	id INTEGER PRIMARY KEY,
	at_us INTEGER NOT NULL,
	until_us INTEGER,
	text TEXT NOT NULL
) STRICT;
