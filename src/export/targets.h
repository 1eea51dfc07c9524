/* targets.h - the formats that are only written. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_TARGETS_H
#define EXPORT_TARGETS_H

#include "core/format.h"

/* Chrome's trace event JSON, for Perfetto's UI. */
extern const struct tw_target tw_target_chrome;

/* Perfetto's protobuf. */
extern const struct tw_target tw_target_perfetto;

/* speedscope's JSON. */
extern const struct tw_target tw_target_speedscope;

/* pprof's profile.proto. */
extern const struct tw_target tw_target_pprof;

/* callgrind's profile format. */
extern const struct tw_target tw_target_callgrind;

/* A processed profile for the Firefox Profiler. */
extern const struct tw_target tw_target_firefox;
/* Folded stacks. */
extern const struct tw_target tw_target_folded;

/* Events as rows. */
extern const struct tw_target tw_target_csv;
extern const struct tw_target tw_target_jsonl;

/* Tables for ClickHouse. */
extern const struct tw_target tw_target_clickhouse;

/* A Common Trace Format directory. */
extern const struct tw_target tw_target_ctf;

/* Instructions of an xtrace for ChampSim, and for the tools of Arm's models. */
extern const struct tw_target tw_target_champsim;
extern const struct tw_target tw_target_tarmac;

#endif
