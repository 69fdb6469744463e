/* SPDX-License-Identifier: MIT */
/*
 * fuzz.h - what a fuzz target is: one function. libFuzzer calls it with what
 * it invents; replay.c, in an ordinary build, with the files of the corpus.
 */
#ifndef HILL_TESTS_FUZZ_FUZZ_H
#define HILL_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Run the target on SIZE bytes; aborts on a failure. Always returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
