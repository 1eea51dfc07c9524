/* samples.c - stacks that threads put down in a signal handler, and the thread that writes them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "monoprofiler/parts.h"

void mono_sampled_begin(void)
{
}
void mono_sampled_end(void)
{
}
void mono_sampled(void *own, const void *ip, const void *registers)
{
}
void profiler_sample(void)
{
	mono_tell_generations();
}
