/* nearest.h - the word of a list that is nearest to what was typed. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_TEXT_NEAREST_H
#define BASE_TEXT_NEAREST_H

#include <stddef.h>

/* The word that is nearest to what was typed, NULL when none is near. word: number i of a list, NULL past the last. */
const char *tw_nearest(const char *typed, const char *(*word)(void *context, size_t i), void *context);

#endif
