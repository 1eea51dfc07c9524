/* findings_filter.h - the findings that are about what passes the filters. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_FILES_FINDINGS_FILTER_H
#define CLI_FILES_FINDINGS_FILTER_H

#include "cli/files/findings.h"

#include <trackway/event.h>
#include <trackway/reader.h>

/* Keeps the findings that are about what passes the filters of `options`: those whose record makes an event that
 * passes, those whose record makes none where the event before it, or the one behind it, passes, and errors behind the
 * last event. Of each rule the first `most` are kept. passed: how many events of each kind pass. The trace is read
 * twice, or once where there are no findings. Returns 0, or TW_EXIT_FAILED after saying why. */
int tw_findings_filter(struct tw_findings *findings, size_t most, const char *path,
                       const struct tw_read_options *options, uint64_t passed[static TW_EVENT_KINDS]);

#endif
