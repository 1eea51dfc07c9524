/* texts.c - texts that outlive the trace that they came from. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/texts.h"

enum { OVERHEAD = 96 }; /* a name in a dictionary, about */

const char *tw_texts_keep(struct tw_dictionary *texts, struct tw_budget *budget, const char *text, size_t length)
{
	const struct tw_name name = {.text = text, .length = length};
	uint32_t before = tw_dictionary_names(texts);
	size_t size = tw_dictionary_plain_length(text, length) + OVERHEAD;
	if (!tw_budget_take(budget, TW_FOR_ROWS, size))
		return NULL;
	uint32_t kept = tw_dictionary_intern(texts, &name);
	if (kept != before)
		tw_budget_give(budget, TW_FOR_ROWS, size);
	if (kept != UINT32_MAX)
		return tw_dictionary_name(texts, kept)->text;
	tw_budget_fail(budget);
	return NULL;
}

const char *tw_texts_keep_name(struct tw_dictionary *texts, struct tw_budget *budget,
                               const struct tw_dictionary *dictionary, uint32_t name)
{
	const struct tw_name *it = tw_dictionary_name(dictionary, name);
	return tw_texts_keep(texts, budget, it->text, it->length);
}
