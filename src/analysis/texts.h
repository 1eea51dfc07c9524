/* texts.h - texts that outlive the trace that they came from. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_TEXTS_H
#define ANALYSIS_TEXTS_H

#include "core/budget.h"
#include "core/dictionary.h"

/* The same bytes in a dictionary of one's own, each text once; NULL when there is no room. */
const char *tw_texts_keep(struct tw_dictionary *texts, struct tw_budget *budget, const char *text, size_t length);

/* The same for a name of a trace. */
const char *tw_texts_keep_name(struct tw_dictionary *texts, struct tw_budget *budget,
                               const struct tw_dictionary *dictionary, uint32_t name);

#endif
