/* SPDX-License-Identifier: MIT */
/*
 * alloc.h - memory for small objects of our own: have it or stop.
 * For sizes that a peer chooses use malloc and check: only that peer pays.
 */
#ifndef HILL_BASE_ALLOC_H
#define HILL_BASE_ALLOC_H

#include <stddef.h>

#define WARN_UNUSED __attribute__((warn_unused_result))
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))

/*
 * malloc, calloc, reallocarray and strdup that never return NULL: when memory
 * is out they say so on stderr and abort. The caller owns what they return
 * and gives it back with free(). Any thread.
 */
void *xmalloc(size_t size) WARN_UNUSED;
void *xcalloc(size_t count, size_t size) WARN_UNUSED;
void *xreallocarray(void *old, size_t count, size_t size) WARN_UNUSED;
char *xstrdup(const char *text) WARN_UNUSED;
/*
 * free() for a library whose memory may have held secrets: all of the block is
 * overwritten first. NULL is fine. Any thread.
 */
void free_wiped(void *memory);

#endif
