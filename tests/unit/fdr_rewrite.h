/* fdr_rewrite.h - what is in a log before and after it was written again, for the tests. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FDR_REWRITE_H
#define FDR_REWRITE_H

#include "fdr_bytes.h"
#include "files.h"

#include <trackway/trackway.h>
#include <unistd.h>

enum { EVENTS_MAX = 1 << 12 };

/* An event by itself: no numbers of a dictionary, no pointers. */
struct plain {
	uint64_t time, thread, process, id;
	uint32_t kind, flags, cpu, arguments;
	char name[24];
	uint64_t values[4]; /* numbers, or a hash of data */
	uint64_t offset;    /* not compared */
};

struct events {
	struct plain all[EVENTS_MAX];
	size_t count;
	uint64_t errors, lost;
};

static struct bytes source, target;
static struct events before, after;
static char path[64];

/* ---- Reading. ---- */

static inline void take_value(struct plain *plain, unsigned i, const struct tw_argument *argument)
{
	if (argument->type != TW_ARG_BYTES && argument->type != TW_ARG_TEXT) {
		plain->values[i] = argument->value.u;
		return;
	}
	uint64_t hash = 14695981039346656037u ^ argument->size;
	for (uint64_t k = 0; k < argument->size; k++)
		hash = (hash ^ argument->value.bytes[k]) * 1099511628211u;
	plain->values[i] = hash;
}

static inline void take_event(struct events *events, const struct tw_dictionary *dictionary,
                              const struct tw_event *event, const struct tw_argument *arguments)
{
	const struct tw_track *track = tw_dictionary_track(dictionary, event->track);
	const struct tw_name *name = tw_dictionary_name(dictionary, event->name);
	if (event->kind == TW_LOST) {
		events->lost += event->value;
		return;
	}
	assert_in_range(events->count, 0, EVENTS_MAX - 1);
	struct plain *plain = &events->all[events->count++];
	memset(plain, 0, sizeof *plain);
	plain->time = event->time;
	plain->thread = track->thread;
	plain->process = track->process;
	plain->id = name->id;
	plain->kind = event->kind;
	plain->flags = event->flags;
	plain->cpu = event->cpu;
	plain->arguments = event->argument_count;
	plain->offset = event->offset;
	snprintf(plain->name, sizeof plain->name, "%s", name->text);
	for (unsigned i = 0; i < event->argument_count; i++)
		take_value(plain, i < 3 ? i : 3, &arguments[event->first_argument + i]);
}

static inline void count_error(void *context, const struct tw_finding *finding)
{
	uint64_t *errors = context;
	*errors += finding->severity == TW_ERROR;
	if (finding->severity == TW_ERROR && getenv("TW_TEST_SHOW"))
		print_message("%s at 0x%llx: %s\n", finding->rule, (unsigned long long)finding->record, finding->text);
}

/* False when nothing is readable. */
static inline bool read_events(const struct bytes *b, enum tw_checking checking, struct events *events)
{
	struct tw_reader *reader;
	struct tw_batch batch;
	struct tw_read_options options = {.checking = checking,
	                                  .on_finding = count_error,
	                                  .finding_context = &events->errors};
	events->count = events->errors = events->lost = 0;
	int status = tw_open_memory(&reader, "test", b->data, b->size, &options);
	while (status >= 0 && (status = tw_read(reader, &batch)) > 0)
		for (size_t i = 0; i < batch.count; i++)
			take_event(events, tw_reader_dictionary(reader), &batch.events[i], batch.arguments);
	tw_close(reader);
	return status >= 0;
}

static inline int compare(const void *left, const void *right)
{
	return memcmp(left, right, offsetof(struct plain, offset));
}

static inline void expect_same_events(const char *what)
{
	for (size_t i = 0; i < before.count && i < after.count; i++)
		if (compare(&before.all[i], &after.all[i]) != 0)
			fail_msg("%s: event %zu was %s %s at %llu ns, from 0x%llx, now %s %s at %llu ns, from 0x%llx",
			         what, i, tw_event_kind_name(before.all[i].kind), before.all[i].name,
			         (unsigned long long)before.all[i].time, (unsigned long long)before.all[i].offset,
			         tw_event_kind_name(after.all[i].kind), after.all[i].name,
			         (unsigned long long)after.all[i].time, (unsigned long long)after.all[i].offset);
	if (before.count != after.count)
		fail_msg("%s: %zu events, expected %zu", what, after.count, before.count);
	assert_true(before.count > 0);
}

/* ---- Writing. ---- */

static inline void load_target(void)
{
	target.size = read_file(path, target.data, sizeof target.data);
	target.version = target.data[0] | target.data[1];
}

/* Repairs, or with options transcodes, the first into the second. False when nothing is readable. */
static inline bool rewrite(const struct bytes *from, const struct tw_write_options *options,
                           struct tw_rewrite_result *result)
{
	struct tw_reader *reader;
	int status = tw_open_memory(&reader, "test", from->data, from->size, NULL);
	if (status >= 0) {
		status = options ? tw_transcode(reader, path, options, result) : tw_repair(reader, path, result);
		if (status < 0)
			fail_msg("%s", tw_reader_error(reader));
	}
	tw_close(reader);
	if (status < 0)
		return false;
	load_target();
	assert_int_equal(result->bytes_out, target.size);
	return true;
}

/* Counts the records of a kind in a log without damage or fill. */
static inline uint64_t count_records(const struct bytes *b, const char *kind)
{
	struct tw_reader *reader;
	struct tw_record record;
	struct tw_read_options options = {.order = TW_ORDER_FILE};
	uint64_t count = 0;
	assert_int_equal(tw_open_memory(&reader, "test", b->data, b->size, &options), 0);
	while (tw_read_record(reader, &record) > 0)
		count += !kind || strcmp(record.kind, kind) == 0;
	tw_close(reader);
	return count;
}

/* ---- Logs that are whole. ---- */

static const char *const logs[] = {
    "v1.xray",
    "v1-functions-only.xray",
    "v1-out-of-order.xray",
    "v1-padded-zero.xray",
    "v1-typed.xray",
    "v2.xray",
    "v2-functions-only.xray",
    "v2-out-of-order.xray",
    "v2-typed.xray",
    "v3.xray",
    "v3-functions-only.xray",
    "v3-out-of-order.xray",
    "v3-typed.xray",
    "v4.xray",
    "v4-functions-only.xray",
    "v4-out-of-order.xray",
    "v4-typed.xray",
    "v5.xray",
    "v5-functions-only.xray",
    "v5-out-of-order.xray",
    "be-msb-v1.xray",
    "be-msb-v2.xray",
    "be-msb-v3.xray",
    "be-msb-v4.xray",
    "be-msb-v5.xray",
    "be-lsb-v1.xray",
    "be-lsb-v2.xray",
    "be-lsb-v3.xray",
    "be-lsb-v4.xray",
    "be-lsb-v5.xray",
    "le-py-v5.xray",
};
static const char *const basic_logs[] = {
    "basic-v1.xray",    "basic-v2.xray",    "basic-v3.xray",           "basic-be-v1.xray",
    "basic-be-v2.xray", "basic-be-v3.xray", "basic-v3-arg-first.xray",
};
enum { LOGS = sizeof logs / sizeof *logs, BASIC_LOGS = sizeof basic_logs / sizeof *basic_logs };

static inline int set_up(void **state)
{
	(void)state;
	snprintf(path, sizeof path, "%s/test_fdr.%d", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
	         (int)getpid());
	return 0;
}

static inline int tear_down(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

#endif
