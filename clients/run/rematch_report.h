/* SPDX-License-Identifier: MIT */
/* rematch_report.h - what a rematch came to, for people and in JSON. Pure. */
#ifndef HILL_CLIENTS_RUN_REMATCH_REPORT_H
#define HILL_CLIENTS_RUN_REMATCH_REPORT_H

#include "clients/run/rematch.h"

/* The first turn that differs, both replies, all scores; appended to OUT. */
void rematch_report_text(const struct rematch *rematch, struct buf *out);
/* The same as an object; the caller's. */
json_t *rematch_report_json(const struct rematch *rematch) WARN_UNUSED;

#endif
