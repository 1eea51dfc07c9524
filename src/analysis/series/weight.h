/* weight.h - which weight a trace is counted by. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_SERIES_WEIGHT_H
#define ANALYSIS_SERIES_WEIGHT_H

#include "analysis/tool.h"

/* Finds what a trace is to be counted by. asked: TW_WEIGHT_DEFAULT for what its format has; *weight: of the traces
 * before, and afterwards of this one too. Returns 0, or TW_ERR_VALUE, which the reader explains. */
int tw_weight_choose(struct tw_reader *reader, enum tw_weight asked, enum tw_weight *weight);

#endif
