/* record.h - a log record by record. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_LOG_RECORD_H
#define TRACELOG_LOG_RECORD_H

#include "tracelog/lines/parsed_block.h"
#include "tracelog/log/log.h"

/* Takes a record: its rows go to log->rows.slab. */
void tracelog_take(struct tracelog_log *log, const struct tw_tracelog_record *record);

/* The same for a line that was decoded fast. */
void tracelog_take_fast_line(struct tracelog_log *log, const struct tracelog_parsed_block *parsed,
                             const struct tracelog_fast_line *entry);

/* Takes a line, or part of one, that could not be read. */
void tracelog_lose(struct tracelog_log *log, uint64_t bytes);

/* After the last line. */
void tracelog_end(struct tracelog_log *log);

#endif
