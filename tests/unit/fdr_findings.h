/* fdr_findings.h - what checking a log made by hand finds, for the tests. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FDR_FINDINGS_H
#define FDR_FINDINGS_H

#include "fdr_bytes.h"

#include <trackway/trackway.h>

enum { FOUND_MAX = 128 };

struct findings {
	size_t count;
	struct tw_finding all[FOUND_MAX];
};

static inline void keep(void *context, const struct tw_finding *finding)
{
	struct findings *f = context;
	assert_string_equal(finding->file, "made");
	assert_true(strlen(finding->text) > 0);
	if (f->count < FOUND_MAX)
		f->all[f->count] = *finding;
	f->count++;
}

static inline void check_log(const struct bytes *b, enum tw_order order, size_t memory_limit, uint64_t min_duration,
                             struct findings *f)
{
	struct tw_reader *reader;
	struct tw_batch batch;
	struct tw_read_options options = {.order = order,
	                                  .checking = TW_CHECK_ALL,
	                                  .on_finding = keep,
	                                  .finding_context = f,
	                                  .min_duration_ns = min_duration,
	                                  .memory_limit = memory_limit};
	memset(f, 0, sizeof *f);
	int status = tw_open_memory(&reader, "made", b->data, b->size, &options);
	if (status < 0)
		fail_msg("cannot open: %s", tw_reader_error(reader));
	while ((status = tw_read(reader, &batch)) > 0)
		continue;
	assert_int_equal(status, 0);
	assert_int_equal(tw_reader_findings(reader, TW_NOTE) + tw_reader_findings(reader, TW_WARNING) +
	                     tw_reader_findings(reader, TW_ERROR),
	                 f->count);
	tw_close(reader);
}

static inline void list(const struct findings *f)
{
	for (size_t i = 0; i < f->count && i < FOUND_MAX; i++)
		print_error("found %s, record 0x%llx, at 0x%llx\n", f->all[i].rule,
		            (unsigned long long)f->all[i].record, (unsigned long long)f->all[i].at);
}

#endif
