-- Whether a tournament has an instance is asked for each match that is told;
-- and how many matches are void, by who watches the server.

CREATE INDEX match_of_tournament ON match (instance_id)
    WHERE purpose = 'tournament';
CREATE INDEX match_void ON match (id) WHERE status = 'void';
