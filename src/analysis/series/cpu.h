/* cpu.h - processor time as a picture on an open output. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_SERIES_CPU_H
#define ANALYSIS_SERIES_CPU_H

#include "base/bytes/output.h"

#include <trackway/cpu.h>

/* As tw_cpu_plot(). */
int tw_cpu_render(struct tw_output *out, const struct tw_cpu *cpu, const char *title);

#endif
