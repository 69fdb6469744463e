/* SPDX-License-Identifier: MIT */
#include "server/base/metrics.h"

const int64_t metrics_bounds_us[METRICS_BOUNDS] = {
	100,   250,    500,    1000,   2500,    5000,    10000,    25000,
	50000, 100000, 250000, 500000, 1000000, 2500000, 10000000,
};

void metrics_head(struct buf *out, const char *name, const char *type,
		  const char *help)
{
	buf_add_format(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name,
		       type);
}

void metrics_line(struct buf *out, const char *name, const char *labels,
		  uint64_t value)
{
	buf_add_text(out, name);
	if (*labels != '\0')
		buf_add_format(out, "{%s}", labels);
	buf_add_char(out, ' ');
	buf_add_u64(out, value);
	buf_add_char(out, '\n');
}

void metrics_figure(struct buf *out, const char *name, const char *type,
		    const char *help, uint64_t value)
{
	metrics_head(out, name, type, help);
	metrics_line(out, name, "", value);
}

void metrics_histogram(struct buf *out, const char *name, const char *help,
		       const struct metrics_times *times)
{
	uint64_t count = 0;

	metrics_head(out, name, "histogram", help);
	for (unsigned i = 0; i < METRICS_BOUNDS; i++) {
		count += times->counts[i];
		buf_add_format(out, "%s_bucket{le=\"%g\"} ", name,
			       (double)metrics_bounds_us[i] / 1e6);
		buf_add_u64(out, count);
		buf_add_char(out, '\n');
	}
	count += times->counts[METRICS_BOUNDS];
	buf_add_format(out, "%s_bucket{le=\"+Inf\"} %llu\n%s_sum %.6f\n", name,
		       (unsigned long long)count, name,
		       (double)times->sum_us / 1e6);
	buf_add_format(out, "%s_count %llu\n", name, (unsigned long long)count);
}
