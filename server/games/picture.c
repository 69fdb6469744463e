/* SPDX-License-Identifier: MIT */
/*
 * picture.c - libpng from memory to memory.
 *
 * libpng reports an error by longjmp. Each direction has one function that
 * calls setjmp; all that must survive the jump lies in a struct of its caller,
 * so that no local variable can be clobbered and nothing leaks.
 */
#include "server/games/picture.h"

#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/games/game.h"

enum {
	BLOCK_BYTES_MAX = 4 * 1024 * 1024, /* one allocation of libpng's */
	CHUNKS_MAX = 128,                  /* ancillary chunks kept */
	HEADER_BYTES = 24,                 /* signature to the height */
};

struct decoder {
	png_structp png;  /* owned */
	png_infop info;   /* owned */
	const char *data; /* borrowed: what is not yet read */
	size_t left;
	struct picture picture; /* owned until it is handed out */
	bool is_out_of_memory;
	char problem[100];
	char warning[100];
};

struct encoder {
	png_structp png; /* owned */
	png_infop info;  /* owned */
	const struct picture *picture;
	struct buf *out;
};

static _Noreturn void stop_decoder(png_structp png, png_const_charp text)
{
	struct decoder *decoder = png_get_error_ptr(png);

	(void)snprintf(decoder->problem, sizeof(decoder->problem), "%s", text);
	png_longjmp(png, 1);
}

static void note_warning(png_structp png, png_const_charp text)
{
	struct decoder *decoder = png_get_error_ptr(png);

	/* the first of them names the cause, what follows is its wake */
	if (decoder->warning[0] == '\0')
		(void)snprintf(decoder->warning, sizeof(decoder->warning), "%s",
			       text);
}

/*
 * To libpng a chunk that claims a gigabyte is worth a warning and a buffer of
 * that size.
 */
static png_voidp allocate(png_structp png, png_alloc_size_t size)
{
	(void)png;
	return size > BLOCK_BYTES_MAX ? NULL : malloc(size);
}

static void deallocate(png_structp png, png_voidp block)
{
	(void)png;
	free(block);
}

static void take_bytes(png_structp png, png_bytep ret, size_t count)
{
	struct decoder *decoder = png_get_io_ptr(png);

	if (count > decoder->left)
		png_error(png, "the file is cut short");
	memcpy(ret, decoder->data, count);
	decoder->data += count;
	decoder->left -= count;
}

/* Whatever the file holds, rows of three bytes a pixel come out. */
static int set_plain_rgb(struct decoder *decoder)
{
	png_structp png = decoder->png;
	int colour = png_get_color_type(png, decoder->info);

	png_set_strip_16(png);
	png_set_packing(png);
	if (colour == PNG_COLOR_TYPE_PALETTE)
		png_set_palette_to_rgb(png);
	if (colour == PNG_COLOR_TYPE_GRAY)
		png_set_expand_gray_1_2_4_to_8(png);
	if (colour == PNG_COLOR_TYPE_GRAY ||
	    colour == PNG_COLOR_TYPE_GRAY_ALPHA)
		png_set_gray_to_rgb(png);
	png_set_strip_alpha(png);
	return png_set_interlace_handling(png);
}

static void read_picture(struct decoder *decoder)
{
	struct picture *picture = &decoder->picture;
	png_structp png = decoder->png;
	size_t row_bytes;
	int passes;

	png_read_info(png, decoder->info);
	picture->width = png_get_image_width(png, decoder->info);
	picture->height = png_get_image_height(png, decoder->info);
	passes = set_plain_rgb(decoder);
	png_read_update_info(png, decoder->info);
	row_bytes = (size_t)picture->width * 3;
	if (png_get_rowbytes(png, decoder->info) != row_bytes)
		png_error(png, "its pixels do not convert to RGB");
	/* zeros: interlaced rows are read over what was there */
	picture->rgb = calloc(picture->height, row_bytes);
	if (picture->rgb == NULL) {
		decoder->is_out_of_memory = true;
		png_error(png, "out of memory");
	}
	for (int pass = 0; pass < passes; pass++) {
		for (size_t y = 0; y < picture->height; y++)
			png_read_row(png, picture->rgb + y * row_bytes, NULL);
	}
	png_read_end(png, NULL);
}

/* 0, or -1 after an error of libpng's. */
static int decode_guarded(struct decoder *decoder)
{
	if (setjmp(png_jmpbuf(decoder->png)) != 0)
		return -1;
	read_picture(decoder);
	return 0;
}

static uint32_t big_endian(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
	       (uint32_t)bytes[2] << 8 | bytes[3];
}

/* libpng checks all this too, but in words that nobody can act on. */
static int check_header(const uint8_t *data, size_t len, unsigned side_max,
			struct game_error *error)
{
	uint32_t width, height;

	if (len < 8 || png_sig_cmp(data, 0, 8) != 0) {
		game_error_set(error, "not a PNG file");
		return -EINVAL;
	}
	if (len < HEADER_BYTES || memcmp(data + 12, "IHDR", 4) != 0) {
		game_error_set(error, "PNG: no header");
		return -EINVAL;
	}
	width = big_endian(data + 16);
	height = big_endian(data + 20);
	if (width > side_max || height > side_max) {
		game_error_set(error, "%lu x %lu pixels: a side has at most %u",
			       (unsigned long)width, (unsigned long)height,
			       side_max);
		return -EINVAL;
	}
	return 0;
}

static int decode_error(const struct decoder *decoder, struct game_error *error)
{
	if (decoder->warning[0] != '\0')
		game_error_set(error, "PNG: %s (%s)", decoder->problem,
			       decoder->warning);
	else
		game_error_set(error, "PNG: %s", decoder->problem);
	return decoder->is_out_of_memory ? -ENOMEM : -EINVAL;
}

int picture_decode_png(struct picture *ret, const void *data, size_t len,
		       unsigned side_max, struct game_error *error)
{
	struct decoder decoder = { .data = data, .left = len };
	int rc = check_header(data, len, side_max, error);

	if (rc < 0)
		return rc;
	decoder.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &decoder,
					       stop_decoder, note_warning, NULL,
					       allocate, deallocate);
	if (decoder.png != NULL)
		decoder.info = png_create_info_struct(decoder.png);
	if (decoder.info == NULL) {
		game_error_set(error, "PNG: out of memory");
		rc = -ENOMEM;
		goto out;
	}
	png_set_user_limits(decoder.png, side_max, side_max);
	png_set_chunk_malloc_max(decoder.png, BLOCK_BYTES_MAX);
	png_set_chunk_cache_max(decoder.png, CHUNKS_MAX);
#ifdef PNG_HANDLE_AS_UNKNOWN_SUPPORTED
	/* skip, unread, all that is not needed for the pixels */
	png_set_keep_unknown_chunks(decoder.png, PNG_HANDLE_CHUNK_NEVER, NULL,
				    -1);
#endif
	png_set_read_fn(decoder.png, &decoder, take_bytes);
	if (decode_guarded(&decoder) < 0) {
		rc = decode_error(&decoder, error);
		goto out;
	}
	*ret = decoder.picture;
	decoder.picture.rgb = NULL;
out:
	png_destroy_read_struct(&decoder.png, &decoder.info, NULL);
	picture_release(&decoder.picture);
	return rc;
}

static _Noreturn void stop_encoder(png_structp png, png_const_charp text)
{
	(void)text; /* only memory can run out */
	png_longjmp(png, 1);
}

static void ignore_warning(png_structp png, png_const_charp text)
{
	(void)png;
	(void)text;
}

static void give_bytes(png_structp png, png_bytep bytes, size_t count)
{
	struct encoder *encoder = png_get_io_ptr(png);

	buf_add(encoder->out, bytes, count);
	if (encoder->out->is_failed)
		png_error(png, "no room");
}

static void give_flush(png_structp png)
{
	(void)png;
}

static void write_picture(struct encoder *encoder)
{
	const struct picture *picture = encoder->picture;
	png_structp png = encoder->png;

	png_set_IHDR(png, encoder->info, picture->width, picture->height, 8,
		     PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
		     PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	/* few colours in plain areas: filters only spoil the repeats */
	png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
	png_set_compression_level(png, 6);
	png_write_info(png, encoder->info);
	for (size_t y = 0; y < picture->height; y++)
		png_write_row(png, picture->rgb + y * 3 * picture->width);
	png_write_end(png, NULL);
}

/* 0, or -1 after an error of libpng's. */
static int encode_guarded(struct encoder *encoder)
{
	if (setjmp(png_jmpbuf(encoder->png)) != 0)
		return -1;
	write_picture(encoder);
	return 0;
}

int picture_encode_png(const struct picture *picture, struct buf *out)
{
	struct encoder encoder = { .picture = picture, .out = out };
	size_t before = out->len;
	int rc = -ENOMEM;

	if (out->is_failed)
		return -ENOMEM;
	encoder.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL,
					      stop_encoder, ignore_warning);
	if (encoder.png != NULL)
		encoder.info = png_create_info_struct(encoder.png);
	if (encoder.info == NULL)
		goto out;
	png_set_user_limits(encoder.png, picture->width, picture->height);
	png_set_write_fn(encoder.png, &encoder, give_bytes, give_flush);
	if (encode_guarded(&encoder) == 0)
		rc = 0;
out:
	png_destroy_write_struct(&encoder.png, &encoder.info);
	if (rc < 0) {
		out->len = before;
		if (out->data != NULL)
			out->data[before] = '\0';
		out->is_failed = true;
	}
	return rc;
}

int picture_from_grid(struct picture *ret, const struct game_grid *grid)
{
	size_t cells = (size_t)grid->width * grid->height;
	uint8_t *rgb = reallocarray(NULL, cells, 3);

	if (rgb == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < cells; i++) {
		rgb[3 * i] = (uint8_t)(grid->cells[i] >> 16);
		rgb[3 * i + 1] = (uint8_t)(grid->cells[i] >> 8);
		rgb[3 * i + 2] = (uint8_t)grid->cells[i];
	}
	ret->width = grid->width;
	ret->height = grid->height;
	ret->rgb = rgb;
	return 0;
}

void picture_release(struct picture *picture)
{
	if (picture == NULL)
		return;
	free(picture->rgb);
	*picture = (struct picture){ 0 };
}
