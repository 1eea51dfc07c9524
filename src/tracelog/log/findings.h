/* findings.h - findings about a log, and the memory that its tables may take. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_LOG_FINDINGS_H
#define TRACELOG_LOG_FINDINGS_H

#include "core/format.h"
#include "tracelog/format/rules.h"

/* Where in the log something stands. */
struct tracelog_place {
	uint64_t offset, line;
};

/* Written by findings.c. */
struct tracelog_memory {
	size_t used, limit; /* bytes that tables take, about, and may take */
	size_t kept;        /* of these, what the dictionary has: it stays when a session ends */
	bool reported;      /* the limit was reached, which was reported */
};

struct tracelog_log;

/* Reports a finding about the line that is being read, or about another place. Rules of meaning are only reported
 * where all is checked. */
void tracelog_report(struct tracelog_log *log, enum tracelog_rule rule, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void tracelog_report_at(struct tracelog_log *log, enum tracelog_rule rule, struct tracelog_place place,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Takes bytes from what the tables may have. False when they are not there, which is reported once. */
bool tracelog_take_memory(struct tracelog_log *log, size_t bytes);

/* The same where some of the bytes are the dictionary's. */
bool tracelog_take_shared(struct tracelog_log *log, size_t bytes, size_t kept);

/* Makes room for one more element in an array of such a table. False where there is no memory for it. */
bool tracelog_grow(struct tracelog_log *log, void *array, size_t *room, size_t count, size_t size);

/* A text as a name; "(other)" where the limit is reached. */
uint32_t tracelog_name(struct tracelog_log *log, const void *text, size_t length);

#define TRACELOG_TEXT(log, constant) tracelog_name(log, constant, sizeof(constant) - 1)

#endif
