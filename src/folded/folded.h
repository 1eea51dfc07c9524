/* folded.h - folded stacks: what profilers hand to each other as text. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FOLDED_FOLDED_H
#define FOLDED_FOLDED_H

#include "core/format.h"

extern const struct tw_format tw_format_folded;

#endif
