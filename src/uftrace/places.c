/* places.c - which records the filters let through, in the files of all threads and CPUs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/memory/memory.h"
#include "uftrace/uftrace.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Bits of the offsets of the kernel's records. Those between are the CPU. */
enum { KERNEL = 45, CPU = 32 };
static_assert(UFTRACE_CPUS <= 1 << (KERNEL - CPU), "each CPU has a number there");

uint64_t uftrace_offset(const struct uftrace_record *record)
{
	uint64_t cpu = record->cpu;
	return record->kernel ? UINT64_C(1) << KERNEL | cpu << CPU | (uint32_t)record->offset : record->offset;
}

static size_t cpu_source(const struct uftrace_reader *uftrace, bool kernel, unsigned number)
{
	for (size_t i = 0; i < uftrace->cpus.count; i++)
		if (uftrace->cpus.items[i].kernel == kernel && uftrace->cpus.items[i].number == number)
			return uftrace->tasks.count + i;
	return 0;
}

uint64_t uftrace_place(const struct tw_reader *reader, const struct tw_event *event)
{
	const struct uftrace_reader *uftrace = uftrace_of(reader->whole ? reader->whole : reader);
	const uint64_t *begins = uftrace->places.begins;
	if (event->offset >> KERNEL)
		return begins[cpu_source(uftrace, true, (unsigned)tw_bits(event->offset, CPU, KERNEL - 1))] +
		       (uint32_t)event->offset;
	if (event->kind == TW_SWITCH)
		return begins[cpu_source(uftrace, false, event->cpu)] + event->offset;
	return begins[uftrace_member(reader, event->track)] + event->offset;
}

/* Returns false when there is no memory. */
static bool lay_out(struct uftrace_reader *uftrace)
{
	uint64_t at = 0;
	size_t count = uftrace->tasks.count + uftrace->cpus.count;
	uftrace->places.begins = calloc(count + 1, sizeof *uftrace->places.begins);
	for (size_t i = 0; uftrace->places.begins && i < count; i++) {
		const char *file = i < uftrace->tasks.count ? uftrace->tasks.items[i].file
		                                            : uftrace->cpus.items[i - uftrace->tasks.count].file;
		struct stat status;
		uftrace->places.begins[i] = at;
		if (file && stat(file, &status) == 0)
			at += ((uint64_t)status.st_size | (TW_WANTED_UNIT - 1)) + 1;
	}
	return uftrace->places.begins != NULL;
}

int uftrace_open_wanted(struct tw_reader *reader)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	const enum tw_order order = reader->options.order;
	if (!reader->filtering.filter || uftrace->places.wanted)
		return 0;
	if (!lay_out(uftrace))
		return tw_fail_memory(reader);
	reader->options.order = TW_ORDER_TIME; /* what the kernel did for a thread is in other files */
	int status = tw_wanted_new(&uftrace->places.wanted, reader, false);
	reader->options.order = order;
	return status == TW_ERR_MEMORY ? tw_fail_memory(reader) : status;
}
