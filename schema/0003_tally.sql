-- How many matches of a ladder each version has played, and their scores: so
-- that no table has to look at all matches again. Guests and matches that are
-- no ladder's (tournaments, unrated play) are not in it, void ones neither.

CREATE TABLE tally (
	ladder_id INTEGER NOT NULL REFERENCES ladder (id),
	bot_version_id INTEGER NOT NULL REFERENCES bot_version (id),
	matches INTEGER NOT NULL,
	score REAL, -- the sum; NULL once it was infinite less infinite
	last_us INTEGER NOT NULL, -- when the last one ended
	PRIMARY KEY (ladder_id, bot_version_id)
) STRICT, WITHOUT ROWID;

INSERT INTO tally (ladder_id, bot_version_id, matches, score, last_us)
	SELECT m.ladder_id, s.bot_version_id, count(*), sum(s.score),
		max(m.ended_us)
	FROM match m JOIN seat s ON s.match_id = m.id
	WHERE m.status = 'stored' AND m.purpose = 'ladder' AND s.guest = ''
	GROUP BY m.ladder_id, s.bot_version_id;
