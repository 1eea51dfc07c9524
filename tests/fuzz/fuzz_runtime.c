/* fuzz_runtime.c - what samples and a runtime tell, of any bytes: rows of every weight, allocations, compilations,
 * collections, processor time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <trackway/alloc.h>
#include <trackway/cpu.h>
#include <trackway/gc.h>
#include <trackway/jit.h>

enum { SMALL = 1 << 16 }; /* bytes: limits are reached, too */

static size_t limit_of(uint8_t selector)
{
	return selector & 0x80 ? SMALL : 0;
}

static void check_profile(struct tw_reader *reader, uint8_t selector)
{
	const struct tw_profile_options options = {
	    .by = (enum tw_profile_by)(selector % 6),
	    .weight = selector & 1 ? TW_WEIGHT_BYTES : TW_WEIGHT_DEFAULT,
	    .one_weight = selector & 0x40,
	    .memory_limit = limit_of(selector),
	};
	struct tw_profile *profile = NULL;
	const struct tw_profile_row *row;
	fuzz_require(tw_profile_new(&profile, &options) == 0, "a profile");
	tw_profile_add(profile, reader);
	for (size_t i = 0; (row = tw_profile_row(profile, i)); i++)
		for (int weight = TW_WEIGHT_SAMPLES; row->weighed && weight < TW_WEIGHTS; weight++)
			fuzz_require(row->weighed[weight].self <= row->weighed[weight].total, "self is part of total");
	tw_profile_free(profile);
}

static void check_alloc(struct tw_reader *reader, uint8_t selector)
{
	const struct tw_alloc_options options = {.by = (enum tw_alloc_by)(selector % 5),
	                                         .memory_limit = limit_of(selector)};
	struct tw_alloc *alloc;
	tw_alloc_read(&alloc, reader, &options);
	for (size_t i = 0; tw_alloc_row(alloc, i); i++)
		fuzz_require(tw_alloc_row(alloc, i)->name != NULL, "a class has a name");
	tw_alloc_free(alloc);
}

static void check_jit(struct tw_reader *reader, uint8_t selector)
{
	const struct tw_jit_options options = {.by = (enum tw_jit_by)(selector % 3),
	                                       .memory_limit = limit_of(selector)};
	struct tw_jit *jit;
	const struct tw_jit_row *row;
	tw_jit_read(&jit, reader, &options);
	for (size_t i = 0; (row = tw_jit_row(jit, i)); i++)
		fuzz_require(row->name && row->max_ns <= row->compiled_ns, "one is part of all");
	tw_jit_free(jit);
}

static void check_gc(struct tw_reader *reader, uint8_t selector)
{
	const struct tw_gc_options options = {.from_ns = 1000,
	                                      .to_ns = 1000000,
	                                      .plot = selector & 1,
	                                      .memory_limit = limit_of(selector)};
	struct tw_gc *gc;
	tw_gc_read(&gc, reader, &options);
	const struct tw_gc_totals *totals = tw_gc_totals(gc);
	fuzz_require(totals->min_ns <= totals->p50_ns && totals->p50_ns <= totals->p90_ns &&
	                 totals->p90_ns <= totals->p99_ns && totals->p99_ns <= totals->max_ns &&
	                 totals->max_ns <= totals->pause_ns,
	             "percentiles go up");
	fuzz_require(totals->covered_ns <= totals->pause_ns, "what overlaps counts once");
	for (size_t i = 0; tw_gc_class(gc, i); i++)
		fuzz_require(tw_gc_class(gc, i)->bytes <= tw_gc_class(gc, i)->most_bytes,
		             "the last is not above the most");
	if (options.plot)
		tw_gc_plot(gc, "/dev/null", NULL);
	tw_gc_free(gc);
}

static void check_cpu(struct tw_reader *reader, uint8_t selector)
{
	const struct tw_cpu_options options = {.plot = selector & 1, .memory_limit = limit_of(selector)};
	struct tw_cpu *cpu;
	tw_cpu_read(&cpu, reader, &options);
	for (size_t i = 0; tw_cpu_row(cpu, i); i++)
		fuzz_require(tw_cpu_row(cpu, i)->timed <= tw_cpu_row(cpu, i)->samples,
		             "some samples have a percentage");
	if (options.plot)
		tw_cpu_plot(cpu, "/dev/null", NULL);
	tw_cpu_free(cpu);
}

FUZZ_TARGET(runtime, const uint8_t *bytes, size_t size)
{
	static void (*const checks[])(struct tw_reader * reader, uint8_t selector) = {check_profile, check_alloc,
	                                                                              check_jit, check_gc, check_cpu};
	if (size < 1)
		return 0;
	for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
		struct tw_read_options options = fuzz_options(bytes[0] & 0xf0);
		options.order = TW_ORDER_TIME;
		options.fold_async = bytes[0] & 8;
		struct tw_reader *reader = fuzz_open(bytes + 1, size - 1, &options);
		if (!reader)
			return 0;
		checks[i](reader, bytes[0]);
		tw_close(reader);
	}
	return 0;
}
