/* dependencies.h - which lines of a log the lines behind them depend on. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_JOBS_DEPENDENCIES_H
#define TRACELOG_JOBS_DEPENDENCIES_H

#include "tracelog/log/log.h"

/* NULL when there is no memory. `to` lives longer. */
struct tracelog_dependencies *tracelog_dependencies_new(struct tw_state_outline *to);
void tracelog_dependencies_free(struct tracelog_dependencies *dependencies);

/* Tell the kind of the line that is being read; a line whose kind nobody tells is needed in any case. A sample
 * of a thread; low: the lowest frame of the stack that it pushes. */
void tracelog_depend_sample(struct tracelog_log *log, const struct tracelog_thread *thread,
                            const struct tracelog_sample *sample, size_t low);
void tracelog_depend_usage(struct tracelog_log *log, const struct tracelog_thread *thread);
void tracelog_depend_heap(struct tracelog_log *log);

/* A line of a thread that nothing depends on. */
void tracelog_depend_passing(struct tracelog_log *log, const struct tracelog_thread *thread);

/* Nothing more is to come of a thread. */
void tracelog_depend_destroyed(struct tracelog_log *log, const struct tracelog_thread *thread);

/* Another session begins: its lines do not depend on those before it, but for its place in time. */
void tracelog_depend_session(struct tracelog_log *log);

/* Ends the line that is being read. */
void tracelog_depend_line(struct tracelog_log *log, uint64_t size);

/* Ends the log. The dependencies are not complete where lines depend on each other in a way that cannot be told. */
void tracelog_depend_end(struct tracelog_log *log);

#endif
