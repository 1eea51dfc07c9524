/* flight.h - what a program asks of the flight recorder that records its calls.
 *
 *     const uint64_t begin = tw_flight_moment ? tw_flight_moment(0) : 0;
 *     answer(request);
 *     if (begin && took_too_long(request))
 *         tw_flight_snapshot(begin, "slow-%p.xray");
 *
 * The recorder is linked into the program (`pkg-config --libs trackway-fdr`), or `trackway record --to xray-fdr`
 * loads it in front of it: where there is none, the functions are NULL. A program that is no PIE (-no-pie) finds the
 * recorder alone that it is linked with. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_FLIGHT_H
#define TRACKWAY_FLIGHT_H

#include <trackway/status.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the moment that was `ago` nanoseconds before now, 0: now. It is a number of the recording's own clock; 0
 * where nothing is recorded. From any place, signal handlers, too. */
TW_API uint64_t tw_flight_moment(uint64_t ago);

/* Writes a log of what has been recorded since a moment, of all threads: what they record meanwhile may be in it.
 * Since 0: all that there is, which with a ring is the newest. The recording goes on. Calls that began before have no
 * entry in it. `path` has "%p" for the process; a file that is there is never written to: "-1" and so on go before the
 * ending. NULL: beside the log, with "-snapshot" before the ending. Returns 0 or an errno: ENODATA where nothing is
 * recorded, or calls are only counted. Then there is no file. From any place, signal handlers, too. */
TW_API int tw_flight_snapshot(uint64_t since, const char *path);

#pragma weak tw_flight_moment
#pragma weak tw_flight_snapshot

#ifdef __cplusplus
}
#endif

#endif
