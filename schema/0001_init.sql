-- hill's database, first version. A shipped migration is never edited.
-- Times are wall-clock microseconds since 1970 UTC unless the name says ms.

-- Who answers for bots. Only `name` is public.
CREATE TABLE owner (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,
	name_key TEXT NOT NULL UNIQUE, -- look-alike spellings are equal here
	external_id TEXT UNIQUE,       -- never public
	note TEXT NOT NULL DEFAULT '', -- never public
	is_disabled INTEGER NOT NULL DEFAULT 0 CHECK (is_disabled IN (0, 1)),
	created_us INTEGER NOT NULL
) STRICT;

CREATE TABLE bot (
	id INTEGER PRIMARY KEY,
	owner_id INTEGER NOT NULL REFERENCES owner (id),
	name TEXT NOT NULL UNIQUE,
	name_key TEXT NOT NULL UNIQUE,
	max_connections INTEGER NOT NULL
		CHECK (max_connections BETWEEN 1 AND 1000),
	is_disabled INTEGER NOT NULL DEFAULT 0 CHECK (is_disabled IN (0, 1)),
	created_us INTEGER NOT NULL
) STRICT;
CREATE INDEX bot_by_owner ON bot (owner_id);

-- What a bot's name stood for at the time; the highest number plays.
CREATE TABLE bot_version (
	id INTEGER PRIMARY KEY,
	bot_id INTEGER NOT NULL REFERENCES bot (id),
	number INTEGER NOT NULL CHECK (number >= 1),
	created_us INTEGER NOT NULL,
	UNIQUE (bot_id, number)
) STRICT;

-- The token itself was shown once and is nowhere.
CREATE TABLE token (
	id INTEGER PRIMARY KEY,
	bot_id INTEGER NOT NULL REFERENCES bot (id),
	hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32), -- SHA-256
	created_us INTEGER NOT NULL,
	revoked_us INTEGER
) STRICT;
CREATE INDEX token_by_bot ON token (bot_id);

-- The engines that this file has met, with the newest version of each.
CREATE TABLE game (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,
	engine_version INTEGER NOT NULL CHECK (engine_version >= 1)
) STRICT;

-- Bytes as the game's import made them. Neither they nor the options ever
-- change: old matches are replayed on them.
CREATE TABLE map (
	id INTEGER PRIMARY KEY,
	game_id INTEGER NOT NULL REFERENCES game (id),
	name TEXT NOT NULL,
	options TEXT NOT NULL DEFAULT '',
	visibility TEXT NOT NULL DEFAULT 'public'
		CHECK (visibility IN ('public', 'hidden')),
	is_disabled INTEGER NOT NULL DEFAULT 0 CHECK (is_disabled IN (0, 1)),
	created_us INTEGER NOT NULL,
	hash BLOB NOT NULL CHECK (length(hash) = 32), -- SHA-256 of data
	size_bytes INTEGER NOT NULL CHECK (size_bytes = length(data)),
	data BLOB NOT NULL,
	UNIQUE (game_id, name),
	UNIQUE (game_id, hash, options)
) STRICT;

CREATE TABLE ladder (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,
	name_key TEXT NOT NULL UNIQUE,
	game_id INTEGER NOT NULL REFERENCES game (id),
	seats INTEGER NOT NULL CHECK (seats BETWEEN 1 AND 8),
	params TEXT NOT NULL,
	turn_ms INTEGER NOT NULL CHECK (turn_ms >= 1),
	init_ms INTEGER NOT NULL CHECK (init_ms >= 0),
	grace_ms INTEGER NOT NULL CHECK (grace_ms >= 0),
	bank_ms INTEGER NOT NULL CHECK (bank_ms >= 0),
	bank_step_ms INTEGER NOT NULL CHECK (bank_step_ms >= 0),
	lag_cap_ms INTEGER NOT NULL CHECK (lag_cap_ms >= 0),
	ready_ms INTEGER NOT NULL CHECK (ready_ms >= 1),
	file_ms INTEGER NOT NULL CHECK (file_ms >= 0),
	-- all three or none (random)
	seed_first INTEGER CHECK (seed_first >= 0),
	seed_last INTEGER CHECK (seed_last >= seed_first),
	seed_next INTEGER
		CHECK (seed_next BETWEEN seed_first AND seed_last),
	bot_seed TEXT NOT NULL CHECK (bot_seed IN ('own', 'match')),
	is_rated INTEGER NOT NULL CHECK (is_rated IN (0, 1)),
	is_disabled INTEGER NOT NULL DEFAULT 0 CHECK (is_disabled IN (0, 1)),
	created_us INTEGER NOT NULL,
	CHECK ((seed_first IS NULL) = (seed_last IS NULL) AND
	       (seed_first IS NULL) = (seed_next IS NULL))
) STRICT;

CREATE TABLE ladder_map (
	ladder_id INTEGER NOT NULL REFERENCES ladder (id),
	position INTEGER NOT NULL CHECK (position >= 0),
	map_id INTEGER NOT NULL REFERENCES map (id),
	PRIMARY KEY (ladder_id, position),
	UNIQUE (ladder_id, map_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX ladder_map_by_map ON ladder_map (map_id);

-- What bots are compared on: the same world from the same seed.
CREATE TABLE instance (
	id INTEGER PRIMARY KEY,
	map_id INTEGER NOT NULL REFERENCES map (id),
	params TEXT NOT NULL,
	seats INTEGER NOT NULL CHECK (seats BETWEEN 1 AND 8),
	seed INTEGER NOT NULL,
	UNIQUE (seed, map_id, params, seats)
) STRICT;
CREATE INDEX instance_by_map ON instance (map_id);

-- Ids that may be told to bots: none is ever given twice, used or not.
CREATE TABLE id_block (
	first INTEGER PRIMARY KEY CHECK (first >= 1),
	count INTEGER NOT NULL CHECK (count >= 1),
	reserved_us INTEGER NOT NULL
) STRICT;

-- Written once, whole, when it ends. A void match counts for nothing.
CREATE TABLE match (
	id INTEGER PRIMARY KEY CHECK (id >= 1),
	ladder_id INTEGER NOT NULL REFERENCES ladder (id),
	instance_id INTEGER NOT NULL REFERENCES instance (id),
	status TEXT NOT NULL CHECK (status IN ('stored', 'void')),
	void_reason TEXT NOT NULL DEFAULT ''
		CHECK ((status = 'void') = (void_reason <> '')),
	engine_version INTEGER NOT NULL CHECK (engine_version >= 1),
	bot_seed INTEGER NOT NULL,
	is_rated INTEGER NOT NULL CHECK (is_rated IN (0, 1)),
	-- the limits it was played under; its ladder's may have changed since
	turn_ms INTEGER NOT NULL CHECK (turn_ms >= 0),
	init_ms INTEGER NOT NULL CHECK (init_ms >= 0),
	grace_ms INTEGER NOT NULL CHECK (grace_ms >= 0),
	bank_ms INTEGER NOT NULL CHECK (bank_ms >= 0),
	bank_step_ms INTEGER NOT NULL CHECK (bank_step_ms >= 0),
	bank_spend_ms INTEGER NOT NULL CHECK (bank_spend_ms >= 0),
	lag_cap_ms INTEGER NOT NULL CHECK (lag_cap_ms >= 0),
	started_us INTEGER NOT NULL,
	ended_us INTEGER NOT NULL,
	stall_us INTEGER NOT NULL CHECK (stall_us >= 0), -- lost and credited
	inputs INTEGER NOT NULL CHECK (inputs >= 0),     -- of the transcript
	digest INTEGER NOT NULL -- 64 bits, of all lines that went to the seats
) STRICT;
CREATE INDEX match_by_ladder ON match (ladder_id, id);
CREATE INDEX match_by_instance ON match (instance_id, id);

CREATE TABLE seat (
	match_id INTEGER NOT NULL REFERENCES match (id),
	number INTEGER NOT NULL CHECK (number BETWEEN 1 AND 8),
	bot_version_id INTEGER NOT NULL REFERENCES bot_version (id),
	points INTEGER NOT NULL,
	rank INTEGER NOT NULL CHECK (rank BETWEEN 0 AND 8), -- 0: void
	score REAL NOT NULL,
	columns TEXT NOT NULL DEFAULT '[]', -- JSON numbers, the game's order
	reason TEXT NOT NULL,
	requests INTEGER NOT NULL CHECK (requests >= 0),
	-- faults, by kind
	late INTEGER NOT NULL CHECK (late >= 0),
	invalid INTEGER NOT NULL CHECK (invalid >= 0),
	overlong INTEGER NOT NULL CHECK (overlong >= 0),
	overfull INTEGER NOT NULL CHECK (overfull >= 0), -- of the transcript
	early INTEGER NOT NULL CHECK (early >= 0),
	banked INTEGER NOT NULL CHECK (banked >= 0),
	max_us INTEGER NOT NULL CHECK (max_us >= 0),
	total_us INTEGER NOT NULL CHECK (total_us >= 0),
	lag_us INTEGER NOT NULL CHECK (lag_us >= 0),
	how TEXT NOT NULL DEFAULT '', -- it ended: "exit=1", "signal=9", "link"
	PRIMARY KEY (match_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX seat_by_bot ON seat (bot_version_id, match_id);

-- The match itself: what was said, and beside it what a person wants to know.
CREATE TABLE transcript (
	match_id INTEGER PRIMARY KEY REFERENCES match (id),
	samples BLOB NOT NULL,    -- of the digest: 8 bytes each, little-endian
	transcript BLOB NOT NULL, -- zlib; what a replay is fed
	notes BLOB NOT NULL       -- zlib; times, faults, exit status
) STRICT;
