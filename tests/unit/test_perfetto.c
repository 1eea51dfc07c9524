/* test_perfetto.c - events to Perfetto's protobuf. The bytes expected are written by hand from the protobuf document
 * and the field numbers of Perfetto's .proto files. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export.h"
#include "suite.h"

#include "export/perfetto/perfetto.h"
#include "export/perfetto/protobuf.h"

static int setup(void **state)
{
	return setup_for(state, "perfetto");
}

/* Packet: sequence_id 1 (50 01), sequence_flags (68). */
#define CLOCK "0a15 40e807 5001 6803 b80501 3209 0a05 0806 10e807 1006 "
#define PROCESS "0a0d 5001 6802 e20306 0801 1a02 0807 "
#define MAIN "0a11 5001 6802 e2030a 0804 2801 2204 0807 1007 "
#define WORKER "0a11 5001 6802 e2030a 0806 2801 2204 0807 1008 "
#define FIB "6209 1207 0801 1203 666962 "    /* interned_data: event_names { iid 1 name "fib" } */
#define LEAF "620a 1208 0802 1204 6c656166 " /* the same: 2, "leaf" */

static unsigned nibble(char digit)
{
	return (unsigned)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

/* Compares what was written with digits in hexadecimal, in which blanks mean nothing. */
static void expect(struct fixture *f, const char *digits)
{
	uint8_t bytes[2048];
	size_t size = 0;
	bool high = true;
	finish(f);
	for (const char *p = digits; *p; p++) {
		if (*p == ' ')
			continue;
		assert_true(size < sizeof bytes);
		bytes[size] = (uint8_t)(high ? nibble(*p) << 4 : bytes[size] | nibble(*p));
		size += !high;
		high = !high;
	}
	if (f->size != size || memcmp(f->text, bytes, size) != 0) {
		for (size_t i = 0; i < f->size; i++)
			print_message("%02x", (uint8_t)f->text[i]);
		print_message("\n");
	}
	assert_int_equal(f->size, size);
	assert_memory_equal(f->text, bytes, size);
}

static void test_slices(void **state)
{
	struct fixture *f = *state;
	PUT(f, EVENT(5, TW_SLICE_BEGIN, f->main, f->fib), EVENT(6, TW_SLICE_BEGIN, f->main, f->leaf),
	    EVENT(9, TW_SLICE_END, f->main, f->fib), EVENT(10, TW_SLICE_END, f->main, f->leaf),
	    EVENT(10, TW_SLICE_BEGIN, f->main, f->fib));
	expect(f, CLOCK PROCESS MAIN "0a1a 40ed07 5001 6802 " FIB "5a06 4801 5804 5001 "  /* begin of fib */
	                             "0a1b 40ee07 5001 6802 " LEAF "5a06 4801 5804 5002 " /* begin of leaf */
	                             "0a1a 40f107 5001 6802 5a11 4802 5804 220b 5207 756e776f756e64 1001 "
	                             "0a0d 40f107 5001 6802 5a04 4802 5804 " /* end of fib */
	                             "0a0f 40f207 5001 6802 5a06 4801 5804 5001 ");
	expect_loss(f, "exit without entry", 0, 1);
}

static void test_complete_slices(void **state)
{
	struct fixture *f = *state;
	PUT(f, EVENT(5, TW_SLICE_COMPLETE, f->main, f->fib, .value = 10),
	    EVENT(7, TW_SLICE_COMPLETE, f->main, f->leaf, .value = 2), EVENT(20, TW_SLICE_BEGIN, f->worker, f->fib));
	expect_no_loss(f);
	expect(f, CLOCK PROCESS MAIN
	       "0a1a 40ed07 5001 6802 " FIB "5a06 4801 5804 5001 "
	       "0a1b 40ef07 5001 6802 " LEAF "5a06 4801 5804 5002 " WORKER "0a0f 40fc07 5001 6802 5a06 4801 5806 5001 "
	       /* Nothing else happened on the first track, so that it is told last how it went on. */
	       "0a0d 40f107 5001 6802 5a04 4802 5804 "
	       "0a0d 40f707 5001 6802 5a04 4802 5804 ");
}

/* What is open inside of a slice that ends must end, too: readers end the innermost. */
static void test_open_in_complete_slice(void **state)
{
	struct fixture *f = *state;
	PUT(f, EVENT(4, TW_SLICE_BEGIN, f->main, f->leaf), EVENT(5, TW_SLICE_COMPLETE, f->main, f->fib, .value = 10),
	    EVENT(7, TW_SLICE_BEGIN, f->main, f->leaf));
	expect_no_loss(f);
	expect(f, CLOCK PROCESS MAIN "0a1b 40ec07 5001 6802 " LEAF "5a06 4801 5804 5002 "
	                             "0a1a 40ed07 5001 6802 " FIB "5a06 4801 5804 5001 "
	                             "0a0f 40ef07 5001 6802 5a06 4801 5804 5002 "
	                             "0a1a 40f707 5001 6802 5a11 4802 5804 220b 5207 756e776f756e64 1001 "
	                             "0a0d 40f707 5001 6802 5a04 4802 5804 ");
}

static void test_arguments(void **state)
{
	struct fixture *f = *state;
	uint32_t x = name(f, "x"); /* 4 */
	const struct tw_argument arguments[] = {
	    {.name = x, .type = TW_ARG_NULL},
	    {.name = x, .type = TW_ARG_BOOL, .value.u = 1},
	    {.name = x, .type = TW_ARG_INT, .value.i = -1},
	    {.name = x, .type = TW_ARG_UINT, .value.u = 300},
	    {.name = x, .type = TW_ARG_POINTER, .value.u = 16},
	    {.name = x, .type = TW_ARG_KOID, .value.u = 5, .size = f->fib},
	    {.name = x, .type = TW_ARG_DOUBLE, .value.d = 1},
	    {.name = x, .type = TW_ARG_TEXT, .value.bytes = (const uint8_t *)"a\xff", .size = 2},
	    {.name = 0, .type = TW_ARG_BYTES, .value.bytes = (const uint8_t *)"\0\xab", .size = 2},
	};
	memcpy(f->arguments, arguments, sizeof arguments);
	PUT(f, EVENT(0, TW_INSTANT, f->main, f->fib, .category = f->cat, .argument_count = 9));
	expect_no_loss(f);
	expect(f, CLOCK PROCESS MAIN "0a9001 40e807 5001 6802 "
	                             "6219 1207 0801 1203 666962 0a07 0803 1203 636174 1a05 0804 1201 78 "
	                             "5a6c 4803 5804 5001 1803 "
	                             "2208 0804 3204 6e756c6c "
	                             "2204 0804 1001 "
	                             "220d 0804 20ffffffffffffffffff01 "
	                             "2205 0804 18ac02 "
	                             "2204 0804 3810 "
	                             "220d 0804 3209 307835202866696229 "
	                             "220b 0804 29000000000000f03f "
	                             "2208 0804 3204 61efbfbd "
	                             "2210 5208 617267756d656e74 3204 30306162 ");
}

static void test_counter_flow_and_async(void **state)
{
	struct fixture *f = *state;
	f->arguments[0] = (struct tw_argument){.name = f->leaf, .type = TW_ARG_INT, .value.i = -2};
	f->arguments[1] = (struct tw_argument){.name = f->cat, .type = TW_ARG_TEXT};
	PUT(f, EVENT(0, TW_COUNTER, f->main, f->fib, .argument_count = 2));
	PUT(f, EVENT(0, TW_COUNTER, f->main, f->fib, .argument_count = 1));
	expect_loss(f, "counter value", 0, 1);
	const char *text = finish(f);
	/* The track of the series is described once: parent 1, name "fib leaf", a counter. */
	assert_non_null(memmem(text, f->size,
	                       "\x28\x01\x12\x08"
	                       "fib leaf\x42\x00",
	                       14));
	const char *last = text + f->size - 36;
	assert_memory_equal(last, "\x0a\x22\x40\xe8\x07\x50\x01\x68\x02\x5a\x19\x48\x04\x58",
	                    14);                                     /* TYPE_COUNTER, its track */
	assert_memory_equal(text + f->size - 2, "\xff\x01", 2);      /* the end of -2 */
	assert_memory_equal(text + f->size - 12, "\xf0\x01\xfe", 3); /* counter_value */
}

static void test_scheduling(void **state)
{
	struct fixture *f = *state;
	tw_dictionary_name_track(f->reader.dictionary, f->worker, f->leaf);
	uint32_t idle = track(f, TW_TRACK_THREAD, 0, 0);
	PUT(f, EVENT(0, TW_WAKEUP, f->worker, 0, .other = f->main, .cpu = 2),
	    EVENT(1, TW_SWITCH, f->worker, 0, .other = idle, .value = 3, .cpu = 1));
	expect_no_loss(f);
	finish(f);
	/* ftrace_events { cpu 2 event { timestamp 1000 pid 7 sched_waking { comm "leaf" pid 8 target_cpu 2 } } } */
	static const char waking[] =
	    "\x0a\x16\x08\x02\x12\x12\x08\xe8\x07\x10\x07\xa2\x01\x0a\x0a\x04leaf\x10\x08\x28\x02";
	/* cpu 1, sched_switch { prev_comm "leaf" prev_pid 8 prev_state 1 next_comm "swapper" next_pid 0 } */
	static const char away[] =
	    "\x08\x01\x12\x1c\x08\xe9\x07\x10\x08\x22\x15\x0a\x04leaf\x10\x08\x20\x01\x2a\x07swapper\x30\x00";
	assert_non_null(memmem(f->text, f->size, waking, sizeof waking - 1));
	assert_non_null(memmem(f->text, f->size, away, sizeof away - 1));
}

static void put_cpu(struct fixture *f, const char *text, uint64_t id, uint32_t value_name, int64_t value)
{
	f->arguments[0] = (struct tw_argument){.name = value_name, .type = TW_ARG_INT, .value.i = value};
	PUT(f, EVENT(0, TW_COUNTER, f->main, name(f, text), .id = id, .argument_count = 1));
}

static void expect_bytes(const struct fixture *f, const char *bytes, size_t size, bool there)
{
	assert_true((memmem(f->text, f->size, bytes, size) != NULL) == there);
}

/* Fields 11 and 13 of FtraceEvent (ftrace_event.proto), 1 and 2 of both (power.proto). */
static void test_frequencies_and_idle_states(void **state)
{
	struct fixture *f = *state;
	uint32_t value = name(f, "value");
	put_cpu(f, "CPU 12 Frequency", 0, value, 5);
	put_cpu(f, "cpuidle", 1, value, -1);
	put_cpu(f, "cpuidle", 1023, value, 6);
	put_cpu(f, "cpuidle", 1024, value, 77);   /* Perfetto refuses a trace with such a CPU */
	put_cpu(f, "CPU idle", 0, value, 78);     /* of which CPU? */
	put_cpu(f, "cpufreq", 2, value, -2);      /* no frequency */
	put_cpu(f, "cpu 2 freque", 0, value, 79); /* something else */
	put_cpu(f, "cpu_idle", 3, name(f, "cpu"), 80);
	expect_no_loss(f);
	finish(f);
#define EXPECT(bytes, there) expect_bytes(f, bytes, sizeof bytes - 1, there)
	/* cpu 12 event { timestamp 1000 pid 0 cpu_frequency { state 5 cpu_id 12 } } */
	EXPECT("\x08\x0c\x12\x0b\x08\xe8\x07\x10\x00\x5a\x04\x08\x05\x10\x0c", true);
	/* cpu 1, cpu_idle { state 4294967295 cpu_id 1 } */
	EXPECT("\x08\x01\x12\x0f\x08\xe8\x07\x10\x00\x6a\x08\x08\xff\xff\xff\xff\x0f\x10\x01", true);
	EXPECT("\x6a\x05\x08\x06\x10\xff\x07", true);
	for (char number = 77; number <= 80; number++) {
		const char state_of_it[] = {0x08, number, 0x10}, counter_value[] = {(char)0xf0, 0x01, number};
		expect_bytes(f, state_of_it, sizeof state_of_it, false);
		expect_bytes(f, counter_value, sizeof counter_value, true);
	}
	EXPECT("\xf0\x01\xfe", true); /* -2 */
}

/* Two values tell the CPU and its frequency; a third is the counter's own. Of a CPU a second process tells as well, which
 * may be another machine's, the counter is its own. */
static void test_cpu_as_a_value(void **state)
{
	struct fixture *f = *state;
	uint32_t other = track(f, TW_TRACK_THREAD, 9, 9), frequency = name(f, "cpu_frequency");
	f->arguments[0] = (struct tw_argument){.name = name(f, "cpu"), .type = TW_ARG_UINT, .value.u = 3};
	f->arguments[1] = (struct tw_argument){.name = name(f, "cluster"), .type = TW_ARG_UINT, .value.u = 33};
	f->arguments[2] = (struct tw_argument){.name = name(f, "value"), .type = TW_ARG_DOUBLE, .value.d = 5};
	PUT(f, EVENT(0, TW_COUNTER, f->main, frequency, .argument_count = 3));
	f->arguments[2].value.d = 6;
	PUT(f, EVENT(0, TW_COUNTER, other, frequency, .argument_count = 3));
	expect_no_loss(f);
	finish(f);
	EXPECT("\x5a\x04\x08\x05\x10\x03", true);
	EXPECT("cpu_frequency cluster", true);
	EXPECT("\xf0\x01\x21", true);
	EXPECT("\x5a\x04\x08\x06\x10\x03", false);
	EXPECT("cpu_frequency value", true);
#undef EXPECT
}

/* Perfetto's FtraceTokenizer refuses the whole trace for a CPU of 1024 or more: such get numbers that are free. */
static void test_large_cpus(void **state)
{
	struct fixture *f = *state;
	static const uint16_t cpus[] = {1023, 1024, 999, 65535, 1024, 999, 1023};
	static const char expected[][3] = {"\xff\x07", "\xe7\x07", "\xe6\x07", "\xe5\x07", /* 1023, 999, 998, 997 */
	                                   "\xe7\x07", "\xe6\x07", "\xff\x07"};
	for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++)
		PUT(f, EVENT(0, TW_SWITCH, f->worker, 0, .other = f->main, .value = 3, .cpu = cpus[i]));
	expect_loss(f, "CPU number", 3, 0);
	finish(f);
	const char *at = f->text, *end = f->text + f->size;
	for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++) {
		/* event { timestamp 1000 pid 8 sched_switch { prev_pid 8 prev_state 1 next_pid 7 } } */
		at = memmem(at, (size_t)(end - at), "\x12\x0d\x08\xe8\x07\x10\x08\x22", 8);
		assert_non_null(at);
		assert_memory_equal(at - 3, "\x08", 1);
		assert_memory_equal(at - 2, expected[i], 2);
		at += 8;
	}
}

/* Who wakes is told as the pid of the event: nothing of it is lost. */
static void test_waker(void **state)
{
	struct fixture *f = *state;
	f->arguments[0] = (struct tw_argument){.name = name(f, "waker"), .type = TW_ARG_KOID, .value.u = 7};
	f->arguments[1] = (struct tw_argument){.name = name(f, "weight"), .type = TW_ARG_INT, .value.i = 9};
	PUT(f, EVENT(0, TW_WAKEUP, f->worker, 0, .other = f->main, .argument_count = 1));
	expect_no_loss(f);
	PUT(f, EVENT(0, TW_WAKEUP, f->worker, 0, .other = f->main, .argument_count = 2),
	    EVENT(0, TW_WAKEUP, f->worker, 0, .argument_count = 1));
	expect_loss(f, "argument", 0, 2);
	finish(f);
}

/* A text is no priority, whatever it is called; neither is a double. */
static void test_odd_priority(void **state)
{
	struct fixture *f = *state;
	uint32_t priority = name(f, "incoming_priority"), other = name(f, "outgoing_priority");
	f->arguments[0] = (struct tw_argument){.name = priority,
	                                       .type = TW_ARG_TEXT,
	                                       .value.bytes = (const uint8_t *)"high",
	                                       .size = 4};
	f->arguments[1] = (struct tw_argument){.name = other, .type = TW_ARG_DOUBLE, .value.d = 1};
	PUT(f, EVENT(0, TW_SWITCH, f->worker, 0, .other = f->main, .value = 3, .cpu = 1, .argument_count = 2));
	expect_loss(f, "argument", 0, 2);
	finish(f);
	/* cpu 1 event { timestamp 1000 pid 8 sched_switch { prev_pid 8 prev_state 1 next_pid 7 } } */
	static const char expected[] = "\x08\x01\x12\x0d\x08\xe8\x07\x10\x08\x22\x06\x10\x08\x20\x01\x30\x07";
	assert_non_null(memmem(f->text, f->size, expected, sizeof expected - 1));
}

/* A thread is called in each switch what it is called by then. */
static void test_names_in_switches(void **state)
{
	struct fixture *f = *state;
	char name40[41] = "";
	memset(name40, 'x', 40);
	const uint32_t names[] = {f->leaf, f->fib, name(f, name40), f->fib};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		tw_dictionary_name_track(f->reader.dictionary, f->worker, names[i]);
		PUT(f, EVENT(i, TW_SWITCH, f->worker, 0, .other = f->main, .value = 3, .cpu = 1),
		    EVENT(i, TW_SWITCH, f->worker, 0, .other = f->worker, .value = 3, .cpu = 1));
	}
	expect_no_loss(f);
	finish(f);
	/* cpu 1 event { timestamp 1000 pid 8 sched_switch { prev_comm prev_pid 8 prev_state 1 next_pid 7 } } */
	static const char first[] = "\x08\x01\x12\x13\x08\xe8\x07\x10\x08\x22\x0c\x0a\x04leaf\x10\x08\x20\x01\x30\x07";
	static const char second[] = "\x08\x01\x12\x12\x08\xe9\x07\x10\x08\x22\x0b\x0a\x03"
				     "fib\x10\x08\x20\x01\x30\x07";
	static const char third[] = "\x08\x01\x12\x37\x08\xea\x07\x10\x08\x22\x30\x0a\x28xxxxxxxx";
	/* The same with next_comm and next_pid 8, the whole packet, which has sequence_flags 2. */
	static const char last[] =
	    "\x0a\x21\x50\x01\x68\x02\x0a\x1b\x08\x01\x12\x17\x08\xeb\x07\x10\x08\x22\x10\x0a\x03"
	    "fib\x10\x08\x20\x01\x2a\x03"
	    "fib\x30\x08";
	assert_non_null(memmem(f->text, f->size, first, sizeof first - 1));
	assert_non_null(memmem(f->text, f->size, second, sizeof second - 1));
	assert_non_null(memmem(f->text, f->size, third, sizeof third - 1));
	assert_non_null(memmem(f->text, f->size, last, sizeof last - 1));
}

static void test_sample(void **state)
{
	struct fixture *f = *state;
	uint32_t stack = push_leaf(f, PLACE(.name = f->fib));
	assert_int_equal(stack, 2);
	PUT(f, EVENT(0, TW_STACK_SAMPLE, f->main, 0, .value = 1, .other = stack, .cpu = 3));
	expect_loss(f, "stack-sample", 1, 0);
	expect(
	    f, CLOCK PROCESS MAIN
	    "0a5f 40e807 5001 6802 624b "
	    "8a0104 0801 1200 "                   /* mapping_paths: 1, "" */
	    "9a0104 0801 3801 "                   /* mappings: 1, path 1 */
	    "2a08 0802 1204 6c656166 "            /* function_names: 2, "leaf" */
	    "920107 0804 1203 612e63 "            /* source_paths: 4, "a.c" */
	    "320c 0803 1002 1801 2010 2804 300c " /* frames: 3, function 2, mapping 1, rel_pc 16, source 4, line 12 */
	    "2a07 0801 1203 666962 "              /* function_names: 1, "fib" */
	    "3208 0802 1001 1801 2000 "           /* frames: 2, function 1, mapping 1, rel_pc 0 */
	    "3a06 0802 1002 1003 "                /* callstacks: 2, frames 2, 3: the outermost first */
	    "920408 0803 1007 1807 2002 ");       /* perf_sample: cpu, pid, tid, callstack_iid */
}

/* The flags of FXT's backtraces stand behind the addresses. */
static void test_sample_of_addresses(void **state)
{
	struct fixture *f = *state;
	f->arguments[0] = (struct tw_argument){.type = TW_ARG_POINTER, .value.u = 16};
	f->arguments[1] = (struct tw_argument){.name = f->cat, .type = TW_ARG_UINT, .value.u = 9};
	PUT(f, EVENT(0, TW_STACK_SAMPLE, f->main, 0, .value = 1, .argument_count = 2));
	expect_loss(f, "stack-sample", 1, 0);
	expect(f, CLOCK PROCESS MAIN "0a40 40e807 5001 6802 6228 "
	                             "8a0104 0801 1200 9a0104 0801 3801 "
	                             "320a 088080808010 1801 2010 "          /* frames: 2^32, mapping 1, rel_pc 16 */
	                             "3a0c 088180808010 108080808010 "       /* callstacks: 2^32 + 1, frame 2^32 */
	                             "92040c 0800 1007 1807 208180808010 "); /* perf_sample */
}

static void test_log(void **state)
{
	struct fixture *f = *state;
	f->arguments[0] = (struct tw_argument){.type = TW_ARG_TEXT, .value.bytes = (const uint8_t *)"hi", .size = 2};
	PUT(f, EVENT(0, TW_LOG, f->main, 0, .argument_count = 1));
	expect_no_loss(f);
	expect(f, CLOCK PROCESS MAIN "0a31 40e807 5001 6802 "
	                             "620d a2010a 088080808010 1202 6869 " /* log_message_body: iid 2^32, "hi" */
	                             "5a19 4803 5804 ba0103 6c6f67 b20103 6c6f67 aa0106 108080808010 ");
}

/* What was told before a reset is told again after it. */
static void test_reset(void **state)
{
	struct fixture *f = *state;
	static uint8_t bytes[PERFETTO_VALUE_MAX];
	static const char begins_anew[] = "\x68\x03";
	unsigned found = 0;
	memset(bytes, 'x', sizeof bytes);
	f->arguments[0] = (struct tw_argument){.type = TW_ARG_TEXT, .value.bytes = bytes, .size = sizeof bytes};
	for (unsigned i = 0; i < 2u * PERFETTO_RESET_BYTES / PERFETTO_VALUE_MAX + 2; i++)
		PUT(f, EVENT(0, TW_INSTANT, f->main, f->fib, .argument_count = 1));
	finish(f);
	for (const char *p = f->text; (p = memmem(p, f->size - (size_t)(p - f->text), begins_anew, 2)); p++)
		found++;
	assert_int_equal(found, 3);
	found = 0;
	for (const char *p = f->text; (p = memmem(p, f->size - (size_t)(p - f->text), "fib", 3)); p++)
		found++;
	assert_int_equal(found, 3);
}

static void test_large_ids(void **state)
{
	struct fixture *f = *state;
	uint32_t far = track(f, TW_TRACK_THREAD, 7, UINT64_C(1) << 40);
	PUT(f, EVENT(0, TW_INSTANT, far, f->fib));
	expect_loss(f, "process or thread id", 1, 0);
	finish(f);
	/* thread { pid 7, tid 2^31 - 1 - 3 } */
	assert_non_null(memmem(f->text, f->size, "\x22\x08\x08\x07\x10\xfc\xff\xff\xff\x07", 10));
}

/* ---- Fields of protobuf. ---- */

/* As a string of two bytes of size, which is more than 127. */
static bool has_string(const struct fixture *f, uint8_t field, const char *text, size_t size)
{
	uint8_t bytes[512] = {(uint8_t)(field << 3 | 2), (uint8_t)(size | 128), (uint8_t)(size >> 7)};
	assert_in_range(size, 128, sizeof bytes - 3);
	memcpy(bytes + 3, text, size);
	return memmem(f->text, f->size, bytes, size + 3);
}

/* The names of objects and counters are whole. */
static void test_long_names(void **state)
{
	enum { LONG = 301, OBJECT_NAME = 6, TRACK_NAME = 2 };
	struct fixture *f = *state;
	char text[LONG + 1], wanted[LONG + 16];
	memset(text, 'c', LONG);
	text[LONG] = '\0';
	uint32_t number = name(f, text);
	f->arguments[0] = (struct tw_argument){.name = f->fib, .type = TW_ARG_KOID, .value.u = 26, .size = number};
	PUT(f, EVENT(0, TW_INSTANT, f->main, f->leaf, .argument_count = 1));
	f->arguments[0] = (struct tw_argument){.name = f->fib, .type = TW_ARG_INT, .value.i = 1};
	PUT(f, EVENT(0, TW_COUNTER, f->main, number, .argument_count = 1));
	expect_no_loss(f);
	finish(f);
	assert_true(has_string(f, OBJECT_NAME, wanted, (size_t)snprintf(wanted, sizeof wanted, "0x1a (%s)", text)));
	assert_true(has_string(f, TRACK_NAME, wanted, (size_t)snprintf(wanted, sizeof wanted, "%s fib", text)));
}

static void test_long_message(void **state)
{
	(void)state;
	struct tw_proto proto = {0};
	size_t begin = tw_proto_begin(&proto, 1);
	for (unsigned i = 0; i < 100; i++)
		tw_proto_uint(&proto, 2, 1);
	tw_proto_end(&proto, begin);
	assert_int_equal(proto.length, 203);
	assert_memory_equal(proto.bytes, "\x0a\xc8\x01\x10\x01", 5);
	tw_proto_free(&proto);
}

static void test_strings(void **state)
{
	(void)state;
	struct tw_proto proto = {0};
	tw_proto_string(&proto, 1,
	                "\xff"
	                "a\xc3\xa4\xc3",
	                5);
	tw_proto_string(&proto, 1, "", 0);
	assert_int_equal(proto.length, 13);
	assert_memory_equal(proto.bytes,
	                    "\x0a\x09\xef\xbf\xbd"
	                    "a\xc3\xa4\xef\xbf\xbd\x0a\x00",
	                    13);
	tw_proto_free(&proto);
}

/* The document, "Base 128 Varints": 7 bits a byte, the least significant first; the top bit says that another
 * follows. */
static void test_varints(void **state)
{
	(void)state;
	static const struct {
		uint64_t value;
		size_t size;
		uint8_t bytes[TW_PROTO_VARINT_MAX];
	} varints[] = {
	    {0, 1, {0}},
	    {1, 1, {1}},
	    {127, 1, {0x7f}},
	    {128, 2, {0x80, 1}},
	    {150, 2, {0x96, 1}},
	    {16383, 2, {0xff, 0x7f}},
	    {16384, 3, {0x80, 0x80, 1}},
	    {UINT64_C(1) << 42, 7, {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1}},
	    {(UINT64_C(1) << 49) - 1, 7, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}},
	    {(UINT64_C(1) << 56) - 1, 8, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}},
	    {UINT64_C(1) << 56, 9, {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1}},
	    {UINT64_MAX >> 1, 9, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}},
	    {UINT64_MAX, 10, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}},
	};
	for (size_t i = 0; i < sizeof varints / sizeof *varints; i++) {
		uint8_t bytes[TW_PROTO_VARINT_MAX] = {0};
		assert_ptr_equal(tw_proto_digits(bytes, varints[i].value), bytes + varints[i].size);
		assert_memory_equal(bytes, varints[i].bytes, varints[i].size);
	}
}

/* Each bit stands where it belongs, whatever the size. */
static void test_varint_bits(void **state)
{
	(void)state;
	for (unsigned bit = 0; bit < 64; bit++) {
		uint8_t bytes[TW_PROTO_VARINT_MAX];
		size_t size = (size_t)(tw_proto_digits(bytes, UINT64_C(1) << bit) - bytes);
		assert_int_equal(size, bit / 7 + 1);
		for (size_t i = 0; i + 1 < size; i++)
			assert_int_equal(bytes[i], 0x80);
		assert_int_equal(bytes[size - 1], 1 << bit % 7);
	}
}

SUITE(perfetto)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_slices, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_complete_slices, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_open_in_complete_slice, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_arguments, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_counter_flow_and_async, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_scheduling, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_waker, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_odd_priority, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_names_in_switches, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_sample, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_sample_of_addresses, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_log, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_reset, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_frequencies_and_idle_states, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_cpu_as_a_value, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_large_cpus, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_large_ids, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_long_names, setup, teardown),
	    cmocka_unit_test(test_long_message),
	    cmocka_unit_test(test_strings),
	    cmocka_unit_test(test_varints),
	    cmocka_unit_test(test_varint_bits),
	};
	return cmocka_run_group_tests_name("perfetto", tests, NULL, NULL);
}
