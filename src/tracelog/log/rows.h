/* rows.h - rows of events and their arguments. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_LOG_ROWS_H
#define TRACELOG_LOG_ROWS_H

#include "core/order/slab.h"
#include "core/runtime_names.h"
#include "tracelog/log/objects.h"

/* Written by rows.c. */
struct tracelog_rows {
	struct tw_slab *slab;             /* where rows go; given by the reader of the log */
	struct tw_event spare;            /* the row that there was no memory for */
	uint32_t names[TW_RUNTIME_NAMES]; /* numbers in the dictionary; 0: not used yet */
};

struct tracelog_log;
struct tracelog_thread;

/* A row for the line that is being read, its other members 0. */
struct tw_event *tracelog_row(struct tracelog_log *log, const struct tracelog_thread *thread, enum tw_event_kind kind,
                              uint64_t time);

/* The number of a name that analyses look for. */
uint32_t tracelog_runtime_name(struct tracelog_log *log, enum tw_runtime_name name);

/* Arguments of the last row, by the numbers of their names; of texts and objects by the name itself, which the
 * dictionary numbers behind the text. */
void tracelog_add_number(struct tracelog_log *log, uint32_t name, enum tw_argument_type type, uint64_t value);
void tracelog_add_percent(struct tracelog_log *log, uint32_t name, double value);
void tracelog_add_text(struct tracelog_log *log, const char *name, const void *text, size_t length);
void tracelog_add_object(struct tracelog_log *log, const char *name, enum tracelog_object_kind kind, uint32_t number);

#endif
