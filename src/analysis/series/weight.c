/* weight.c - which weight a trace is counted by, and what weights are called. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/series/weight.h"

#include "core/format.h"

static const struct {
	const char *word;
	enum tw_unit unit;
	enum tw_weight count;
} weights[TW_WEIGHTS] = {[TW_WEIGHT_DEFAULT] = {"calls", TW_UNIT_NS, TW_WEIGHT_CALLS},
#define X(name, word, unit, count) [name] = {word, unit, count},
                         TW_WEIGHT_LIST(X)
#undef X
};

const char *tw_weight_name(enum tw_weight weight)
{
	return (unsigned)weight < TW_WEIGHTS ? weights[weight].word : NULL;
}

enum tw_unit tw_weight_unit(enum tw_weight weight)
{
	return (unsigned)weight < TW_WEIGHTS ? weights[weight].unit : TW_UNIT_COUNT;
}

enum tw_weight tw_weight_count(enum tw_weight weight)
{
	return (unsigned)weight < TW_WEIGHTS ? weights[weight].count : TW_WEIGHT_DEFAULT;
}

/* What a trace has by itself. */
static enum tw_weight own_weight(const struct tw_reader *reader)
{
	if (reader->traits.sampled)
		return TW_WEIGHT_SAMPLES;
	if (reader->traits.summed && !reader->clock.ticks_per_second)
		return TW_WEIGHT_TICKS;
	return reader->clock.instructions ? TW_WEIGHT_INSTRUCTIONS : TW_WEIGHT_CALLS;
}

static bool is_of_calls(enum tw_weight weight)
{
	return weight == TW_WEIGHT_CALLS || weight == TW_WEIGHT_COUNT;
}

/* Weights of one kind can be summed: samples have all of theirs. */
static enum tw_weight kind_of(enum tw_weight weight)
{
	return tw_weight_is_sampled(weight) ? TW_WEIGHT_SAMPLES : weight;
}

int tw_weight_choose(struct tw_reader *reader, enum tw_weight asked, enum tw_weight *weight)
{
	const char *file = tw_source_name(reader);
	enum tw_weight own = own_weight(reader), wanted = asked;
	if ((unsigned)asked >= TW_WEIGHTS)
		return tw_fail(reader, TW_ERR_VALUE, "%s: there is no weight of number %u", file, (unsigned)asked);
	if (asked == TW_WEIGHT_DEFAULT || (asked == TW_WEIGHT_CALLS && !tw_weight_is_sampled(own)))
		wanted = own;
	bool beside = reader->format->traits.samples_beside && tw_weight_is_sampled(wanted);
	if (kind_of(wanted) != own && !is_of_calls(wanted) && !beside)
		return tw_fail(reader, TW_ERR_VALUE, "%s: there is no weight \"%s\": %s has %s", file,
		               tw_weight_name(asked), reader->format->name, tw_weight_name(own));
	if (*weight != TW_WEIGHT_DEFAULT && kind_of(*weight) != kind_of(wanted))
		return tw_fail(reader, TW_ERR_VALUE, "%s: %s tells of %s, the files before of %s: they are no sum",
		               file, reader->format->name, tw_weight_name(wanted), tw_weight_name(*weight));
	if (asked != TW_WEIGHT_DEFAULT || *weight == TW_WEIGHT_DEFAULT)
		*weight = wanted;
	return 0;
}
