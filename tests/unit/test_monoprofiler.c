/* test_monoprofiler.c - Mono's names of types and methods, as the profiler writes them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monoprofiler/parts.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(classes),
	    cmocka_unit_test(methods),
	};
	return cmocka_run_group_tests(tests, set_up, NULL);
}
