/* SPDX-License-Identifier: MIT */
/*
 * golden.h - engines against recorded runs of the original controllers.
 *
 * golden-check finds the case folders of a game and calls that game's function
 * for each. The function plays the case (one run or several) and reports each
 * run once: golden_pass(), or golden_fail() with what differs. The comparing
 * helpers call golden_fail() themselves, so a run reads
 *
 *	if (golden_same_file(report, dir, "sent.txt", buf_text(&sent),
 *			     sent.len) &&
 *	    golden_same_file(report, dir, "final.txt", ...))
 *		golden_pass(report);
 *
 * A game adds its file golden_GAME.c, its prototype below and its row in
 * golden_check.c. Single-threaded.
 */
#ifndef HILL_TESTS_GOLDEN_GOLDEN_H
#define HILL_TESTS_GOLDEN_GOLDEN_H

#include <stdbool.h>
#include <stddef.h>

#include "server/base/alloc.h"
#include "server/base/buffer.h"

enum {
	GOLDEN_FILE_BYTES = 64 * 1024 * 1024, /* the largest file of a case */
	GOLDEN_PATH_BYTES = 4096,
};

/* The count so far; golden-check prints it at the end. */
struct golden_report {
	unsigned npassed, nfailed;
};

/* One run of a case came out as recorded. */
void golden_pass(struct golden_report *report);
/*
 * One run did not: print "NAME: what differs" as one line. NAME is the case's
 * folder, perhaps with the run's name behind it.
 */
void golden_fail(struct golden_report *report, const char *name,
		 const char *format, ...) PRINTF_LIKE(3, 4);

/* Whether DIR holds a file of that name. */
bool golden_has_file(const char *dir, const char *file);
/*
 * Append the bytes of DIR/FILE to RET, which is the caller's. 0 or -errno
 * (-EFBIG when RET's limit does not allow it). For files that may be absent.
 */
int golden_read(const char *dir, const char *file, struct buf *ret) WARN_UNUSED;
/* The same, but a file that cannot be read is a failed run: false. */
bool golden_need(struct golden_report *report, const char *dir,
		 const char *file, struct buf *ret) WARN_UNUSED;
/*
 * Whether GOT is what DIR/FILE holds, byte for byte. If not, a failed run that
 * names the file, the first line that differs and both texts there.
 */
bool golden_same_file(struct golden_report *report, const char *dir,
		      const char *file, const char *got,
		      size_t got_len) WARN_UNUSED;
/* Likewise for two texts in memory; NAME and FILE only label the failure. */
bool golden_same_text(struct golden_report *report, const char *name,
		      const char *file, const char *expected,
		      size_t expected_len, const char *got,
		      size_t got_len) WARN_UNUSED;

/*
 * Play the case in folder DIR and report its runs. The formats are those of
 * the folders under tests/golden.
 */
void golden_rabbit_runner(const char *dir, struct golden_report *report);
void golden_image_battle(const char *dir, struct golden_report *report);
void golden_lambda_mining(const char *dir, struct golden_report *report);
/* Likewise the many cases of DIR/cases.txt. */
void golden_lambda_mining_pack(const char *dir, struct golden_report *report);

#endif
