/* snapshot.h - what a process writes of its log while it goes on. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLIGHT_SNAPSHOT_H
#define FLIGHT_SNAPSHOT_H

#include <stdint.h>

/* Where a snapshot goes that is given no name: the pattern of one, or NULL, which makes one of the log's; and how much
 * of the log one has that a signal asks for, in ns, 0: all. Before any signal. */
void flight_name_snapshots(const char *pattern, const char *log, uint64_t age);

/* Writes the one that a signal asks for. */
void flight_snapshot_of_signal(void);

#endif
