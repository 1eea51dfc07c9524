/* test_monoprofiler.c - Mono's names of types and methods, as the profiler writes them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monoprofiler/steps.h"
#include "monoprofiler/walks.h"

#include "suite.h"

/* ---- Mono: a class and a method are their names. ---- */

static struct mono_type *class_get_type(struct mono_class *class_of)
{
	return (struct mono_type *)class_of;
}

/* Copies of their size: what is read behind the end is seen. */
static char *type_full_name(struct mono_type *type)
{
	return strdup((const char *)type);
}

struct method {
	const char *class_of, *own, *full, *result;
	const char *parameters[4];
};

static struct mono_class *method_get_class(struct mono_method *method)
{
	return (struct mono_class *)(uintptr_t)((struct method *)method)->class_of;
}

static const char *method_get_name(struct mono_method *method)
{
	return ((struct method *)method)->own;
}

static char *method_full_name(struct mono_method *method, int signature)
{
	return strdup(((struct method *)method)->full);
}

static struct mono_signature *method_signature(struct mono_method *method)
{
	return ((struct method *)method)->result ? (struct mono_signature *)method : NULL;
}

static struct mono_type *get_return_type(struct mono_signature *signature)
{
	return (struct mono_type *)(uintptr_t)((struct method *)signature)->result;
}

static struct mono_type *get_params(struct mono_signature *signature, void **state)
{
	const uintptr_t i = (uintptr_t)*state;
	*state = (void *)(i + 1);
	return (struct mono_type *)(uintptr_t)((struct method *)signature)->parameters[i];
}

static int set_up(void **state)
{
	mono = (struct mono){.class_get_type = class_get_type,
	                     .type_full_name = type_full_name,
	                     .method_get_class = method_get_class,
	                     .method_get_name = method_get_name,
	                     .method_full_name = method_full_name,
	                     .method_signature = method_signature,
	                     .signature_get_return_type = get_return_type,
	                     .signature_get_params = get_params,
	                     .free = free};
	return 0;
}

static void expect_text(struct text *text, const char *expected)
{
	text_char(text, '\0');
	assert_string_equal(text->bytes, expected);
	text_end(text);
}

/* Left as Mono 6.8 has them; right as CoreProfiler, which tracelog.md tells. */
static void classes(void **state)
{
	static const char *const names[][2] = {
	    {"Marker", "Marker"},
	    {"int[]", "System.Int32[]"},
	    {"Marker[,]", "Marker[,]"},
	    {"int16[,,][]", "System.Int16[,,][]"},
	    {"System.Collections.Generic.List`1<string>", "System.Collections.Generic.List<T=System.String>"},
	    {"Outer`1/Inner`1<string, int>", "Outer.Inner<T=System.String, U=System.Int32>"},
	    {"Outer`1+Inner`1<string,int>", "Outer.Inner<T=System.String, U=System.Int32>"},
	    {"D`2<int[,], D`2<A, B[]>>[]", "D<T=System.Int32[,], U=D<T=A, U=B[]>>[]"},
	    {"App/<Run>c__Iterator0`1<long>", "App.<Run>c__Iterator0<T=System.Int64>"},
	    {"<Module>", "<Module>"},
	    {"L`1<!0>", "L<T=T>"},
	    {"single", "System.Single"},
	    {"", ""},
	    {"A<", "A<T=>"},
	    {"A<B,", "A<T=B, U=>"},
	    {"<<<", "<<<"},
	    {"!", "!"},
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct text text;
		text_begin(&text, "");
		profiler_add_class(&text, (uintptr_t)names[i][0]);
		expect_text(&text, names[i][1]);
	}
}

static void methods(void **state)
{
	static const struct method second = {
	    .class_of = "Outer`1/Inner`1<string, int>",
	    .own = "Second",
	    .full = "Outer`1/Inner`1<string, int>:Second<A`1<int>>",
	    .result = "intptr",
	    .parameters = {"string", "single&", "L`1<byte>[]"},
	};
	static const struct method unknown = {.class_of = "A", .own = ".ctor", .full = "A:.ctor"};
	struct text text;
	text_begin(&text, "");
	profiler_add_function(&text, (uintptr_t)&second);
	expect_text(&text,
	            "\"Outer.Inner<T=System.String, U=System.Int32>::Second<M=A<T=System.Int32>>\" \"System.IntPtr\" "
	            "\"(string, ref float, L<byte>[])\"");
	text_begin(&text, "");
	profiler_add_function(&text, (uintptr_t)&unknown);
	expect_text(&text, "\"A::.ctor\" \"<UNKNOWN>\" \"(?)\"");
}

/* ---- Frames. ---- */

/* As Mono 6.8 begins functions; sizes with the return address. */
static void frames_have_sizes(void **state)
{
	static const struct {
		const char *code;
		size_t size;
		uint64_t frame;
	} begins[] = {
#define CODE(bytes) bytes, sizeof(bytes) - 1
	    {CODE("\x48\x83\xec\x18\x48\x89\x3c\x24"), 0x18 + 8},
	    {CODE("\x48\x81\xec\x88\x01\x00\x00\x90"), 0x188 + 8},
	    {CODE("\x55\x48\x8b\xec\x48\x83\xec\x70"), 0x70 + 16},
	    {CODE("\x55\x48\x8b\xec\x48\x81\xec\x00\x10\x00\x00\x48\x85\x24\x24\x48\x83\xec\x20\xc3"), 0x1020 + 16},
	    {CODE("\x48\x81\xec\x00\x10\x00\x00\xc3"), 0x1000 + 8},
	    {CODE("\x55\x48\x83\xec\x20"), 0}, /* rbp is saved, and is no frame */
	    {CODE("\x48\x83\xec\xf8"), 0},     /* -8 */
	    {CODE("\x48\x83\xec"), 0},
	    {CODE("\x48\x81\xec\x88\x01\x00"), 0},
	    {CODE("\x55\x48\x8b"), 0},
	    {CODE("\xc3"), 0},
	    {CODE(""), 0},
#undef CODE
	};
	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
		uint8_t *own = malloc(begins[i].size ? begins[i].size : 1); /* what is read behind the end is seen */
		memcpy(own, begins[i].code, begins[i].size);
		assert_int_equal(mono_frame_size(own, begins[i].size), begins[i].frame);
		free(own);
	}
}

/* A table that grows keeps all of it; the first one who tells of an address is right. */
static void steps_are_found_again(void **state)
{
	enum { MANY = 5000 };
	struct mono_steps steps = {0};
	assert_null(mono_step_find(&steps, 16));
	assert_null(mono_step_make(&steps, 0, NULL, 8));
	for (uint64_t i = 1; i <= MANY; i++)
		assert_non_null(mono_step_make(&steps, i * 16, (struct mono_method *)(uintptr_t)i, i));
	assert_int_equal(mono_step_make(&steps, 16, NULL, 8)->size, 1);
	for (uint64_t i = 1; i <= MANY; i++)
		assert_int_equal(mono_step_find(&steps, i * 16)->size, i);
	assert_null(mono_step_find(&steps, 8));
	mono_steps_clear(&steps);
	assert_null(mono_step_find(&steps, 16));
}

__attribute__((noinline)) static uint64_t seen_from(void)
{
	struct mono_steps steps = {0};
	mono_steps_of_natives(&steps);
	const struct mono_step *step = mono_step_find(&steps, (uintptr_t)__builtin_return_address(0));
	const uint64_t size = step ? step->size : 0;
	mono_steps_clear(&steps);
	return size;
}

/* The frame of who calls ends where that of its own caller begins. */
static void natives_have_sizes(void **state)
{
	assert_non_null(dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_GLOBAL)); /* as Mono has it */
	volatile uint64_t size = seen_from();
	assert_true(size >= 16 && size % 16 == 0);
}

#if defined(__x86_64__)

/* What Mono's walk has on its stack: registers (16: rip, 4: rsp), and the return addresses of the frames. */
enum { PLACE = 40, BEFORE = 8, RSP = 4, RIP = 16, SLOTS = 700, WORDS = 1024 };
struct walked {
	uint64_t words[WORDS];
};

static uint64_t slot_behind(struct walked *walked, size_t frame, uint64_t ip)
{
	walked->words[SLOTS + 10 * frame] = ip;
	return (uintptr_t)&walked->words[SLOTS + 10 * frame + 1];
}

static void put_registers(struct walked *walked, size_t place, uint64_t ip, uint64_t sp)
{
	walked->words[place + RIP] = ip - 1;
	walked->words[place + RSP] = sp;
}

/* Registers of the first frame alone are also elsewhere. */
static void walk_frames(struct walked *walked, size_t count, uint64_t apart)
{
	struct mono_walk walk;
	mono_walk_begin(&walk);
	for (size_t i = 0; i < count; i++) {
		const uint64_t ip = 0x1000 + i * apart, sp = slot_behind(walked, i, ip);
		put_registers(walked, PLACE, ip, sp);
		if (i == 0)
			put_registers(walked, BEFORE, ip, sp);
		assert_int_equal(mono_walk_sp(&walk, walked->words, ip), 0);
	}
	mono_walk_end(&walk);
}

static uint64_t sp_of(struct walked *walked, uint64_t ip, uint64_t sp)
{
	struct mono_walk walk;
	mono_walk_begin(&walk);
	put_registers(walked, PLACE, ip, sp);
	return mono_walk_sp(&walk, walked->words, ip);
}

/* Three frames, or one that calls itself, do not show where they are; four do. Then each is looked at again. */
static void registers_of_a_walk_are_found(void **state)
{
	struct walked walked = {{0}};
	walk_frames(&walked, 3, 0x10);
	walk_frames(&walked, 8, 0);
	walk_frames(&walked, 4, 0x10);
	const uint64_t ip = 0x7000, sp = slot_behind(&walked, 9, ip);
	assert_int_equal(sp_of(&walked, ip, sp), sp);
	assert_int_equal(sp_of(&walked, ip, sp + 8), 0); /* no return address */
	assert_int_equal(sp_of(&walked, ip, sp + 1), 0);
	assert_int_equal(sp_of(&walked, ip, (uintptr_t)walked.words), 0); /* below the registers */
	assert_int_equal(sp_of(&walked, ip, mono_stack_end()), 0);
	assert_int_equal(sp_of(&walked, ip, 8), 0);
	struct mono_walk walk;
	mono_walk_begin(&walk);
	put_registers(&walked, PLACE, ip, sp);
	assert_int_equal(mono_walk_sp(&walk, walked.words, ip + 0x10), 0); /* another frame's */
}

#endif

SUITE(monoprofiler)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes),
		cmocka_unit_test(methods),
		cmocka_unit_test(frames_have_sizes),
		cmocka_unit_test(steps_are_found_again),
		cmocka_unit_test(natives_have_sizes),
#if defined(__x86_64__)
		cmocka_unit_test(registers_of_a_walk_are_found),
#endif
	};
	return cmocka_run_group_tests(tests, set_up, NULL);
}
