/* SPDX-License-Identifier: MIT */
#include "server/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static char path[64];

static int make_path(void **state)
{
	int fd;

	(void)state;
	(void)snprintf(path, sizeof(path), "/tmp/hill-config-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	(void)close(fd);
	return 0;
}

static int drop_path(void **state)
{
	(void)state;
	(void)unlink(path);
	return 0;
}

static void write_file(const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void sample_is_every_key_at_its_default(void **state)
{
	struct config defaults, sample;
	struct config_error error;
	struct buf changes = BUF_INIT(1000);
	struct buf help = BUF_INIT(100000);

	(void)state;
	config_init(&defaults);
	config_init(&sample);
	assert_int_equal(
		config_load(&sample, HILL_SOURCE "/deploy/hilld.json", &error),
		0);
	config_fixed_changes(&defaults, &sample, &changes);
	assert_string_equal(buf_text(&changes), "");
	assert_int_equal(sample.drain_seconds, defaults.drain_seconds);
	assert_int_equal(sample.matches_max, defaults.matches_max);
	config_help(&help);
	assert_non_null(strstr(buf_text(&help), "drain-seconds\n"));
	buf_release(&help);
	buf_release(&changes);
	config_release(&defaults);
	config_release(&sample);
}

/* Every key that the help lists stands in the sample, with a comment. */
static void sample_documents_every_key(void **state)
{
	static char sample[65536];
	struct buf help = BUF_INIT(100000);
	FILE *file = fopen(HILL_SOURCE "/deploy/hilld.json", "re");
	unsigned keys = 0;
	char *rest, *line;

	(void)state;
	assert_non_null(file);
	assert_true(fread(sample, 1, sizeof(sample) - 1, file) > 0);
	(void)fclose(file);
	config_help(&help);
	rest = buf_detach(&help);
	for (char *text = rest; (line = strsep(&text, "\n")) != NULL;) {
		char wanted[128];

		if (line[0] == ' ' || line[0] == '\0')
			continue;
		(void)snprintf(wanted, sizeof(wanted), "\n\t\"#%s\": \"", line);
		if (strstr(sample, wanted) == NULL)
			fail_msg("no comment on %s", line);
		(void)snprintf(wanted, sizeof(wanted), "\n\t\"%s\": ", line);
		if (strstr(sample, wanted) == NULL)
			fail_msg("no key %s", line);
		keys++;
	}
	assert_true(keys > 15);
	free(rest);
}

static void names_file_key_and_value(void **state)
{
	static const struct {
		const char *text, *key, *value;
	} cases[] = {
		{ "{\"wrokers\": 3}", "\"wrokers\"", "3" },
		{ "{\"workers\": 0}", "\"workers\"", "0 is not" },
		{ "{\"workers\": \"2\"}", "\"workers\"", "\"2\" is not" },
		{ "{\"workers\": 2.5}", "\"workers\"", "2.5 is not" },
		{ "{\"workers\": null}", "\"workers\"", "null is not" },
		{ "{\"database\": 7}", "\"database\"", "7 is not" },
		{ "{\"log-level\": \"loud\"}", "\"log-level\"", "\"loud\"" },
		{ "{\"listen\": []}", "\"listen\"", "[]" },
		{ "{\"listen\": [\"nowhere\"]}", "\"listen\"", "nowhere" },
		{ "{\"listen\": \"::1:80\"}", "\"listen\"", "::1:80" },
		{ "{\"listen\": \"a:65536\"}", "\"listen\"", "a:65536" },
		{ "{\"listen\": {}}", "\"listen\"", "{}" },
		{ "{\"http-trusted-proxy\": \"localhost\"}",
		  "\"http-trusted-proxy\"", "localhost" },
		{ "{\"http-trusted-proxy\": \"::1,10.0.0.1:80\"}",
		  "\"http-trusted-proxy\"", "10.0.0.1:80" },
		{ "[]", "", "not a JSON object" },
		{ "{\"workers\": 1,}", "", "line 1" },
		{ "{\"workers\": 1, \"workers\": 2}", "", "duplicate" },
		{ "", "", "line 1" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct config config;
		struct config_error error = { "" };

		write_file(cases[i].text);
		config_init(&config);
		assert_int_equal(config_load(&config, path, &error), -EINVAL);
		if (strstr(error.text, path) == NULL ||
		    strstr(error.text, cases[i].key) == NULL ||
		    strstr(error.text, cases[i].value) == NULL)
			fail_msg("%s: %s", cases[i].text, error.text);
		config_release(&config);
	}
}

static void file_then_flags(void **state)
{
	struct config config;
	struct config_error error;
	char *control;

	(void)state;
	write_file("{\"#\": [1], \"listen\": [\"[::1]:0\", \":4000\"],"
		   " \"workers\": 7, \"database\": \"a.db\"}");
	config_init(&config);
	assert_int_equal(config_load(&config, path, &error), 0);
	assert_int_equal(config.listens.count, 2);
	assert_string_equal(config.listens.list[0].host, "::1");
	assert_string_equal(config.listens.list[1].host, "");
	assert_string_equal(config.listens.list[1].port, "4000");
	assert_int_equal(config.workers, 7);
	control = config_control_path(&config);
	assert_string_equal(control, "a.db.sock");
	free(control);
	assert_int_equal(config_set(&config, "--listen", "listen",
				    "127.0.0.1:1,127.0.0.1:2", &error),
			 0);
	assert_int_equal(config.listens.count, 2);
	assert_string_equal(config.listens.list[1].port, "2");
	assert_int_equal(config_set(&config, "--set", "workers", "9", &error),
			 0);
	assert_int_equal(config.workers, 9);
	assert_int_equal(config_set(&config, "--set", "workers", "+9", &error),
			 -EINVAL);
	assert_non_null(strstr(error.text, "--set"));
	assert_int_equal(config_set(&config, "--set", "nothing", "1", &error),
			 -EINVAL);
	config_release(&config);
}

static void knows_what_takes_a_restart(void **state)
{
	struct config a, b;
	struct config_error error;
	struct buf changes = BUF_INIT(1000);

	(void)state;
	config_init(&a);
	config_init(&b);
	assert_int_equal(config_set(&b, "-", "drain-seconds", "1", &error), 0);
	assert_int_equal(config_set(&b, "-", "workers", "3", &error), 0);
	assert_int_equal(config_set(&b, "-", "database", "x", &error), 0);
	config_fixed_changes(&a, &b, &changes);
	assert_string_equal(buf_text(&changes), "database workers");
	buf_release(&changes);
	config_release(&a);
	config_release(&b);
}

static void missing_file_is_told(void **state)
{
	struct config config;
	struct config_error error;

	(void)state;
	config_init(&config);
	assert_int_equal(config_load(&config, "/nowhere/x.json", &error),
			 -ENOENT);
	assert_non_null(strstr(error.text, "/nowhere/x.json"));
	config_release(&config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sample_is_every_key_at_its_default),
		cmocka_unit_test(sample_documents_every_key),
		cmocka_unit_test_setup_teardown(names_file_key_and_value,
						make_path, drop_path),
		cmocka_unit_test_setup_teardown(file_then_flags, make_path,
						drop_path),
		cmocka_unit_test(knows_what_takes_a_restart),
		cmocka_unit_test(missing_file_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
