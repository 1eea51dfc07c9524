/* load.h - traces into a server of ClickHouse, each block once. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOAD_LOAD_H
#define LOAD_LOAD_H

#include "load/address.h"

#include <trackway/writer.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LOAD_ERROR = 1024 };

/* What is asked for, of each server. */
struct load_wish {
	const struct load_address *address;
	unsigned timeout; /* seconds without a byte of the server */
	bool replicated;  /* the tables are replicated: made on all hosts of the address */
};

/* Makes the database, its tables and their columns where they are not there yet, on the hosts of an address. Returns 0,
 * or -1 with one line about why not. */
int load_prepare(const struct load_wish *wish, char error[LOAD_ERROR]);

/* What became of a trace. */
struct load_summary {
	uint64_t blocks, rows;             /* that were sent now */
	uint64_t there_blocks, there_rows; /* that the server had */
	bool complete;                     /* all of the trace was there already: nothing is to be sent */
};

/* A trace that is being loaded. */
struct load_trace;

/* Asks the server what it has of a trace. *trace is set even on failure (NULL without memory): close it in any case.
 * Returns 0, or -1 with load_trace_error(). */
int load_trace_open(struct load_trace **trace, const struct load_wish *wish, const char *id);

/* The day of the trace's blocks on the server; 0: there are none. */
uint32_t load_trace_day(const struct load_trace *trace);

/* The sink of the trace's archive: it sends what the server does not have. */
struct tw_sink load_trace_sink(struct load_trace *trace);

/* Waits for what is being sent. Returns 0, or -1 with load_trace_error(). */
int load_trace_finish(struct load_trace *trace);

const struct load_summary *load_trace_summary(const struct load_trace *trace);

/* One line; empty where nothing failed. */
const char *load_trace_error(const struct load_trace *trace);

void load_trace_close(struct load_trace *trace);

#endif
