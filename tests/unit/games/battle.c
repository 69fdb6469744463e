/* SPDX-License-Identifier: MIT */
#include "tests/unit/games/battle.h"

#include <stdlib.h>
#include <string.h>

#include "server/games/picture.h"

const struct dot pair[2] = { { 1, 1, 0xff0000 }, { 18, 18, 0x00ff00 } };

void draw(struct buf *png, unsigned width, unsigned height,
	  const struct dot *dots, size_t ndots)
{
	struct picture picture = { width, height,
				   malloc((size_t)width * height * 3) };

	memset(picture.rgb, 255, (size_t)width * height * 3);
	for (size_t i = 0; i < ndots; i++) {
		uint8_t *rgb = picture.rgb +
			       3 * ((size_t)dots[i].y * width + dots[i].x);

		rgb[0] = (uint8_t)(dots[i].rgb >> 16);
		rgb[1] = (uint8_t)(dots[i].rgb >> 8);
		rgb[2] = (uint8_t)dots[i].rgb;
	}
	buf_init(png, 1 << 24);
	assert_int_equal(picture_encode_png(&picture, png), 0);
	picture_release(&picture);
}

int load(struct game_map **ret, const struct dot *dots, size_t ndots,
	 const char *options, struct game_error *error)
{
	struct game_source source = { .name = "a.png", .options = options };
	struct buf png;
	int rc;

	error->text[0] = '\0';
	draw(&png, SIDE, SIDE, dots, ndots);
	source.data = png.data;
	source.len = png.len;
	rc = GAME->map_new(ret, &source, error);
	buf_release(&png);
	return rc;
}

void start(struct battle *battle, const struct dot *dots, size_t ndots,
	   const char *options, unsigned seats)
{
	struct game_error error;

	if (battle->setup.seed == NULL)
		battle->setup.seed = "1";
	battle->setup.bot_seed = "2";
	battle->setup.seats = seats;
	battle->setup.limit_ms = 77;
	if (battle->setup.params[0] == 0)
		assert_int_equal(game_params_parse(GAME, "",
						   battle->setup.params,
						   &error),
				 0);
	assert_int_equal(load(&battle->map, dots, ndots, options, &error), 0);
	assert_int_equal(GAME->create(&battle->state, battle->map,
				      &battle->setup, &error),
			 0);
	game_out_init(&battle->out, OUT_BYTES);
	assert_int_equal(GAME->begin(battle->state, &battle->out), GAME_DONE);
	image_battle_look(battle->state, &battle->view);
}

void finish(struct battle *battle)
{
	GAME->free(battle->state);
	GAME->map_free(battle->map);
	game_out_release(&battle->out);
}

void feed(struct battle *battle, unsigned seat, enum game_input kind,
	  const char *text, size_t len)
{
	game_out_clear(&battle->out);
	assert_int_equal(
		GAME->feed(battle->state, seat, kind, text, len, &battle->out),
		GAME_DONE);
	image_battle_look(battle->state, &battle->view);
}

unsigned asked(const struct battle *battle)
{
	unsigned seat = (unsigned)__builtin_ctz(battle->out.asked);

	assert_int_equal(battle->out.asked, 1u << seat);
	return seat;
}

unsigned answer(struct battle *battle, const char *text)
{
	unsigned seat = asked(battle);

	feed(battle, seat, GAME_REPLY, text, strlen(text));
	return seat;
}

unsigned be_late(struct battle *battle)
{
	unsigned seat = asked(battle);

	feed(battle, seat, GAME_LATE, "", 0);
	return seat;
}

const char *lines(const struct battle *battle, unsigned seat)
{
	return buf_text(&battle->out.lines[seat]);
}

void assert_dump_holds(const struct battle *battle, const char *text)
{
	struct buf dump = BUF_INIT(OUT_BYTES);

	GAME->dump(battle->state, &dump);
	if (strstr(buf_text(&dump), text) == NULL)
		fail_msg("no '%s' in:\n%s", text, buf_text(&dump));
	buf_release(&dump);
}
