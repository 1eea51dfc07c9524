/* trackway.h - all of Trackway's library. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_TRACKWAY_H
#define TRACKWAY_TRACKWAY_H

#include <trackway/alloc.h>
#include <trackway/analysis.h>
#include <trackway/clickhouse.h>
#include <trackway/counters.h>
#include <trackway/cpu.h>
#include <trackway/event.h>
#include <trackway/fdr.h>
#include <trackway/finding.h>
#include <trackway/fxt.h>
#include <trackway/gc.h>
#include <trackway/jit.h>
#include <trackway/own.h>
#include <trackway/reader.h>
#include <trackway/report.h>
#include <trackway/sched.h>
#include <trackway/sql.h>
#include <trackway/status.h>
#include <trackway/study.h>
#include <trackway/symbols.h>
#include <trackway/tracelog.h>
#include <trackway/version.h>
#include <trackway/writer.h>
#include <trackway/xtrace.h>

#endif
