/* types.h - the names of typed events. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLIGHT_TYPES_H
#define FLIGHT_TYPES_H

/* Makes LLVM's runtime in the program, where there is one, ask the recorder for the number of a type: its own function
 * tells nobody what it is called. Before the program has asked. Uses libc. */
void flight_take_types(void);

/* Tells a log what was named until now. */
void flight_note_types(void);

#endif
