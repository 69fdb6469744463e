/* SPDX-License-Identifier: MIT */
#include "server/games/python27/random.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

/* The next number of a vector line; fails the test when there is none. */
static uint64_t next_number(char **save)
{
	char *word = strtok_r(NULL, " \n", save);

	assert_non_null(word);
	return strtoull(word, NULL, 10);
}

static void check_shuffle(struct py27_random *random, char **save)
{
	uint32_t count = (uint32_t)next_number(save);
	uint32_t values[8];

	assert_true(count <= COUNT_OF(values));
	for (uint32_t i = 0; i < count; i++)
		values[i] = i;
	py27_random_shuffle(random, values, count);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(values[i], next_number(save));
}

static void check_double(struct py27_random *random, char **save)
{
	double value = py27_random_double(random);
	char *decimal = strtok_r(NULL, " \n", save);
	char *hex = strtok_r(NULL, " \n", save);

	assert_non_null(decimal);
	assert_non_null(hex);
	assert_true(value == strtod(hex, NULL));
	assert_true(value == strtod(decimal, NULL));
}

static void check_line(struct py27_random *random, const char *word,
		       char **save)
{
	if (strcmp(word, "random20") == 0) {
		check_double(random, save);
	} else if (strcmp(word, "choice4") == 0) {
		for (int i = 0; i < 20; i++)
			assert_int_equal(py27_random_index(random, 4),
					 next_number(save));
	} else if (strcmp(word, "shuffle") == 0) {
		check_shuffle(random, save);
	} else if (strcmp(word, "getrandbits32") == 0) {
		for (int i = 0; i < 10; i++)
			assert_int_equal(py27_random_bits(random, 32),
					 next_number(save));
	} else if (strcmp(word, "randint1_1000") == 0) {
		for (int i = 0; i < 10; i++)
			assert_int_equal(py27_random_int(random, 1, 1000),
					 next_number(save));
	} else {
		fail_msg("unknown vector '%s'", word);
	}
}

/* Each section of a seed's block starts from a fresh seed. */
static void draws_what_python_draws(void **state)
{
	FILE *stream = fopen(HILL_TEST_DATA "/python27/random.txt", "re");
	struct py27_random random;
	char seed[64] = "";
	char section[32] = "";
	char line[512];
	unsigned nlines = 0;

	(void)state;
	assert_non_null(stream);
	while (fgets(line, sizeof(line), stream) != NULL) {
		char *save;
		char *word = strtok_r(line, " \n", &save);

		if (word == NULL || word[0] == '#')
			continue;
		if (strcmp(word, "seed") == 0) {
			(void)snprintf(seed, sizeof(seed), "%s",
				       strtok_r(NULL, " \n", &save));
			section[0] = '\0';
			continue;
		}
		if (strcmp(word, section) != 0) {
			(void)snprintf(section, sizeof(section), "%s", word);
			assert_int_equal(py27_random_init(&random, seed), 0);
		}
		check_line(&random, word, &save);
		nlines++;
	}
	(void)fclose(stream);
	assert_int_equal(nlines, 11 * 44);
}

static void sign_and_zeros_of_a_seed_do_not_matter(void **state)
{
	static const char *const seeds[] = {
		"0",          "1",          "999999999",
		"1000000000", "4294967295", "18446744073709551615"
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(seeds); i++) {
		struct py27_random plain;
		struct py27_random signed_;
		char text[40];

		(void)snprintf(text, sizeof(text), "-000%s", seeds[i]);
		assert_int_equal(py27_random_init(&plain, seeds[i]), 0);
		assert_int_equal(py27_random_init(&signed_, text), 0);
		assert_memory_equal(&plain, &signed_, sizeof(plain));
	}
}

static void refuses_what_is_no_integer(void **state)
{
	static const char *const texts[] = { "",   "-",  "+",   "1.0", " 1",
					     "1 ", "1x", "0x1", "--1" };
	struct py27_random random;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(texts); i++)
		assert_int_equal(py27_random_init(&random, texts[i]), -EINVAL);
}

static void takes_seeds_of_any_length(void **state)
{
	struct py27_random random;
	char digits[9001];

	(void)state;
	/* random.seed(10**8999); random.getrandbits(32) of CPython 2.7.18 */
	memset(digits, '0', sizeof(digits));
	digits[0] = '1';
	digits[9000] = '\0';
	assert_int_equal(py27_random_init(&random, digits), 0);
	assert_int_equal(py27_random_bits(&random, 32), 3624167172u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(draws_what_python_draws),
		cmocka_unit_test(sign_and_zeros_of_a_seed_do_not_matter),
		cmocka_unit_test(refuses_what_is_no_integer),
		cmocka_unit_test(takes_seeds_of_any_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
