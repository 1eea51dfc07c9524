/* start.h - a recording begins and ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLIGHT_START_H
#define FLIGHT_START_H

/* Begins a recording, with what the variables of the environment have: the log, a list of options, names of snapshots
 * or "", patterns of functions or "". Returns 0 or an errno: EALREADY where one goes on, EINVAL where something is
 * wrong, EBUSY where other functions were chosen for an earlier one. Uses libc: not from a hook. */
int flight_start(const char *path, const char *list, const char *snapshots, const char *functions);

/* The first word of a list of options that is none; NULL: all are. It ends with a comma or the list. */
const char *flight_wrong_option(const char *list);

/* Ends it, so that another can begin. Returns 0, or ENODATA where there is none. */
int flight_stop(void);

#endif
