-- A ladder that draws its maps leaves one behind with every round. Whoever wants
-- the host's own, or those that nobody has seen, need not pass all others.

CREATE INDEX map_pool ON map (id) WHERE generator = '';
CREATE INDEX map_drawn_hidden ON map (id)
	WHERE generator <> '' AND visibility = 'hidden';
