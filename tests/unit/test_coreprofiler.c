/* test_coreprofiler.c - what the profiler for .NET writes of what a runtime tells it, which here is a table of answers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "coreprofiler/profiler.h"

#include "suite.h"

/* ---- The runtime: a module with types App (0x02000002), its nested Part`1 (0x02000003), and a method of each. ---- */

enum {
	MODULE = 0x1000,
	APP = 0x2000,
	PART = 0x2001,
	INT = 0x2002,
	APPS = 0x2003,
	RUN = 0x3000,
	ADD = 0x3001,
	BODY = 0x5000
};

static uint64_t now_ms, thread = 0x4000;
static struct profiler_frame stack[8]; /* the innermost first */
static size_t depth;
static unsigned walks;

uint64_t profiler_ms(void)
{
	return now_ms;
}

static void set_name(uint16_t *name, const char *text)
{
	do
		*name++ = (uint16_t)*text;
	while (*text++);
}

static int32_t is_array(struct com *own, uint64_t id, uint32_t *type, uint64_t *base, uint32_t *rank)
{
	*type = 0x12;
	*base = APP;
	*rank = 2;
	return id == APPS ? COM_OK : COM_FALSE;
}

static int32_t current_thread(struct com *own, uint64_t *id)
{
	*id = thread;
	return COM_OK;
}

static uint32_t type_of(uint64_t class_id)
{
	return class_id == APP ? 0x02000002 : class_id == PART ? 0x02000003 : 0x02000004;
}

static int32_t class_info(struct com *own, uint64_t id, uint64_t *module, uint32_t *token)
{
	*module = MODULE;
	*token = type_of(id);
	return COM_OK;
}

static int32_t class_arguments(struct com *own, uint64_t id, uint64_t *module, uint32_t *token, uint64_t *parent,
                               uint32_t room, uint32_t *count, uint64_t *arguments)
{
	*count = id == PART;
	if (*count)
		arguments[0] = INT;
	return class_info(own, id, module, token);
}

/* NOLINTNEXTLINE(readability-function-size): as the runtime has it */
static int32_t function_info(struct com *own, uint64_t id, uint64_t frame, uint64_t *class_id, uint64_t *module,
                             uint32_t *token, uint32_t room, uint32_t *count, uint64_t *arguments)
{
	*class_id = id == RUN ? APP : PART;
	*module = MODULE;
	*token = id == RUN ? 0x06000001 : 0x06000002;
	*count = id == ADD && room;
	if (*count)
		arguments[0] = APP;
	return COM_OK;
}

static int32_t snapshot(struct com *own, uint64_t id, com_frame *take, uint32_t flags, void *context,
                        uint8_t *registers, uint32_t size)
{
	enum { RSP = 0x98 };
	uint8_t values[RSP + 8] = {0};
	walks++;
	for (size_t i = 0; i < depth; i++) {
		memcpy(values + RSP, &stack[i].sp, sizeof stack[i].sp);
		take(stack[i].function, stack[i].ip, 0, sizeof values, flags ? values : NULL, context);
	}
	return COM_OK;
}

static int32_t object_size(struct com *own, uint64_t object, uint64_t *size)
{
	*size = 24;
	return COM_OK;
}

/* RUN has two bodies when it was compiled again; the second has two pieces. */
static uint32_t bodies_of_run;

static int32_t bodies(struct com *own, uint64_t id, uint64_t rejit, uint32_t room, uint32_t *count, uint64_t *starts)
{
	*count = id == RUN ? bodies_of_run : 0;
	for (uint32_t i = 0; i < *count; i++)
		starts[i] = BODY + 0x100 * (uint64_t)i;
	return COM_OK;
}

static int32_t body_map(struct com *own, uint64_t start, uint32_t room, uint32_t *count, struct com_map *maps)
{
	static const struct com_map own_maps[] = {{UINT32_MAX - 1, 0, 4}, {0x1f, 4, 0x20}};
	*count = start == BODY ? 2 : 0;
	memcpy(maps, own_maps, *count * sizeof *maps);
	return COM_OK;
}

static int32_t body_code(struct com *own, uint64_t start, uint32_t room, uint32_t *count, struct com_code *code)
{
	*count = start == BODY ? 1 : 2;
	code[0] = (struct com_code){start, 0x20};
	code[1] = (struct com_code){start + 0x1000, 8};
	return COM_OK;
}

static bool pinned_heap;

static int32_t generations(struct com *own, uint32_t room, uint32_t *count, struct com_range *ranges)
{
	static const struct com_range all[] = {{0, 0, 10, 100}, {1, 0, 20, 200}, {2, 0, 30, 300},
	                                       {3, 0, 40, 400}, {0, 0, 1, 2},    {4, 0, 50, 500}};
	*count = pinned_heap ? 6 : 5;
	memcpy(ranges, all, sizeof all);
	return COM_OK;
}

static int32_t type_definition(struct com *own, uint32_t token, uint16_t *name, uint32_t room, uint32_t *length,
                               uint32_t *flags, uint32_t *base)
{
	static const char *const names[] = {"My.App", "Part`1", "System.Int32"};
	enum { PUBLIC = 1, NESTED_PUBLIC = 2 };
	set_name(name, names[token - 0x02000002]);
	*flags = token == 0x02000003 ? NESTED_PUBLIC : PUBLIC;
	return COM_OK;
}

static int32_t enclosing_type(struct com *own, uint32_t token, uint32_t *type)
{
	*type = 0x02000002;
	return COM_OK;
}

/* Source of the signatures: ECMA-335, II.23.2.1. RUN: static void (string[], ref int, List-like App<long>, T[,]). ADD:
 * an instance method with one argument of its own, M (uint, T, App*). */
static const uint8_t run_signature[] = {0x00, 4, 0x01, 0x1d, 0x0e, 0x10, 0x08, 0x15, 0x12,
                                        0x08, 1, 0x0a, 0x14, 0x13, 0,    2,    0,    0};
static const uint8_t add_signature[] = {0x30, 1, 3, 0x1e, 0, 0x09, 0x13, 0, 0x0f, 0x12, 0x08};

/* NOLINTNEXTLINE(readability-function-size): as the runtime has it */
static int32_t method(struct com *own, uint32_t token, uint32_t *type, uint16_t *name, uint32_t room, uint32_t *length,
                      uint32_t *flags, const uint8_t **signature, uint32_t *size, uint32_t *address,
                      uint32_t *implementation)
{
	const bool run = token == 0x06000001;
	set_name(name, run ? "Run" : "Add");
	*type = run ? 0x02000002 : 0x02000003;
	*signature = run ? run_signature : add_signature;
	*size = run ? sizeof run_signature : sizeof add_signature;
	return COM_OK;
}

static uint64_t mapped;
static com_function *hooks[3];

static int32_t set_mapper(struct com *own, com_mapper *map, void *context)
{
	int32_t hook = 0;
	mapped = map(RUN, context, &hook);
	assert_int_equal(hook, 1);
	return COM_OK;
}

static int32_t set_hooks(struct com *own, com_function *enter, com_function *leave, com_function *tail_call)
{
	hooks[0] = enter;
	hooks[1] = leave;
	hooks[2] = tail_call;
	return COM_OK;
}

static int32_t release(struct com *own)
{
	return COM_OK;
}

static com_function *const metadata_slots[] = {
    [COM_SLOT_release] = (com_function *)release,
    [COM_SLOT_type_definition] = (com_function *)type_definition,
    [COM_SLOT_method] = (com_function *)method,
    [COM_SLOT_enclosing_type] = (com_function *)enclosing_type,
};
static struct com metadata = {metadata_slots};

static int32_t module_metadata(struct com *own, uint64_t id, uint32_t flags, const struct com_guid *kind,
                               struct com **result)
{
	*result = &metadata;
	return id == MODULE ? COM_OK : COM_FAILED;
}

static com_function *const info_slots[] = {
    [COM_SLOT_is_array] = (com_function *)is_array,
    [COM_SLOT_current_thread] = (com_function *)current_thread,
    [COM_SLOT_class_info] = (com_function *)class_info,
    [COM_SLOT_module_metadata] = (com_function *)module_metadata,
    [COM_SLOT_snapshot] = (com_function *)snapshot,
    [COM_SLOT_function_info] = (com_function *)function_info,
    [COM_SLOT_class_arguments] = (com_function *)class_arguments,
    [COM_SLOT_generations] = (com_function *)generations,
    [COM_SLOT_object_size] = (com_function *)object_size,
    [COM_SLOT_bodies] = (com_function *)bodies,
    [COM_SLOT_body_map] = (com_function *)body_map,
    [COM_SLOT_body_code] = (com_function *)body_code,
    [COM_SLOT_set_mapper] = (com_function *)set_mapper,
    [COM_SLOT_set_hooks] = (com_function *)set_hooks,
};
static struct com info = {info_slots};

/* ---- What is written. ---- */

static int log_fd;

static int begin(void **state)
{
	profiler.info = &info;
	profiler.options = (struct profiler_options){.line_trace = true, .stacks = true};
	log_fd = memfd_create("log", 0);
	return log_fd < 0 || lines_open(&profiler.lines, NULL, 1 << 24) != 0;
}

/* The lines since the last call must be these. */
static void expect_lines(const char *lines)
{
	char text[1 << 13];
	assert_int_equal(ftruncate(log_fd, 0), 0);
	lseek(log_fd, 0, SEEK_SET);
	assert_int_equal(lines_drain(&profiler.lines, log_fd), 0);
	const ssize_t size = pread(log_fd, text, sizeof text - 1, 0);
	assert_true(size >= 0);
	text[size] = '\0';
	assert_string_equal(text, lines);
}

#define CALL(callback, type, ...) (((int32_t(*) type)profiler_callbacks[callback])(NULL, __VA_ARGS__))

static void threads_come_and_go(void **state)
{
	char lines[256];
	CALL(COM_ON_THREAD_CREATED, (struct com *, uint64_t), thread);
	CALL(COM_ON_THREAD_ASSIGNED, (struct com *, uint64_t, uint32_t), thread, (uint32_t)gettid());
	CALL(COM_ON_THREAD_CREATED, (struct com *, uint64_t), UINT64_C(0xabcdef));
	CALL(COM_ON_THREAD_DESTROYED, (struct com *, uint64_t), UINT64_C(0xabcdef));
	CALL(COM_ON_THREAD_CREATED, (struct com *, uint64_t), UINT64_C(0xabcdef)); /* used again: another thread */
	CALL(COM_ON_THREAD_DESTROYED, (struct com *, uint64_t), UINT64_C(0xabcdef));
	snprintf(lines, sizeof lines,
	         "thr crt 0x0000000000004000 0x00000000\nthr aos 0x00000000 %d\n"
	         "thr crt 0x0000000000ABCDEF 0x00000001\nthr dst 0x00000001\n"
	         "thr crt 0x0000000000ABCDEF 0x00000002\nthr dst 0x00000002\n",
	         gettid());
	expect_lines(lines);
}

static void classes_have_names(void **state)
{
	CALL(COM_ON_CLASS_LOADED, (struct com *, uint64_t, int32_t), (uint64_t)PART, 0);
	CALL(COM_ON_CLASS_LOADED, (struct com *, uint64_t, int32_t), (uint64_t)PART, 0);
	expect_lines("cls ldf 0x0000000000002001 0x00000000 0x0000000000001000 0x02000003 0x00000000\n"
	             "cls nam 0x00000000 \"My.App.Part<T=System.Int32>\"\n");
	assert_int_equal(profiler_write_class(APPS, false, 0), 1);
	expect_lines("cls nam 0x00000001 \"My.App[,]\"\n");
	CALL(COM_ON_CLASS_UNLOADED, (struct com *, uint64_t, int32_t), (uint64_t)PART, 0);
	assert_int_equal(profiler_write_class(PART, true, 0), 2);
	expect_lines("cls ldf 0x0000000000002001 0x00000002 0x0000000000001000 0x02000003 0x00000000\n"
	             "cls nam 0x00000002 \"My.App.Part<T=System.Int32>\"\n");
}

static void each_body_is_logged_once(void **state)
{
	char lines[1024];
	now_ms = 7;
	profiler_write_class(APP, true, 0);
	expect_lines("cls ldf 0x0000000000002000 0x00000003 0x0000000000001000 0x02000002 0x00000000\n"
	             "cls nam 0x00000003 \"My.App\"\n");
	CALL(COM_ON_JIT_STARTED, (struct com *, uint64_t, int32_t), (uint64_t)RUN, 1);
	now_ms = 9;
	bodies_of_run = 1;
	CALL(COM_ON_JIT_FINISHED, (struct com *, uint64_t, int32_t, int32_t), (uint64_t)RUN, 0, 1);
	snprintf(lines, sizeof lines,
	         "fun inf 0x00000002 0x0000000000003000 0x0000000000002000 0x0000000000001000 0x06000001\n"
	         "fun nam 0x00000002 \"My.App::Run\" \"void\" \"(string[], ref int, My.App<long>, T[,])\"\n"
	         "jit cms %d 7 0x0000000000003000\njit cmf %d 9 0x0000000000003000 0x00000000\n"
	         "fun inf 0x00000002 0x0000000000003000 0x0000000000002000 0x0000000000001000 0x06000001 "
	         "0x0000000000005000:0x20 0xfffffffe:0x0:0x4 0x1f:0x4:0x20\n",
	         gettid(), gettid());
	expect_lines(lines);
	bodies_of_run = 2;
	profiler_write_function(RUN);
	expect_lines("fun inf 0x00000002 0x0000000000003000 0x0000000000002000 0x0000000000001000 0x06000001 "
	             "0x0000000000005100:0x20 0x0000000000006100:0x8\n");
	profiler_write_function(RUN);
	expect_lines("");
	profiler_write_function(ADD);
	expect_lines(
	    "fun inf 0x00000003 0x0000000000003001 0x0000000000002001 0x0000000000001000 0x06000002\n"
	    "fun nam 0x00000003 \"My.App.Part<T=System.Int32>::Add<M=My.App>\" \"M\" \"(uint, T, My.App*)\"\n");
}

static void set_stack(size_t count, const struct profiler_frame *frames)
{
	depth = count;
	memcpy(stack, frames, count * sizeof *frames);
}

/* Source: the document, `sam str` and `sam mem`. */
static void stacks_are_changes(void **state)
{
	now_ms = 20;
	set_stack(2, (struct profiler_frame[]){{ADD, 0x5108, 0, 0}, {RUN, 0x5010, 0, 0}});
	struct profiler_thread *own = profiler_own_thread();
	assert_true(profiler_walk(&own->now, thread));
	profiler_write_stack(own, &own->now, 1, now_ms);
	expect_lines("sam str 0x00000000 20 1 0:0 0x2:0x0000000000005010 0x3:0x0000000000005108\n");
	profiler_write_stack(own, &own->now, 1, now_ms);
	expect_lines("sam str 0x00000000 20 1 2:2\n");
	profiler_write_stack(own, &own->now, 0, now_ms);
	expect_lines("");
	set_stack(2, (struct profiler_frame[]){{0, 0, 0, 0}, {RUN, 0x5014, 0, 0}});
	assert_true(profiler_walk(&own->now, thread));
	profiler_write_stack(own, &own->now, 1, now_ms);
	expect_lines("sam str 0x00000000 20 1 1:2:0x0000000000005014 0x0\n");
	set_stack(1, (struct profiler_frame[]){{RUN, 0x5014, 0, 0}});
	assert_true(profiler_walk(&own->now, thread));
	profiler_write_stack(own, &own->now, 1, now_ms);
	expect_lines("sam str 0x00000000 20 1 1:2\n");
}

static void allocate(uint64_t class_id, int count)
{
	for (int i = 0; i < count; i++)
		CALL(COM_ON_ALLOCATED, (struct com *, uint64_t, uint64_t), UINT64_C(0x9000), class_id);
}

static void write_allocated(void)
{
	profiler_write_allocated(profiler_own_thread());
}

/* Those of one class and stack are one record, when it is time. */
static void allocations_stand_behind_their_stacks(void **state)
{
	now_ms = 30;
	set_stack(2, (struct profiler_frame[]){{ADD, 0x5108, 0, 0}, {RUN, 0x5014, 0, 0}});
	allocate(APP, 3);
	allocate(PART, 1);
	allocate(APP, 1);
	set_stack(1, (struct profiler_frame[]){{RUN, 0x5014, 0, 0}});
	allocate(PART, 2);
	expect_lines("");
	write_allocated();
	expect_lines("sam str 0x00000000 30 0 1:1 0x3:0x0000000000005108\n"
	             "sam mem 0x00000000 30 0x3:4:96:0x0000000000005108\n"
	             "sam mem 0x00000000 30 0x2:1:24:0x0000000000005108\n"
	             "sam str 0x00000000 30 0 1:2\n"
	             "sam mem 0x00000000 30 0x2:2:48:0x0000000000005014\n");
	write_allocated();
	expect_lines("");
}

/* No walk where all return addresses are as they were; one where any is not, and where something has gone since. */
static void stacks_that_stand_are_not_walked(void **state)
{
#if defined(__x86_64__)
	volatile size_t count = 2; /* not known when compiled: it is on the stack for every compiler */
	volatile uint64_t *addresses = __builtin_alloca(count * sizeof *addresses);
	const uint64_t sp = (uintptr_t)&addresses[1];
	addresses[0] = 0x5108;
	addresses[1] = 0x5014;
	set_stack(2, (struct profiler_frame[]){{ADD, 0x5108, sp, 0}, {RUN, 0x5014, sp + 8, 0}});
	walks = 0;
	allocate(APP, 5);
	assert_int_equal(walks, 1);
	addresses[1] = 0x5018;
	set_stack(2, (struct profiler_frame[]){{ADD, 0x5108, sp, 0}, {RUN, 0x5018, sp + 8, 0}});
	allocate(APP, 5);
	assert_int_equal(walks, 2);
	addresses[1] = 0x5014;
	allocate(APP, 1);
	assert_int_equal(walks, 2);
	profiler_forget_places();
	set_stack(2, (struct profiler_frame[]){{ADD, 0x5108, sp, 0}, {RUN, 0x5014, sp + 8, 0}});
	allocate(APP, 1);
	assert_int_equal(walks, 3);
	addresses[1] = 0x5020; /* not what the runtime says: every one is walked */
	set_stack(2, (struct profiler_frame[]){{ADD, 0x5108, sp, 0}, {RUN, 0x501c, sp + 8, 0}});
	allocate(APP, 2);
	assert_int_equal(walks, 5);
	write_allocated();
	expect_lines("sam str 0x00000000 30 0 1:1 0x3:0x0000000000005108\n"
	             "sam mem 0x00000000 30 0x3:6:144:0x0000000000005108\n"
	             "sam str 0x00000000 30 0 1:2:0x0000000000005018 0x3:0x0000000000005108\n"
	             "sam mem 0x00000000 30 0x3:5:120:0x0000000000005108\n"
	             "sam str 0x00000000 30 0 1:2:0x0000000000005014 0x3:0x0000000000005108\n"
	             "sam mem 0x00000000 30 0x3:1:24:0x0000000000005108\n"
	             "sam str 0x00000000 30 0 1:2:0x000000000000501C 0x3:0x0000000000005108\n"
	             "sam mem 0x00000000 30 0x3:2:48:0x0000000000005108\n");
#endif
}

/* What collections take away stands before them. */
static void collections_tell_the_heap(void **state)
{
	static const int32_t collected[] = {1, 1, 0, 0, 1};
	char lines[512];
	profiler.options.line_trace = false;
	set_stack(1, (struct profiler_frame[]){{RUN, 0x5014, 0, 0}});
	now_ms = 39;
	allocate(APP, 1);
	profiler.options.live_heap = true;
	now_ms = 39;
	CALL(COM_ON_GC_STARTED, (struct com *, int32_t, const int32_t *, uint32_t), 5, collected, 1);
	now_ms = 40;
	CALL(COM_ON_REFERENCES, (struct com *, uint64_t, uint64_t, uint32_t, const uint64_t *), UINT64_C(0x9000),
	     (uint64_t)APP, 0, NULL);
	CALL(COM_ON_REFERENCES, (struct com *, uint64_t, uint64_t, uint32_t, const uint64_t *), UINT64_C(0x9018),
	     (uint64_t)APP, 0, NULL);
	((int32_t(*)(struct com *))profiler_callbacks[COM_ON_GC_FINISHED])(NULL);
	snprintf(lines, sizeof lines,
	         "sam str 0x00000000 39 0 1:2\nsam mem 0x00000000 39 0x3:1:24\n"
	         "gch gcs %d 39 induced ttff\ngch gcf %d 40\ngch alt 40 0x3:2:48\n"
	         "gch gen 40 LOH:40:400 GEN2:30:300 GEN1:20:200 GEN0:11:102\n",
	         gettid(), gettid());
	expect_lines(lines);
	pinned_heap = true;
	struct profiler_generations left;
	assert_true(profiler_look_at_generations(&left));
	profiler_write_generations(&left, 41);
	expect_lines("gch gen 41 LOH:40:400 GEN2:30:300 GEN1:20:200 GEN0:11:102 POH:50:500\n");
}

/* The dialect of the document has internal ids where the later one has the system's threads, and no generations. */
static void the_older_dialect(void **state)
{
	static const int32_t collected[] = {1, 0, 0, 0};
	profiler.options.old = true;
	profiler.options.live_heap = false;
	CALL(COM_ON_GC_STARTED, (struct com *, int32_t, const int32_t *, uint32_t), 4, collected, 0);
	((int32_t(*)(struct com *))profiler_callbacks[COM_ON_GC_FINISHED])(NULL);
	CALL(COM_ON_JIT_STARTED, (struct com *, uint64_t, int32_t), (uint64_t)RUN, 1);
	expect_lines("gch gcs 0x00000000 40 ? tfff\ngch gcf 0x00000000 40\njit cms 0x00000000 40 0x0000000000003000\n");
}

/* A compilation that begins in a pause has no record of its end. */
static void compilations_are_logged_whole(void **state)
{
	profiler.paused = true;
	CALL(COM_ON_JIT_STARTED, (struct com *, uint64_t, int32_t), (uint64_t)RUN, 1);
	profiler.paused = false;
	CALL(COM_ON_JIT_FINISHED, (struct com *, uint64_t, int32_t, int32_t), (uint64_t)RUN, 0, 1);
	expect_lines("");
	CALL(COM_ON_JIT_FINISHED, (struct com *, uint64_t, int32_t, int32_t), (uint64_t)RUN, 0, 1);
	expect_lines("jit cmf 0x00000000 40 0x0000000000003000 0x00000000\n");
}

/* ---- Stacks by enter and leave. ---- */

/* Lines have one time, and every call. A stack grows to lower addresses. */
static void calls_are_changes(void **state)
{
	profiler.options.method = PROFILER_INSTRUMENTATION;
	profiler.options.high_granularity = true;
	assert_true(profiler_hook_functions());
	assert_int_equal(mapped, 2);
	now_ms = 50;
	thread = 0x4001; /* another one: its stack is empty */
	profiler_thread_destroyed(0x4000);
	profiler_own_thread();
	char lines[128];
	snprintf(lines, sizeof lines,
	         "thr dst 0x00000000\nthr crt 0x0000000000004001 0x00000003\nthr aos 0x00000003 %d\n", gettid());
	expect_lines(lines);
	profiler_entered(2, 900);
	profiler_entered(3, 800);
	expect_lines("");
	profiler_left(3, 800);
	expect_lines("sam str 0x00000003 50 0 0:0 0x2 0x3\n");
	profiler_entered(3, 800);
	profiler_left(3, 800);
	expect_lines("sam str 0x00000003 50 0 1:2 0x3\n");
	now_ms = 60;
	profiler_entered(4, 800); /* the one at 50 has not been told of */
	expect_lines("sam str 0x00000003 50 0 1:2\n");
	profiler_entered(5, 700);
	profiler_entered(6, 600);
	profiler_left(4, 800); /* an exception took two away */
	expect_lines("sam str 0x00000003 60 0 1:1 0x4 0x5 0x6\n");
	profiler_entered(7, 800); /* in the place of 8: that one has told of it as of its end */
	profiler_left(7, 800);
	profiler_entered(8, 800);
	now_ms = 70;
	profiler_write_all_calls();
	expect_lines("sam str 0x00000003 60 0 1:4 0x7\nsam str 0x00000003 60 0 1:2 0x8\n");
}

static void exceptions_take_what_they_name(void **state)
{
	profiler_entered(3, 700);
	profiler_entered(2, 600);
	CALL(COM_ON_UNWIND_BEGUN, (struct com *, uint64_t), (uint64_t)RUN);
	((int32_t(*)(struct com *))profiler_callbacks[COM_ON_UNWIND_ENDED])(NULL);
	expect_lines("sam str 0x00000003 70 0 2:2 0x3 0x2\n");
	((int32_t(*)(struct com *))profiler_callbacks[COM_ON_UNWIND_ENDED])(NULL); /* nobody's: it is not on top */
	profiler_write_calls(profiler_own_thread());
	expect_lines("sam str 0x00000003 70 0 3:4\n");
}

static void allocations_stand_in_their_calls(void **state)
{
	profiler.options.memory = true;
	profiler_entered(5, 600);
	CALL(COM_ON_ALLOCATED, (struct com *, uint64_t, uint64_t), UINT64_C(0x9000), (uint64_t)APP);
	CALL(COM_ON_ALLOCATED, (struct com *, uint64_t, uint64_t), UINT64_C(0x9000), (uint64_t)APP);
	expect_lines(
	    "sam str 0x00000003 70 0 3:3 0x5\nsam mem 0x00000003 70 0x3:1:24\nsam mem 0x00000003 70 0x3:1:24\n");
	profiler_left(5, 600);
	profiler_write_calls(profiler_own_thread());
	expect_lines("sam str 0x00000003 70 0 3:4\n");
}

/* Less of it where nobody wants every call: one line in a millisecond. */
static void calls_of_low_granularity(void **state)
{
	profiler.options.high_granularity = false;
	profiler_entered(5, 600);
	profiler_left(5, 600);
	profiler_entered(6, 600);
	expect_lines("");
	profiler.paused = true;
	now_ms = 80;
	profiler_left(6, 600);
	profiler_left(3, 700);
	now_ms = 90;
	profiler_resume_calls();
	profiler.paused = false;
	profiler_write_calls(profiler_own_thread());
	expect_lines("sam str 0x00000003 90 0 2:3\n");
}

/* Then the clock is looked at with each beat, and with every 64th change. */
static void beats_stand_for_the_clock(void **state)
{
	const struct profiler_thread *own = profiler_own_thread();
	profiler.beats++;
	now_ms = 100;
	profiler_entered(5, 600);
	now_ms = 101;
	profiler_left(5, 600);
	assert_int_equal(own->calls.ms, 100);
	profiler.beats++;
	profiler_entered(5, 600);
	assert_int_equal(own->calls.ms, 101);
	now_ms = 102;
	for (unsigned i = 0; i < 31; i++) {
		profiler_left(5, 600);
		profiler_entered(5, 600);
	}
	profiler_left(5, 600);
	assert_int_equal(own->calls.ms, 101);
	profiler_entered(5, 600);
	assert_int_equal(own->calls.ms, 102);
	profiler_write_calls(profiler_own_thread());
	expect_lines("sam str 0x00000003 102 0 2:2 0x5\n");
	profiler_left(5, 600);
	profiler_write_calls(profiler_own_thread());
	expect_lines("sam str 0x00000003 102 0 2:3\n");
}

#if defined(__x86_64__)
/* Arguments and results may be in any of these. Returns how many are not as they were. */
static int call_with_registers(com_function *hook)
{
	uint64_t numbers[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
	double floats[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	__asm__ volatile(
	    "movsd 0(%[f]), %%xmm0; movsd 8(%[f]), %%xmm1; movsd 16(%[f]), %%xmm2; movsd 24(%[f]), %%xmm3\n"
	    "movsd 32(%[f]), %%xmm4; movsd 40(%[f]), %%xmm5; movsd 48(%[f]), %%xmm6; movsd 56(%[f]), %%xmm7\n"
	    "mov $101, %%rax; mov $102, %%rcx; mov $103, %%rdx; mov $104, %%rsi; mov $105, %%rdi\n"
	    "mov $106, %%r8; mov $107, %%r9; mov $108, %%r10; mov $109, %%r11; mov $2, %%r14; mov $500, %%r15\n"
	    "sub $128, %%rsp; call *%[hook]; add $128, %%rsp\n"
	    "mov %%rax, 0(%[n]); mov %%rcx, 8(%[n]); mov %%rdx, 16(%[n]); mov %%rsi, 24(%[n])\n"
	    "mov %%rdi, 32(%[n]); mov %%r8, 40(%[n]); mov %%r9, 48(%[n]); mov %%r10, 56(%[n])\n"
	    "mov %%r11, 64(%[n])\n"
	    "addsd 0(%[f]), %%xmm0; addsd 8(%[f]), %%xmm1; addsd 16(%[f]), %%xmm2; addsd 24(%[f]), %%xmm3\n"
	    "addsd 32(%[f]), %%xmm4; addsd 40(%[f]), %%xmm5; addsd 48(%[f]), %%xmm6; addsd 56(%[f]), %%xmm7\n"
	    "movsd %%xmm0, 0(%[f]); movsd %%xmm1, 8(%[f]); movsd %%xmm2, 16(%[f]); movsd %%xmm3, 24(%[f])\n"
	    "movsd %%xmm4, 32(%[f]); movsd %%xmm5, 40(%[f]); movsd %%xmm6, 48(%[f]); movsd %%xmm7, 56(%[f])\n"
	    :
	    : [hook] "r"(hook), [n] "r"(numbers), [f] "r"(floats)
	    : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r14", "r15", "xmm0", "xmm1", "xmm2", "xmm3",
	      "xmm4", "xmm5", "xmm6", "xmm7", "memory", "cc");
	int wrong = 0;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		wrong += numbers[i] != 101 + i;
	for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
		wrong += floats[i] != 2.0 * (double)(i + 1);
	return wrong;
}

static void hooks_keep_registers(void **state)
{
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(call_with_registers(hooks[i]), 0);
	profiler_write_calls(profiler_own_thread());
	expect_lines("sam str 0x00000003 102 0 2:2 0x2\n");
}
#endif

SUITE(coreprofiler)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_come_and_go),
		cmocka_unit_test(classes_have_names),
		cmocka_unit_test(each_body_is_logged_once),
		cmocka_unit_test(stacks_are_changes),
		cmocka_unit_test(allocations_stand_behind_their_stacks),
		cmocka_unit_test(stacks_that_stand_are_not_walked),
		cmocka_unit_test(collections_tell_the_heap),
		cmocka_unit_test(the_older_dialect),
		cmocka_unit_test(compilations_are_logged_whole),
		cmocka_unit_test(calls_are_changes),
		cmocka_unit_test(exceptions_take_what_they_name),
		cmocka_unit_test(allocations_stand_in_their_calls),
		cmocka_unit_test(calls_of_low_granularity),
		cmocka_unit_test(beats_stand_for_the_clock),
#if defined(__x86_64__)
		cmocka_unit_test(hooks_keep_registers),
#endif
	};
	return cmocka_run_group_tests(tests, begin, NULL);
}
