-- A ban's reason is told to whoever logs in as the bot, with its token. Those
-- written before were for hosts alone, and stay so: 0.

ALTER TABLE owner ADD COLUMN is_ban_told INTEGER NOT NULL DEFAULT 0
	CHECK (is_ban_told IN (0, 1));
ALTER TABLE bot ADD COLUMN is_ban_told INTEGER NOT NULL DEFAULT 0
	CHECK (is_ban_told IN (0, 1));
