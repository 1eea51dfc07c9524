/* fold_async.h - an async method's MoveNext by the name of its method. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_LOG_FOLD_ASYNC_H
#define TRACELOG_LOG_FOLD_ASYNC_H

#include "base/memory/memory.h"

#include <trackway/tracelog.h>

/* What the compiler makes of an async method or an iterator is a class, "App.<Run>d__3", whose MoveNext runs its body.
 * Appends the method, "App::Run", to a text, and returns true; false where the name is another, or there is no
 * memory. */
bool tracelog_fold_async(struct tw_tracelog_text name, struct tw_text *text);

#endif
