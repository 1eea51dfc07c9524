/* plural.h - the end of a word that is counted. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_TEXT_PLURAL_H
#define BASE_TEXT_PLURAL_H

#include <stdint.h>

/* "s", but for one. */
static inline const char *tw_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

#endif
