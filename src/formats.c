/* formats.c - all formats that can be read and all that can be written. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/options.h"
#include "chrome/chrome.h"
#include "core/format.h"
#include "core/merge/logs.h"
#include "export/targets.h"
#include "fdr/fdr.h"
#include "folded/folded.h"
#include "fxt/fxt.h"
#include "image/image.h"
#include "profiling/profiling.h"
#include "tracelog/tracelog.h"
#include "uftrace/uftrace.h"
#include "xtrace/xtrace.h"

const struct tw_format *const tw_formats[] = {
    &tw_format_fdr,       /* XRay's flight data recorder */
    &tw_format_basic,     /* XRay's basic mode */
    &tw_format_profiling, /* XRay's profiling mode */
    &tw_format_fxt,       /* Fuchsia's trace format */
    &tw_format_chrome,    /* Chrome's trace event JSON */
    &tw_format_tracelog,  /* the log of Tizen's CoreProfiler */
    &tw_format_folded,    /* folded stacks */
    &tw_format_uftrace,   /* uftrace's data directory */
    &tw_format_xtrace,    /* instructions of AArch64 */
    NULL,
};

const struct tw_logs_reading *const tw_logs_reading = &tw_logs_of_file;
const struct fxt_images *const fxt_images = &trace_images;

const struct tw_target *const tw_targets[] = {
    &tw_target_fdr,        /* XRay's flight data recorder */
    &tw_target_basic,      /* XRay's basic mode */
    &tw_target_fxt,        /* Fuchsia's trace format */
    &tw_target_chrome,     /* Chrome's trace event JSON */
    &tw_target_tracelog,   /* the log of Tizen's CoreProfiler */
    &tw_target_perfetto,   /* Perfetto's protobuf */
    &tw_target_speedscope, /* speedscope's JSON */
    &tw_target_pprof,      /* pprof's profile.proto */
    &tw_target_callgrind,  /* callgrind's profile format */
    &tw_target_firefox,    /* a profile for the Firefox Profiler */
    &tw_target_folded,     /* folded stacks */
    &tw_target_csv,        /* events as rows */
    &tw_target_jsonl,      /* the same as JSON Lines */
    &tw_target_clickhouse, /* tables for ClickHouse */
    &tw_target_ctf,        /* a Common Trace Format directory */
    &tw_target_champsim,   /* ChampSim's instructions */
    &tw_target_tarmac,     /* Tarmac */
    NULL,
};

const char *tw_options_of_others(const struct tw_read_options *options, const struct tw_format *format)
{
	struct tw_xtrace_read_options xtrace;
	TW_COPY_OPTIONS(&xtrace, options->xtrace, struct tw_xtrace_read_options);
	if (format == &tw_format_xtrace)
		return NULL;
	if (xtrace.levels || xtrace.from_address || xtrace.to_address)
		return "instructions";
	if (xtrace.from_snapshot || xtrace.to_snapshot)
		return "snapshots";
	return xtrace.tokens ? "tokens" : NULL;
}
