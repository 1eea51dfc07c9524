/* weight.c - which weight a trace is counted by, and what weights are called. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/weight.h"

#include "core/format.h"

static const struct {
	const char *word;
	enum tw_unit unit;
	enum tw_weight count;
} weights[TW_WEIGHTS + 1] = {
    [TW_WEIGHT_DEFAULT] = {"calls", TW_UNIT_NS, TW_WEIGHT_CALLS},
#define X(name, word, unit, count) [name] = {word, unit, count},
    TW_WEIGHT_LIST(X)
#undef X
	[TW_WEIGHT_INSTRUCTIONS] = {"instructions", TW_UNIT_COUNT, TW_WEIGHT_INSTRUCTIONS},
};

const char *tw_weight_name(enum tw_weight weight)
{
	return weights[weight].word;
}

enum tw_unit tw_weight_unit(enum tw_weight weight)
{
	return weights[weight].unit;
}

enum tw_weight tw_weight_count(enum tw_weight weight)
{
	return weights[weight].count;
}

int tw_weight_choose(struct tw_reader *reader, enum tw_weight asked, enum tw_weight *weight)
{
	bool sampled = reader->sampled;
	const char *file = reader->input ? tw_input_name(reader->input) : reader->format->name;
	enum tw_weight own = sampled ? TW_WEIGHT_SAMPLES : TW_WEIGHT_CALLS;
	if (asked != TW_WEIGHT_DEFAULT && tw_weight_is_sampled(asked) && !sampled)
		return tw_fail(reader, TW_ERR_VALUE, "%s: there is no weight \"%s\": %s has calls, no samples", file,
		               tw_weight_name(asked), reader->format->name);
	if (asked == TW_WEIGHT_DEFAULT && *weight != TW_WEIGHT_DEFAULT && tw_weight_is_sampled(*weight) != sampled)
		return tw_fail(reader, TW_ERR_VALUE, "%s: %s tells of %s, the files before of %s: they are no sum",
		               file, reader->format->name, tw_weight_name(own), tw_weight_name(*weight));
	if (asked != TW_WEIGHT_DEFAULT)
		*weight = asked;
	else if (*weight == TW_WEIGHT_DEFAULT)
		*weight = own;
	return 0;
}
