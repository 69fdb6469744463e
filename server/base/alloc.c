/* SPDX-License-Identifier: MIT */
#include "server/base/alloc.h"

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *have(void *memory, size_t size)
{
	if (memory == NULL && size > 0) {
		(void)fprintf(stderr, "out of memory: %zu bytes\n", size);
		abort();
	}
	return memory;
}

void *xmalloc(size_t size)
{
	return have(malloc(size), size);
}

void *xcalloc(size_t count, size_t size)
{
	return have(calloc(count, size), count == 0 ? 0 : size);
}

void *xreallocarray(void *old, size_t count, size_t size)
{
	if (size != 0 && count > SIZE_MAX / size)
		return have(NULL, size);
	return have(realloc(old, count * size), count == 0 ? 0 : size);
}

char *xstrdup(const char *text)
{
	return have(strdup(text), strlen(text) + 1);
}

void free_wiped(void *memory)
{
	if (memory != NULL)
		explicit_bzero(memory, malloc_usable_size(memory));
	free(memory);
}
