/* built.h - how a program was built, for recorders of its calls. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SYMBOLS_BUILT_H
#define SYMBOLS_BUILT_H

/* Says why the flight recorder, given to a program, records no calls of it: a constant, what it is and what would do
 * instead. NULL: the file does not tell; or it is no ELF file, or cannot be read. */
const char *tw_built_why_not(const char *path);

#endif
