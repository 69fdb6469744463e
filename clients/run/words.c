/* SPDX-License-Identifier: MIT */
#include "clients/run/words.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void words_add_take(struct words *words, char *word)
{
	words->words = xreallocarray(words->words, words->count + 2,
				     sizeof(*words->words));
	words->words[words->count++] = word;
	words->words[words->count] = NULL;
}

void words_add(struct words *words, const char *word)
{
	words_add_take(words, xstrdup(word));
}

void words_release(struct words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->words[i]);
	free(words->words);
	*words = (struct words){ 0 };
}

/*
 * Take one word at *TEXT, which is no blank, into WORD. False: a quote is
 * open.
 */
static bool take_word(const char **text, char *word)
{
	const char *p = *text;
	char quote = '\0';

	for (; *p != '\0'; p++) {
		if (quote == '\0' && strchr(" \t\n", *p) != NULL)
			break;
		if (quote == '\0' && (*p == '\'' || *p == '"')) {
			quote = *p;
		} else if (*p == quote) {
			quote = '\0';
		} else if (*p == '\\' && p[1] != '\0' &&
			   (quote == '\0' ||
			    (quote == '"' && (p[1] == '"' || p[1] == '\\')))) {
			*word++ = *++p;
		} else {
			*word++ = *p;
		}
	}
	*word = '\0';
	*text = p;
	return quote == '\0';
}

int words_split(struct words *words, const char *text)
{
	size_t room = strlen(text) + 1;

	for (;;) {
		char *word;

		text += strspn(text, " \t\n");
		if (*text == '\0')
			return 0;
		word = xmalloc(room);
		if (!take_word(&text, word)) {
			free(word);
			return -EINVAL;
		}
		words_add_take(words, word);
	}
}
