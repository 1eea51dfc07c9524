/* logs.h - logs that stand one behind the other in a file, each of a kind, clock or program of its own, read as one. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_MERGE_LOGS_H
#define CORE_MERGE_LOGS_H

#include "core/format.h"

extern const struct tw_logs_reading tw_logs_of_file;

#endif
