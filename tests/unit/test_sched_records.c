/* test_sched_records.c - records of perf_event_open(2), laid out as its manual has them, to switches and wake-ups. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "image/image.h"
#include "manage/sched.h"

#include <trackway/sched.h>

#include "suite.h"

/* As the kernel's files have them: /sys/kernel/tracing/events/sched/.../format. */
static const char switch_format[] =
    "name: sched_switch\nID: 316\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
    "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n\n"
    "print fmt: \"prev_comm=%s\", REC->prev_comm\n";
static const char waking_format[] =
    "name: sched_waking\nID: 319\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
    "\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n\nprint fmt: \"comm=%s\", REC->comm\n";

enum { SWITCH_ID = 316, WAKING_ID = 319, PROCESS = 1000, THREAD = 1001, STRANGER = 77 };

/* A record under construction. */
struct record {
	uint8_t bytes[256];
	size_t size;
};

static void put(struct record *record, const void *bytes, size_t size)
{
	memcpy(record->bytes + record->size, bytes, size);
	record->size += size;
}

static void put32(struct record *record, uint32_t number)
{
	put(record, &number, sizeof number);
}

static struct record begin(uint32_t type, uint16_t misc)
{
	struct record record = {.size = 0};
	struct perf_event_header header = {.type = type, .misc = misc};
	put(&record, &header, sizeof header);
	return record;
}

/* What PERF_SAMPLE_TID, _TIME and _CPU put behind a record, and before the raw bytes of a sample. */
static void put_id(struct record *record, uint32_t process, uint32_t thread, uint64_t time, uint32_t cpu)
{
	const uint32_t who[] = {process, thread}, where[] = {cpu, 0};
	put(record, who, sizeof who);
	put(record, &time, sizeof time);
	put(record, where, sizeof where);
}

static struct record fork_of(uint32_t process, uint32_t thread, uint32_t parent)
{
	struct record record = begin(PERF_RECORD_FORK, 0);
	const uint32_t task[] = {process, parent, thread, parent, 0, 0};
	put(&record, task, sizeof task);
	put_id(&record, process, thread, 0, 0);
	return record;
}

/* A sched_switch on CPU 3. */
static struct record switch_of(uint64_t time, uint32_t process, uint32_t from, uint64_t state, uint32_t to)
{
	struct record record = begin(PERF_RECORD_SAMPLE, 0);
	const uint32_t priority = 120;
	put_id(&record, process, from, time, 3);
	put32(&record, 64 + 4); /* the size of what follows */
	put32(&record, SWITCH_ID);
	put32(&record, from);
	put(&record, "leaves\0\0\0\0\0\0\0\0\0", 16);
	put32(&record, from);
	put32(&record, priority);
	put(&record, &state, sizeof state);
	put(&record, "comes\0\0\0\0\0\0\0\0\0\0", 16);
	put32(&record, to);
	put32(&record, priority);
	put32(&record, 0);
	return record;
}

static struct record waking_of(uint64_t time, uint32_t waker, uint32_t thread, uint32_t cpu)
{
	struct record record = begin(PERF_RECORD_SAMPLE, 0);
	put_id(&record, waker, waker, time, 0);
	put32(&record, 36);
	put32(&record, WAKING_ID);
	put32(&record, waker);
	put(&record, "woken\0\0\0\0\0\0\0\0\0\0", 16);
	put32(&record, thread);
	put32(&record, 120);
	put32(&record, cpu);
	return record;
}

static void take(struct sched_threads *threads, struct record record)
{
	sched_take_task(threads, record.bytes, record.size);
	sched_take_switch(threads, record.bytes, record.size);
}

static struct sched_threads *begin_threads(bool whole)
{
	struct sched_threads *threads = calloc(1, sizeof *threads);
	assert_non_null(threads);
	int fd = memfd_create("image", MFD_CLOEXEC);
	assert_true(fd >= 0);
	if (whole) {
		assert_true(sched_format_switch(&threads->a_switch, switch_format));
		assert_true(sched_format_waking(&threads->waking, waking_format));
	}
	sched_image_begin(&threads->image, fd);
	threads->own = !whole;
	sched_trace_thread(threads, PROCESS, PROCESS);
	return threads;
}

static void end_threads(struct sched_threads *threads)
{
	close(threads->image.fd);
	sched_threads_free(threads);
	free(threads);
}

/* An event of the image, as doc/recording.md has it. */
struct wanted {
	unsigned kind;
	uint64_t time;
	uint32_t number, first, second;
};

static void expect_events(struct sched_threads *threads, const struct wanted *wanted, size_t count)
{
	const struct sched_chunk *chunk = &threads->image.events;
	struct trace_image_record record;
	size_t at = IMAGE_CHUNK_HEAD;
	for (size_t i = 0; i < count; i++, at += record.size) {
		assert_true(trace_image_record(chunk->bytes + at, chunk->used - at, &record));
		assert_int_equal(record.kind, wanted[i].kind);
		assert_int_equal(record.time, wanted[i].time);
		assert_int_equal(record.number, wanted[i].number);
		assert_int_equal(record.second, wanted[i].first | (uint64_t)wanted[i].second << 32);
	}
	assert_int_equal(at, chunk->used);
}

static void formats(void **state)
{
	struct sched_tracepoint point = {0};
	(void)state;
	assert_true(sched_format_switch(&point, switch_format));
	assert_int_equal(point.id, SWITCH_ID);
	assert_int_equal(point.thread.offset, 24);
	assert_int_equal(point.state.size, 8);
	assert_int_equal(point.next_name.offset, 40);
	assert_int_equal(point.next_thread.offset, 56);
	assert_true(sched_format_waking(&point, waking_format));
	assert_int_equal(point.id, WAKING_ID);
	assert_int_equal(point.thread.offset, 24);
	assert_int_equal(point.cpu.offset, 32);
	assert_false(sched_format_switch(&point, waking_format));
	assert_false(sched_format_waking(&point, ""));
}

/* Both sides; what neither of two strangers does is nobody's business. */
static void tracepoints(void **state)
{
	struct sched_threads *threads = begin_threads(true);
	(void)state;
	take(threads, switch_of(10, STRANGER, STRANGER, 1, STRANGER + 1));
	take(threads, fork_of(PROCESS, THREAD, PROCESS));
	take(threads, switch_of(20, PROCESS, PROCESS, 0x100, THREAD)); /* TASK_REPORT_MAX: preempted */
	take(threads, switch_of(30, PROCESS, THREAD, 2, 0));           /* waits for a disk; idle comes */
	take(threads, waking_of(40, STRANGER, THREAD, 5));
	take(threads, waking_of(41, PROCESS, STRANGER, 5));
	take(threads, switch_of(50, 0, 0, 0, THREAD));
	take(threads, switch_of(60, PROCESS, THREAD, 4, PROCESS));      /* stopped */
	take(threads, switch_of(70, PROCESS, PROCESS, 0x10, STRANGER)); /* EXIT_DEAD */
	take(threads, fork_of(STRANGER, PROCESS, STRANGER));            /* the number once more */
	take(threads, switch_of(80, STRANGER, PROCESS, 0, STRANGER));
	const struct wanted wanted[] = {
	    {IMAGE_SWITCH, 20, 3 | TW_SCHED_RUNNING << 16, PROCESS, THREAD},
	    {IMAGE_SWITCH, 30, 3 | TW_SCHED_BLOCKED << 16, THREAD, 0},
	    {IMAGE_WAKEUP, 40, 5, THREAD, STRANGER},
	    {IMAGE_SWITCH, 50, 3 | TW_SCHED_RUNNING << 16, 0, THREAD},
	    {IMAGE_SWITCH, 60, 3 | TW_SCHED_SUSPENDED << 16, THREAD, PROCESS},
	    {IMAGE_SWITCH, 70, 3 | TW_SCHED_DEAD << 16, PROCESS, STRANGER},
	};
	expect_events(threads, wanted, sizeof wanted / sizeof *wanted);
	end_threads(threads);
}

static struct record own(uint64_t time, uint32_t thread, uint16_t misc)
{
	struct record record = begin(PERF_RECORD_SWITCH, misc);
	put_id(&record, PROCESS, thread, time, 1);
	return record;
}

/* A thread tells its own switches. */
static void own_switches(void **state)
{
	struct sched_threads *threads = begin_threads(false);
	struct record lost = begin(PERF_RECORD_LOST, 0), end = begin(PERF_RECORD_EXIT, 0);
	const uint64_t numbers[] = {9, 4}; /* of the event, of records */
	const uint32_t task[] = {PROCESS, PROCESS, THREAD, PROCESS, 0, 0};
	(void)state;
	put(&lost, numbers, sizeof numbers);
	put_id(&lost, 0, 0, 0, 0);
	put(&end, task, sizeof task);
	put_id(&end, PROCESS, THREAD, 50, 1);
	take(threads, fork_of(PROCESS, THREAD, PROCESS));
	take(threads, own(10, THREAD, 0));
	take(threads, own(20, THREAD, PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT));
	take(threads, lost);
	take(threads, own(30, THREAD, 0));
	take(threads, own(40, THREAD, PERF_RECORD_MISC_SWITCH_OUT));
	take(threads, own(45, THREAD, 0));
	take(threads, end);
	const struct wanted wanted[] = {
	    {IMAGE_SWITCH, 10, 1 | TW_SCHED_RUNNING << 16, SCHED_OTHERS, THREAD},
	    {IMAGE_SWITCH, 20, 1 | TW_SCHED_RUNNING << 16, THREAD, SCHED_OTHERS},
	    {IMAGE_SWITCH, 30, 1 | TW_SCHED_RUNNING << 16, SCHED_OTHERS, THREAD},
	    {IMAGE_SWITCH, 40, 1 | TW_SCHED_BLOCKED << 16, THREAD, SCHED_OTHERS},
	    {IMAGE_SWITCH, 45, 1 | TW_SCHED_RUNNING << 16, SCHED_OTHERS, THREAD},
	    {IMAGE_SWITCH, 50, 1 | TW_SCHED_DEAD << 16, THREAD, SCHED_OTHERS},
	};
	expect_events(threads, wanted, sizeof wanted / sizeof *wanted);
	assert_int_equal(threads->lost, 4);
	end_threads(threads);
}

/* Records that are cut anywhere, or whose raw part says that it is longer. */
static void cut(void **state)
{
	struct sched_threads *threads = begin_threads(true);
	const struct record records[] = {switch_of(20, PROCESS, PROCESS, 0, THREAD), waking_of(1, STRANGER, PROCESS, 0),
	                                 fork_of(PROCESS, THREAD, PROCESS), own(1, THREAD, 0)};
	(void)state;
	for (size_t i = 0; i < sizeof records / sizeof *records; i++)
		for (size_t size = sizeof(struct perf_event_header); size < records[i].size; size++) {
			uint8_t *bytes = malloc(size); /* so that what is behind is found to be read */
			assert_non_null(bytes);
			memcpy(bytes, records[i].bytes, size);
			sched_take_task(threads, bytes, size);
			sched_take_switch(threads, bytes, size);
			free(bytes);
		}
	end_threads(threads);
}

/* Many events are several chunks, and all of them are in the file. */
static void many(void **state)
{
	enum { EVENTS = 10000, PLACES = (IMAGE_CHUNK_MOST - IMAGE_CHUNK_HEAD) / 24 };
	struct sched_threads *threads = begin_threads(false);
	struct image_chunk head;
	size_t found = 0;
	(void)state;
	for (uint64_t i = 0; i < EVENTS; i++) {
		take(threads, own(i, THREAD, i % 2 ? PERF_RECORD_MISC_SWITCH_OUT : 0));
		if (i % 1000 == 0)
			sched_image_flush(&threads->image, false);
	}
	sched_image_flush(&threads->image, true);
	for (off_t at = IMAGE_PAGE; pread(threads->image.fd, (void *)&head, sizeof head, at) == sizeof head;
	     at += IMAGE_CHUNK_MOST) {
		assert_true(head.magic == IMAGE_CHUNK_MAGIC && head.size == IMAGE_CHUNK_MOST);
		found += (uint32_t)head.owner == IMAGE_DURABLE ? 0 : head.committed / 24;
	}
	assert_int_equal(found, EVENTS);
	assert_int_equal(threads->image.header.now.chunks, ((EVENTS + PLACES - 1) / PLACES + 1) * IMAGE_CHUNK_MOST);
	assert_false(threads->image.failed);
	end_threads(threads);
}

/* Threads of others are many: those of the programs have names all the same. */
static void strangers(void **state)
{
	enum { STRANGERS = 30000 };
	struct sched_threads *threads = begin_threads(true);
	struct tw_input *input;
	struct trace_image image;
	char path[64];
	size_t named = 0;
	(void)state;
	for (uint32_t i = 0; i < STRANGERS; i++)
		take(threads, switch_of(i, 100000 + i, 100000 + i, 1, 100001 + i));
	take(threads, fork_of(PROCESS, THREAD, PROCESS));
	take(threads, switch_of(STRANGERS, PROCESS, PROCESS, 1, THREAD));
	sched_image_flush(&threads->image, true);
	snprintf(path, sizeof path, "/proc/self/fd/%d", threads->image.fd);
	assert_int_equal(tw_input_open_regular(&input, path), 0);
	assert_int_equal(trace_image_load(&image, input, NULL), 0);
	assert_int_equal(image.damaged, 0);
	for (size_t i = 0; i < image.threads.count; i++)
		named += image.threads.items[i].defined && image.threads.items[i].name != 0;
	assert_int_equal(named, 2);
	trace_image_free(&image);
	tw_input_close(input);
	end_threads(threads);
}

SUITE(sched_records)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(formats),      cmocka_unit_test(tracepoints),
	                                   cmocka_unit_test(own_switches), cmocka_unit_test(cut),
	                                   cmocka_unit_test(many),         cmocka_unit_test(strangers)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
