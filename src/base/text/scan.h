/* scan.h - numbers out of text that others wrote: every digit counts, and none too many. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_TEXT_SCAN_H
#define BASE_TEXT_SCAN_H

#include <stdbool.h>
#include <stdint.h>

/* Takes the digits of this base at *text and moves it behind them. Returns false, and moves nothing, where no digit is
 * and where the number has more than 64 bits. */
bool tw_scan_number(const char **text, int base, uint64_t *value);

#endif
