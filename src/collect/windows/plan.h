/* plan.h - which parts of a thread are recorded, and when it comes to one of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_WINDOWS_PLAN_H
#define COLLECT_WINDOWS_PLAN_H

#include "collect/board.h"

#include <stdbool.h>

/* What is to be done before the next block. */
enum plan_step {
	PLAN_GO_ON,
	PLAN_WANT,    /* all calls are to come from the next block on */
	PLAN_RELEASE, /* they are needed no longer */
	PLAN_BEGIN,   /* recording begins */
	PLAN_WARM,    /* the warm-up of a window begins, which is recorded already */
	PLAN_MARK,    /* the window itself begins */
	PLAN_END      /* recording ends */
};

struct plan {
	uint64_t event; /* instructions of the thread after which there is a next step; UINT64_MAX: never */
	uint64_t next;  /* number of the window that is next to begin */
	uint64_t
	    until; /* where recording ends; 0: nothing is recorded, UINT64_MAX: that is not known before PLAN_MARK */
	uint32_t thread;
	bool leads; /* windows of no thread are also its own */
	bool wants, warm;
};

/* A plan of a thread that begins. */
struct plan plan_begin(struct collect_windows *windows);

/* The same of a core of a machine. leads: windows of no core are its own, and others' no more. */
struct plan plan_of_core(const struct collect_windows *windows, uint32_t core, bool leads);

/* Whether the next window may begin later: it is not late by more than a hundredth of its length. */
bool plan_may_wait(struct plan *plan, struct collect_windows *windows, uint64_t count);

/* Whether a thread that begins records from its first instructions on. */
bool plan_begins_at_once(const struct collect_windows *windows, uint32_t thread);

/* The next step of a thread that has executed so many instructions; full: the block that comes has all calls. To be
 * called until it is PLAN_GO_ON. With PLAN_MARK *window is the one that begins, and *number its number. */
enum plan_step plan_step(struct plan *plan, struct collect_windows *windows, uint64_t count, bool full,
                         struct collect_window **window, uint64_t *number);

#endif
