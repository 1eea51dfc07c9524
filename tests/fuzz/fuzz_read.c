/* fuzz_read.c - any bytes as a trace, all its events. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <string.h>

#include "base/memory/map.h"
#include "core/format.h"

/* What is found does not depend on whether events are asked for. */
static void check_findings(const uint8_t *bytes, size_t size, const struct tw_reader *reader)
{
	struct tw_read_options options = {.format = "fxt", .checking = TW_CHECK_ALL, .findings_only = true};
	struct tw_reader *other = fuzz_open(bytes, size, &options);
	struct tw_batch batch;
	int status = other ? 0 : -1;
	while (status >= 0 && (status = tw_read(other, &batch)) > 0)
		;
	if (other && fuzz_good(other, status))
		for (enum tw_severity severity = TW_NOTE; severity <= TW_ERROR; severity++)
			fuzz_require(tw_reader_findings(other, severity) == tw_reader_findings(reader, severity),
			             "as many findings without events as with them");
	tw_close(other);
}

/* What is read of some kinds of event, and what the clock says at the end. */
struct outcome {
	uint64_t rows, digest, start_ns, end_ns;
	bool good;
};

static void add_event(struct outcome *outcome, const struct tw_reader *reader, const struct tw_event *event)
{
	const struct tw_track *track = tw_dictionary_track(tw_reader_dictionary(reader), event->track);
	const uint64_t fields[] = {event->time,    event->offset,   event->value,         event->id,
	                           track->process, track->thread,   event->kind,          event->cpu,
	                           event->flags,   event->provider, event->argument_count};
	outcome->rows++;
	outcome->digest = tw_hash_bytes(fields, sizeof fields, outcome->digest);
}

static struct outcome read_kinds(const uint8_t *bytes, size_t size, const struct tw_read_options *options,
                                 uint32_t kinds, bool alone)
{
	struct outcome outcome = {0};
	struct tw_reader *reader = fuzz_open(bytes, size, options);
	struct tw_batch batch;
	int status = reader ? 0 : -1;
	if (reader && alone)
		status = tw_begin(reader, TW_USE_EVENTS,
		                  &(struct tw_request){.kinds = tw_kinds_beside_clock(reader, kinds)});
	while (status >= 0 && (status = tw_read(reader, &batch)) > 0)
		for (size_t i = 0; i < batch.count; i++)
			if (kinds >> batch.events[i].kind & 1)
				add_event(&outcome, reader, &batch.events[i]);
	outcome.good = reader && fuzz_good(reader, status);
	if (outcome.good) {
		outcome.start_ns = tw_reader_clock(reader)->start_ns;
		outcome.end_ns = tw_reader_clock(reader)->end_ns;
	}
	tw_close(reader);
	return outcome;
}

/* Who looks at some kinds alone is told the same of them. */
static void check_kinds(const uint8_t *bytes, size_t size, const struct tw_read_options *options)
{
	static const uint32_t choices[] = {1u << TW_LOG, 1u << TW_BLOB, 1u << TW_SWITCH | 1u << TW_WAKEUP,
	                                   1u << TW_COUNTER};
	const uint32_t kinds = choices[size % (sizeof choices / sizeof *choices)];
	const struct outcome all = read_kinds(bytes, size, options, kinds, false);
	const struct outcome some = read_kinds(bytes, size, options, kinds, true);
	if (!all.good || !some.good)
		return;
	fuzz_require(some.rows == all.rows && some.digest == all.digest, "the same events where others are skipped");
	fuzz_require(some.start_ns == all.start_ns && some.end_ns == all.end_ns, "the same clock, too");
}

FUZZ_TARGET(read, const uint8_t *bytes, size_t size)
{
	if (size < 1)
		return 0;
	struct tw_read_options options = fuzz_options(bytes[0]);
	struct tw_reader *reader = fuzz_open(bytes + 1, size - 1, &options);
	if (reader)
		fuzz_drain(reader);
	if (reader && (bytes[0] & ~3) == 4 && strcmp(tw_reader_format(reader), "fxt") == 0)
		check_findings(bytes + 1, size - 1, reader);
	if (reader && reader->format->traits.keeps_clock && !options.memory_limit && !options.checking)
		check_kinds(bytes + 1, size - 1, &options);
	tw_close(reader);
	return 0;
}
