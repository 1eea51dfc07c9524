/* library.c - a library with sites, which is unloaded. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <trackway/trace.h>

void trace_from_library(void);

void trace_from_library(void)
{
	TW_TRACE_DURATION("stress", "library", TW_I32("value", 1));
	TW_TRACE_INSTANT("stress", "from library", TW_SCOPE_THREAD);
}
