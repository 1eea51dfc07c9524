/* fit.h - whether the programs that give names are those of a log. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SYMBOLS_FIT_H
#define SYMBOLS_FIT_H

#include <trackway/symbols.h>

#include <stdbool.h>

enum { TW_MISFIT_TEXT = 256 };

/* Looks at the first records of an XRay log: whether the functions that it has are in the maps of the handle, and have
 * the sleds that its records come from. A function that does not fit has no name from then on, nor has one of a program
 * with another build id than the log tells of, where the log is the only one (alone). *why is "", or what does
 * not fit, "of PROGRAM: REASON"; another program than the one that was traced is the cause. What is no XRay log, or
 * cannot be read, fits. Nothing may use the namer meanwhile. Returns 0 or TW_ERR_MEMORY. */
int tw_symbols_fit(struct tw_symbols *symbols, const char *path, bool alone, char why[static TW_MISFIT_TEXT]);

#endif
