/* attempt.h - a trace that is read for its findings in a way that may turn out not to do for it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_ATTEMPT_H
#define CORE_ATTEMPT_H

#include "core/format.h"

/* Reads all of a trace with another reader of its input. Returns 0, or a negative status where that does not do. */
typedef int tw_attempt_fn(struct tw_reader *again, void *context);

/* Tries to read a trace, whose clock is that of the other reader then. Findings are kept until it has ended, and
 * reported if it does. False where it does not, or finds more than is kept: nothing was reported. */
bool tw_attempt(struct tw_reader *reader, tw_attempt_fn *read, void *context);

#endif
