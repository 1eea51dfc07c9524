/* mono.c - Mono's functions, where they are. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "monoprofiler/mono.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

struct mono mono;

static const struct {
	const char *name;
	size_t offset;
} calls[] = {
#define MONO_CALL(type, name, parameters) {"mono_" #name, offsetof(struct mono, name)},
    MONO_CALLS(MONO_CALL)
#undef MONO_CALL
};

const char *mono_find(void)
{
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		void *place = dlsym(RTLD_DEFAULT, calls[i].name);
		if (!place)
			return calls[i].name;
		*(void **)((char *)&mono + calls[i].offset) = place;
	}
	return NULL;
}

bool mono_on(struct mono_handle *handle, const char *name, mono_function *function)
{
	char call[96];
	void (*set)(struct mono_handle *, mono_function *);
	snprintf(call, sizeof call, "mono_profiler_set_%s_callback", name);
	*(void **)&set = dlsym(RTLD_DEFAULT, call);
	if (set)
		set(handle, function);
	return set != NULL;
}
