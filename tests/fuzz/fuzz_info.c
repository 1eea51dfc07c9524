/* fuzz_info.c - what is in any bytes: the same told by one thread as by two. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

/* The counts of an info, taken out of the reader that they live in. */
struct counts {
	int status;
	uint64_t bytes, records, events, processes, clock_start_ns, span_ns, lost_bytes;
	uint64_t kinds, threads, kind_sum, thread_sum, errors;
};

static struct counts count(const uint8_t *bytes, size_t size, const struct tw_read_options *options, unsigned jobs)
{
	struct counts counts = {.status = -1};
	struct tw_reader *reader = fuzz_open(bytes, size, options);
	struct tw_info info = {0};
	if (reader && fuzz_good(reader, counts.status = tw_read_info(reader, jobs, &info))) {
		counts = (struct counts){0,
		                         info.bytes,
		                         info.records,
		                         info.events,
		                         info.processes,
		                         info.clock_start_ns,
		                         info.span_ns,
		                         info.lost_bytes,
		                         info.kind_count,
		                         info.thread_count,
		                         .errors = tw_reader_findings(reader, TW_ERROR)};
		for (size_t i = 0; i < info.kind_count; i++)
			counts.kind_sum += info.kinds[i].count;
		for (size_t i = 0; i < info.thread_count; i++)
			counts.thread_sum += info.threads[i].records;
	}
	tw_close(reader);
	return counts;
}

FUZZ_TARGET(info, const uint8_t *bytes, size_t size)
{
	if (size < 1)
		return 0;
	struct tw_read_options options = fuzz_options(bytes[0] & 0xf);
	struct counts one = count(bytes + 1, size - 1, &options, 1);
	struct counts two = count(bytes + 1, size - 1, &options, 2);
	fuzz_require(one.status == two.status && one.bytes == two.bytes && one.records == two.records &&
	                 one.events == two.events && one.processes == two.processes &&
	                 one.clock_start_ns == two.clock_start_ns && one.span_ns == two.span_ns &&
	                 one.lost_bytes == two.lost_bytes && one.kinds == two.kinds && one.threads == two.threads &&
	                 one.thread_sum == two.thread_sum && one.errors == two.errors,
	             "two threads tell the same as one");
	fuzz_require(one.kind_sum == one.records, "the kinds add up to the records");
	return 0;
}
