/* attach.h - recordings that begin and end from outside, while the program runs. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLIGHT_ATTACH_H
#define FLIGHT_ATTACH_H

/* What asks for one, `trackway record --attach`, and a thread that waits for it in the program. Source:
 * doc/formats/xray-fdr.md, "Logs of the flight recorder". */
#define FLIGHT_WAITER "tw-flight"
enum {
	FLIGHT_ATTACH_SIGNAL = 6, /* behind SIGRTMIN, to that thread alone; its value is a descriptor of the sender */
	FLIGHT_ANSWER = 16,       /* bytes in front of the request: an errno in decimal, and a line feed */
	FLIGHT_REQUEST_MOST = 1 << 16
};

/* Makes the thread, also in processes that are forked. Uses libc: not from a hook. */
void flight_wait_for_requests(void);

#endif
