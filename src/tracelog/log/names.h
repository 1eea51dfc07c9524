/* names.h - names of classes and functions that come later than the window reaches, looked for ahead. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_LOG_NAMES_H
#define TRACELOG_LOG_NAMES_H

#include "tracelog/log/log.h"

/* Names what has no name yet by the lines from an offset on, which are read again in their turn. False where that
 * cannot be read. */
bool tracelog_look_for_names(struct tracelog_log *log, uint64_t from);

#endif
