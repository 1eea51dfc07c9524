/* stay.c - the object that the library is in is not unloaded. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/session.h"

#include <dlfcn.h>
#include <sys/auxv.h>

/* The shared library says so itself (-z nodelete); the static one may be in any shared object, which dlclose() would
 * take from under the helper thread, and from under what runs when a thread ends or a process forks. Weak: a static
 * program has neither, and unloads nothing. */
#pragma weak dlopen
#pragma weak dladdr
#pragma weak dlerror

static bool is_program(const void *base)
{
	return (getauxval(AT_PHDR) & ~(unsigned long)(IMAGE_PAGE - 1)) == (uintptr_t)base;
}

void trace_stay(void)
{
	Dl_info here;
	if (!dlopen || !dladdr || !dlerror || dladdr(&trace_session, &here) == 0 || is_program(here.dli_fbase))
		return;
	if (!dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE))
		dlerror(); /* none of the program's */
}
