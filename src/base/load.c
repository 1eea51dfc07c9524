/* load.c - libraries that few commands need, loaded by the first who does. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/load.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

const char *tw_load(const char *library, void *functions, const struct tw_loaded *list, size_t count)
{
	void *loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!loaded)
		return dlerror();
	for (size_t i = 0; i < count; i++) {
		void *function = dlsym(loaded, list[i].name);
		if (!function)
			return dlerror();
		memcpy((char *)functions + list[i].offset, &function, sizeof function);
	}
	return NULL;
}

static const char *_Atomic absence;

void tw_note_absence(const char *words)
{
	const char *none = NULL;
	atomic_compare_exchange_strong(&absence, &none, words);
}

const char *tw_noted_absence(void)
{
	return atomic_load(&absence);
}
