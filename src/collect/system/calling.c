/* calling.c - which core calls.
 *
 * Where one thread runs all cores, as under -icount, QEMU 9.1 and later tell plugins the core that a block was
 * translated on, not the one that executes it. The processor that the thread has at present tells it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system/calling.h"

#include <dlfcn.h>
#include <stddef.h>

static struct {
	void *(*by_number)(int number);
	const void *all[CORES_MOST];
} processors;

static unsigned number_of(const void *processor, unsigned vcpu)
{
	for (unsigned i = 0; i < CORES_MOST; i++) {
		if (!processors.all[i] && !(processors.all[i] = processors.by_number((int)i)))
			break;
		if (processors.all[i] == processor)
			return i;
	}
	return vcpu;
}

unsigned calling_core(unsigned vcpu)
{
	static _Thread_local void **current __attribute__((tls_model("initial-exec")));
	if (!processors.by_number || vcpu >= CORES_MOST)
		return vcpu;
	if (!current)
		current = dlsym(RTLD_DEFAULT, "current_cpu");
	if (!current || (processors.all[vcpu] && processors.all[vcpu] == *current))
		return vcpu;
	return number_of(*current, vcpu);
}

void calling_setup(void)
{
	*(void **)&processors.by_number = dlsym(RTLD_DEFAULT, "qemu_get_cpu");
}
