/* signals.h - a recording that pauses, goes on and is written by signals. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLIGHT_SIGNALS_H
#define FLIGHT_SIGNALS_H

/* Takes the signals that the program leaves to their default. */
void flight_take_signals(void);

#endif
