/* SPDX-License-Identifier: MIT */
#include "server/games/picture.h"

#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "server/games/game.h"
#include "tests/unit/unit.h"

enum {
	WIDTH = 13, /* no multiple of 8: rows end within a byte */
	HEIGHT = 11,
	ROW_BYTES = WIDTH * 8, /* the widest form: RGBA of 16 bits */
	FILE_LIMIT = 1 << 20,
};

struct form {
	const char *name;
	int colour, depth;
};

static const struct form forms[] = {
	{ "gray 1", PNG_COLOR_TYPE_GRAY, 1 },
	{ "gray 2", PNG_COLOR_TYPE_GRAY, 2 },
	{ "gray 4", PNG_COLOR_TYPE_GRAY, 4 },
	{ "gray 8", PNG_COLOR_TYPE_GRAY, 8 },
	{ "gray 16", PNG_COLOR_TYPE_GRAY, 16 },
	{ "gray alpha 8", PNG_COLOR_TYPE_GRAY_ALPHA, 8 },
	{ "gray alpha 16", PNG_COLOR_TYPE_GRAY_ALPHA, 16 },
	{ "palette 1", PNG_COLOR_TYPE_PALETTE, 1 },
	{ "palette 2", PNG_COLOR_TYPE_PALETTE, 2 },
	{ "palette 4", PNG_COLOR_TYPE_PALETTE, 4 },
	{ "palette 8", PNG_COLOR_TYPE_PALETTE, 8 },
	{ "rgb 8", PNG_COLOR_TYPE_RGB, 8 },
	{ "rgb 16", PNG_COLOR_TYPE_RGB, 16 },
	{ "rgba 8", PNG_COLOR_TYPE_RGB_ALPHA, 8 },
	{ "rgba 16", PNG_COLOR_TYPE_RGB_ALPHA, 16 },
};

/* A file of some form and what it must decode to. */
struct sample {
	struct buf file;
	uint8_t rgb[HEIGHT * WIDTH * 3];
	uint8_t rows[HEIGHT][ROW_BYTES];
};

static uint32_t noise_state;

static uint32_t noise(void)
{
	noise_state = noise_state * 1664525u + 1013904223u;
	return noise_state >> 16;
}

static void add_to_buf(png_structp png, png_bytep bytes, size_t count)
{
	buf_add(png_get_io_ptr(png), bytes, count);
}

static void no_flush(png_structp png)
{
	(void)png;
}

static void put_sample(uint8_t *row, size_t index, int depth, unsigned value)
{
	if (depth == 16) {
		row[2 * index] = (uint8_t)(value >> 8);
		row[2 * index + 1] = (uint8_t)value;
	} else {
		size_t bit = index * (size_t)depth;

		row[bit / 8] |= (uint8_t)(value << (8 - depth - bit % 8));
	}
}

/* Draw noise in FORM, with what it looks like in plain RGB. */
static void draw(struct sample *sample, const struct form *form,
		 const png_color *palette)
{
	int channels = form->colour == PNG_COLOR_TYPE_GRAY_ALPHA  ? 2
		       : form->colour == PNG_COLOR_TYPE_RGB       ? 3
		       : form->colour == PNG_COLOR_TYPE_RGB_ALPHA ? 4
								  : 1;
	unsigned top = (1u << form->depth) - 1;

	memset(sample->rows, 0, sizeof(sample->rows));
	for (size_t i = 0; i < WIDTH * HEIGHT; i++) {
		uint8_t *row = sample->rows[i / WIDTH];
		uint8_t *rgb = sample->rgb + 3 * i;
		uint8_t seen[4];
		unsigned value = 0;

		for (int c = 0; c < channels; c++) {
			value = noise() & top;
			put_sample(row,
				   i % WIDTH * (size_t)channels + (size_t)c,
				   form->depth, value);
			/* depths below 8 spread to 0..255 */
			seen[c] = (uint8_t)(form->depth == 16
						    ? value >> 8
						    : value * 255 / top);
		}
		if (form->colour == PNG_COLOR_TYPE_PALETTE) {
			rgb[0] = palette[value].red;
			rgb[1] = palette[value].green;
			rgb[2] = palette[value].blue;
		} else if (channels >= 3) {
			memcpy(rgb, seen, 3);
		} else {
			memset(rgb, seen[0], 3);
		}
	}
}

/* A chunk that makes colours transparent; a decoder here must not care. */
static void set_transparency(png_structp png, png_infop info,
			     const struct form *form)
{
	static png_byte alphas[2] = { 0, 128 };
	png_color_16 colour = { .gray = 0 };

	if (form->colour == PNG_COLOR_TYPE_PALETTE)
		png_set_tRNS(png, info, alphas, 2, NULL);
	else if ((form->colour & PNG_COLOR_MASK_ALPHA) == 0)
		png_set_tRNS(png, info, NULL, 0, &colour);
}

static void make(struct sample *sample, const struct form *form, int interlace,
		 bool has_transparency)
{
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL,
						  NULL, NULL);
	png_infop info = png_create_info_struct(png);
	png_bytep rows[HEIGHT];
	png_color palette[256];

	for (size_t i = 0; i < COUNT_OF(palette); i++)
		palette[i] = (png_color){ (png_byte)noise(), (png_byte)noise(),
					  (png_byte)noise() };
	draw(sample, form, palette);
	for (size_t y = 0; y < HEIGHT; y++)
		rows[y] = sample->rows[y];
	buf_clear(&sample->file);
	png_set_write_fn(png, &sample->file, add_to_buf, no_flush);
	png_set_IHDR(png, info, WIDTH, HEIGHT, form->depth, form->colour,
		     interlace, PNG_COMPRESSION_TYPE_DEFAULT,
		     PNG_FILTER_TYPE_DEFAULT);
	if (form->colour == PNG_COLOR_TYPE_PALETTE)
		png_set_PLTE(png, info, palette, 1 << form->depth);
	if (has_transparency)
		set_transparency(png, info, form);
	png_set_gAMA(png, info, 0.2);
	png_write_info(png, info);
	png_write_image(png, rows);
	png_write_end(png, info);
	png_destroy_write_struct(&png, &info);
}

static int decode(struct picture *ret, const struct buf *file,
		  struct game_error *error)
{
	error->text[0] = '\0';
	return picture_decode_png(ret, buf_text(file), file->len, 1000, error);
}

static void decodes_every_form_to_plain_rgb(void **state)
{
	struct sample sample = { .file = BUF_INIT(FILE_LIMIT) };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(forms) * 4; i++) {
		const struct form *form = &forms[i / 4];
		struct game_error error;
		struct picture picture;

		make(&sample, form,
		     i & 1 ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, i & 2);
		if (decode(&picture, &sample.file, &error) != 0)
			fail_msg("%s: %s", form->name, error.text);
		assert_int_equal(picture.width, WIDTH);
		assert_int_equal(picture.height, HEIGHT);
		if (memcmp(picture.rgb, sample.rgb, sizeof(sample.rgb)) != 0)
			fail_msg("%s, variant %zu: other pixels", form->name,
				 i & 3);
		picture_release(&picture);
	}
	buf_release(&sample.file);
}

static void refuses_every_shortened_file(void **state)
{
	struct sample sample = { .file = BUF_INIT(FILE_LIMIT) };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(forms); i++) {
		make(&sample, &forms[i], (int)(i & 1), true);
		for (size_t len = 0; len < sample.file.len; len++) {
			/* its own block: a sanitizer sees where it ends */
			char *copy = malloc(len + 1);
			struct picture picture;
			struct game_error error = { "" };

			memcpy(copy + 1, sample.file.data, len);
			assert_int_equal(picture_decode_png(&picture, copy + 1,
							    len, 1000, &error),
					 -EINVAL);
			assert_string_not_equal(error.text, "");
			free(copy);
		}
	}
	buf_release(&sample.file);
}

/* Give each chunk of FILE the checksum that fits what it holds now. */
static void mend_checksums(uint8_t *file, size_t len)
{
	size_t at = 8;

	while (at + 12 <= len) {
		size_t size = (size_t)file[at] << 24 |
			      (size_t)file[at + 1] << 16 |
			      (size_t)file[at + 2] << 8 | file[at + 3];
		uLong crc;

		if (size > len - at - 12)
			return;
		crc = crc32(0, file + at + 4, (uInt)size + 4);
		at += size + 8;
		for (int i = 0; i < 4; i++)
			file[at++] = (uint8_t)(crc >> (24 - 8 * i));
	}
}

static void survives_every_flipped_bit(void **state)
{
	struct sample sample = { .file = BUF_INIT(FILE_LIMIT) };
	unsigned decoded = 0;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(forms); i++) {
		make(&sample, &forms[i], (int)(i & 1), true);
		for (size_t bit = 0; bit < sample.file.len * 8; bit++) {
			uint8_t *copy = malloc(sample.file.len);
			struct picture picture;
			struct game_error error = { "" };
			int rc;

			memcpy(copy, sample.file.data, sample.file.len);
			copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
			if (bit >= 64)
				mend_checksums(copy, sample.file.len);
			rc = picture_decode_png(&picture, copy, sample.file.len,
						1000, &error);
			if (rc == 0) {
				decoded++;
				picture_release(&picture);
			} else {
				assert_int_equal(rc, -EINVAL);
				assert_string_not_equal(error.text, "");
			}
			free(copy);
		}
	}
	/* else the mending does not reach what lies behind the checksums */
	assert_in_range(decoded, 1000, 1000000);
	buf_release(&sample.file);
}

static void refuses_sides_above_the_limit_before_reading(void **state)
{
	struct sample sample = { .file = BUF_INIT(FILE_LIMIT) };
	struct game_error error = { "" };
	struct picture picture;
	uint8_t *file;

	(void)state;
	make(&sample, &forms[11], 0, false);
	assert_int_equal(picture_decode_png(&picture, sample.file.data,
					    sample.file.len, WIDTH - 1, &error),
			 -EINVAL);
	assert_string_equal(error.text,
			    "13 x 11 pixels: a side has at most 12");
	assert_int_equal(picture_decode_png(&picture, sample.file.data,
					    sample.file.len, WIDTH, &error),
			 0);
	picture_release(&picture);
	file = (uint8_t *)sample.file.data;
	memset(file + 16, 0x7f, 8);
	mend_checksums(file, sample.file.len);
	assert_int_equal(decode(&picture, &sample.file, &error), -EINVAL);
	assert_string_equal(error.text, "2139062143 x 2139062143 pixels: a "
					"side has at most 1000");
	buf_release(&sample.file);
}

static void refuses_what_is_no_png(void **state)
{
	static const char *const files[] = {
		"",
		"x",
		"GIF89a",
		"\x89PNG\r\n\x1a\n",
		"\x89PNG\r\n\x1a\nAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
	};
	struct game_error error;
	struct picture picture;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(files); i++) {
		error.text[0] = '\0';
		assert_int_equal(picture_decode_png(&picture, files[i],
						    strlen(files[i]), 1000,
						    &error),
				 -EINVAL);
		assert_string_not_equal(error.text, "");
	}
	for (int i = 0; i < 200; i++) {
		uint8_t junk[600] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

		for (size_t k = i & 1 ? 16 : 0; k < sizeof(junk); k++)
			junk[k] = (uint8_t)noise();
		assert_int_equal(picture_decode_png(&picture, junk,
						    sizeof(junk), 1000, &error),
				 -EINVAL);
	}
}

static void insert_chunk(struct buf *file, const char *type,
			 const uint8_t *data, size_t len)
{
	struct buf longer = BUF_INIT(FILE_LIMIT * 4);
	size_t header = 8 + 25;
	uint8_t size[4] = { (uint8_t)(len >> 24), (uint8_t)(len >> 16),
			    (uint8_t)(len >> 8), (uint8_t)len };

	buf_add(&longer, file->data, header);
	buf_add(&longer, size, 4);
	buf_add(&longer, type, 4);
	buf_add(&longer, data, len);
	buf_add(&longer, "\0\0\0\0", 4);
	buf_add(&longer, file->data + header, file->len - header);
	mend_checksums((uint8_t *)longer.data, longer.len);
	buf_release(file);
	*file = longer;
}

static void is_not_inflated_by_a_text_bomb(void **state)
{
	struct sample sample = { .file = BUF_INIT(FILE_LIMIT) };
	uLong bomb_len = 64 * 1024 * 1024;
	uLongf packed_len = compressBound(bomb_len);
	uint8_t *packed = malloc(packed_len + 3);
	uint8_t *bomb = calloc(1, bomb_len);
	struct game_error error;
	struct picture picture;

	(void)state;
	memcpy(packed, "k\0", 3); /* keyword, its NUL, method deflate */
	assert_int_equal(compress(packed + 3, &packed_len, bomb, bomb_len),
			 Z_OK);
	make(&sample, &forms[11], 0, false);
	insert_chunk(&sample.file, "zTXt", packed, packed_len + 3);
	/* the text is dropped, the picture stands */
	assert_int_equal(decode(&picture, &sample.file, &error), 0);
	assert_memory_equal(picture.rgb, sample.rgb, sizeof(sample.rgb));
	picture_release(&picture);
	buf_release(&sample.file);
	free(packed);
	free(bomb);
}

/*
 * Under ASan a single allocation of this size stops the test: no file here may
 * bring one about.
 */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "max_allocation_size_mb=128";
}

static void a_chunk_that_claims_a_gigabyte_is_given_none(void **state)
{
	static const char *const types[] = { "tEXt", "zTXt", "iCCP", "PLTE",
					     "tRNS", "eXIf", "juNk" };
	struct sample sample = { .file = BUF_INIT(FILE_LIMIT) };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(types); i++) {
		struct game_error error;
		struct picture picture;

		make(&sample, &forms[11], 0, false);
		insert_chunk(&sample.file, types[i], (const uint8_t *)"k\0v",
			     3);
		sample.file.data[33] = 0x4f;
		assert_int_equal(decode(&picture, &sample.file, &error),
				 -EINVAL);
	}
	buf_release(&sample.file);
}

static void a_flood_of_texts_is_dropped(void **state)
{
	struct sample sample = { .file = BUF_INIT(FILE_LIMIT) };
	struct game_error error;
	struct picture picture;

	(void)state;
	make(&sample, &forms[11], 0, false);
	for (int i = 0; i < 1000; i++)
		insert_chunk(&sample.file, "tEXt", (const uint8_t *)"k\0v", 3);
	assert_int_equal(decode(&picture, &sample.file, &error), 0);
	picture_release(&picture);
	buf_release(&sample.file);
}

static void encodes_to_the_same_bytes_and_back(void **state)
{
	struct sample sample = { .file = BUF_INIT(FILE_LIMIT) };
	struct picture picture = { WIDTH, HEIGHT, sample.rgb };
	struct buf once = BUF_INIT(FILE_LIMIT);
	struct buf again = BUF_INIT(FILE_LIMIT);
	struct picture decoded;
	struct game_error error;

	(void)state;
	make(&sample, &forms[3], 1, true);
	buf_add_text(&once, "");
	assert_int_equal(picture_encode_png(&picture, &once), 0);
	assert_int_equal(decode(&decoded, &once, &error), 0);
	assert_int_equal(decoded.width, WIDTH);
	assert_int_equal(decoded.height, HEIGHT);
	assert_memory_equal(decoded.rgb, sample.rgb, sizeof(sample.rgb));
	assert_int_equal(picture_encode_png(&decoded, &again), 0);
	assert_int_equal(once.len, again.len);
	assert_memory_equal(once.data, again.data, once.len);
	/* 8-bit RGB, not interlaced, IDAT at once */
	assert_memory_equal(once.data + 24, "\x08\x02\0\0\0", 5);
	assert_memory_equal(once.data + 37, "IDAT", 4);
	picture_release(&decoded);
	buf_release(&once);
	buf_release(&again);
	buf_release(&sample.file);
}

static void encoding_beyond_the_limit_leaves_the_buffer(void **state)
{
	static uint8_t rgb[WIDTH * HEIGHT * 3];
	const struct picture picture = { WIDTH, HEIGHT, rgb };

	(void)state;
	for (size_t limit = 3; limit < 70; limit++) {
		struct buf out = BUF_INIT(limit);

		buf_add_text(&out, "abc");
		assert_int_equal(picture_encode_png(&picture, &out), -ENOMEM);
		assert_true(out.is_failed);
		assert_string_equal(buf_text(&out), "abc");
		assert_int_equal(picture_encode_png(&picture, &out), -ENOMEM);
		buf_release(&out);
	}
}

static void takes_the_colours_of_a_grid(void **state)
{
	uint32_t cells[] = { 0x23010203, 0x2efffefd, 0x31000000,
			     0x3f808182, 0x00070809, 0xff0a0b0c };
	static const uint8_t expected[] = { 1, 2, 3, 255, 254, 253,
					    0, 0, 0, 128, 129, 130,
					    7, 8, 9, 10,  11,  12 };
	const struct game_grid grid = { 3, 2, cells };
	struct picture picture;

	(void)state;
	assert_int_equal(picture_from_grid(&picture, &grid), 0);
	assert_int_equal(picture.width, 3);
	assert_int_equal(picture.height, 2);
	assert_memory_equal(picture.rgb, expected, sizeof(expected));
	picture_release(&picture);
	assert_null(picture.rgb);
	picture_release(&picture);
	picture_release(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decodes_every_form_to_plain_rgb),
		cmocka_unit_test(refuses_every_shortened_file),
		cmocka_unit_test(survives_every_flipped_bit),
		cmocka_unit_test(refuses_sides_above_the_limit_before_reading),
		cmocka_unit_test(refuses_what_is_no_png),
		cmocka_unit_test(is_not_inflated_by_a_text_bomb),
		cmocka_unit_test(a_chunk_that_claims_a_gigabyte_is_given_none),
		cmocka_unit_test(a_flood_of_texts_is_dropped),
		cmocka_unit_test(encodes_to_the_same_bytes_and_back),
		cmocka_unit_test(encoding_beyond_the_limit_leaves_the_buffer),
		cmocka_unit_test(takes_the_colours_of_a_grid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
