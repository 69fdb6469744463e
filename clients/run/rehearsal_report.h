/* SPDX-License-Identifier: MIT */
/* rehearsal_report.h - what came of a rehearsal, for people and in JSON. Pure. */
#ifndef HILL_CLIENTS_RUN_REHEARSAL_REPORT_H
#define HILL_CLIENTS_RUN_REHEARSAL_REPORT_H

#include "clients/run/rehearsal.h"

/* The first turn that differs, both replies, all scores; appended to OUT. */
void rehearsal_report_text(const struct rehearsal *rehearsal, struct buf *out);
/* The same as an object; the caller's. */
json_t *rehearsal_report_json(const struct rehearsal *rehearsal) WARN_UNUSED;

#endif
