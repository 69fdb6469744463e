-- A page of one game's maps, by id (every index ends with it).

CREATE INDEX map_by_game ON map (game_id);
