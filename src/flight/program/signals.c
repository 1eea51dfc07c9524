/* signals.c - SIGRTMIN+7 pauses a recording, SIGRTMIN+8 goes on, SIGRTMIN+9 writes a snapshot, where the program has no
 * use of its own for them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/program/signals.h"

#include "flight/log/log.h"
#include "flight/program/snapshot.h"

#include <signal.h>

enum { PAUSE = 7, RESUME = 8, SNAPSHOT = 9 }; /* behind SIGRTMIN */

static void on_signal(int number)
{
	if (number == SIGRTMIN + SNAPSHOT)
		flight_snapshot_of_signal();
	else
		flight_log_pause(number == SIGRTMIN + PAUSE);
}

void flight_take_signals(void)
{
	for (int number = PAUSE; number <= SNAPSHOT; number++) {
		struct sigaction before, action = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_ONSTACK};
		if (sigaction(SIGRTMIN + number, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
			sigaction(SIGRTMIN + number, &action, NULL);
	}
}
