/* emulator.c - unicorn, loaded by the first who executes something. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/emulator.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

struct replay_emulator replay_emulator;

static const struct {
	const char *name;
	size_t offset;
} functions[] = {
#define X(name) {#name, offsetof(struct replay_emulator, name)},
    REPLAY_EMULATOR_LIST(X)
#undef X
};

const char *replay_emulator_load(void)
{
	void *library = dlopen(TW_UNICORN, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return dlerror();
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		void *function = dlsym(library, functions[i].name);
		if (!function)
			return dlerror();
		memcpy((char *)&replay_emulator + functions[i].offset, &function, sizeof function);
	}
	return NULL;
}
