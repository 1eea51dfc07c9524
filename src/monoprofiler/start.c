/* start.c - Mono loads the profiler; recording begins and ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "monoprofiler/parts.h"

#include <stdio.h>

__attribute__((visibility("default"))) void mono_profiler_init_trackway(const char *description);

static void say(const char *problem, const char *what)
{
	fprintf(stderr, "trackway: %s: %s; nothing is recorded\n", what, problem);
}

static void initialized(void *own)
{
	mono_sampled_begin();
	mono_sample_not_in_crashes();
	if (!profiler.off && !profiler_ticks_begin())
		profiler_give_up();
}

static void shut_down(void *own)
{
	mono_collections_end();
	mono_sampled_end();
	profiler_ticks_end();
	profiler_sample();
	profiler_finish();
	mono_stacks_write();
}

static const char *ask(struct mono_handle *handle)
{
	if (!mono_on(handle, "runtime_initialized", (mono_function *)initialized))
		return "runtime_initialized";
	if (!mono_on(handle, "runtime_shutdown_begin", (mono_function *)shut_down))
		return "runtime_shutdown_begin";
	return mono_ask(handle, &profiler.options);
}

/* The description is "trackway": options are in the environment. */
void mono_profiler_init_trackway(const char *description)
{
	const char *lacks = mono_find();
	static struct com runtime = {mono_answers};
	mono_answers[COM_SLOT_snapshot] = (com_function *)mono_snapshot;
	profiler.info = &runtime;
	profiler_options_read(&profiler.options);
	if (!profiler.options.image && !profiler.options.log)
		return; /* nobody asks */
	if (lacks) {
		say("this Mono does not have it", lacks);
		return;
	}
	if (!profiler_begin())
		return;
	profiler_write_sample_bytes();
	lacks = ask(mono.profiler_create(&profiler));
	if (!lacks)
		return;
	say("this Mono does not have it", lacks);
	profiler_give_up();
}
