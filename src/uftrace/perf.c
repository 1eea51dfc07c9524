/* perf.c - what perf told while functions were recorded: when threads got a CPU and left it, and what they are called.
 *
 * perf-cpuN.dat has records of perf_event_open(2), each with its type, flags and size, and at its end process, thread
 * and time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/memory/memory.h"
#include "base/text/scan.h"
#include "uftrace/uftrace.h"

#include <string.h>

enum {
	HEADER = 8,
	FLAGS = 4,
	SIZE = 6,
	RECORD_MOST = 1 << 16,
	NAME_MOST = 16,
	/* Types, as <linux/perf_event.h> has them. */
	COMM = 3,
	EXIT = 4,
	SWITCH = 14,
	/* Flags of a switch. */
	IS_OUT = 1 << 13,
	IS_PREEMPTED = 1 << 14
};

/* A record in the file. */
struct perf_record {
	unsigned type, flags;
	size_t size;
	const uint8_t *bytes;
	uint64_t offset;
};

/* ---- Files. ---- */

/* "perf-cpu12.dat", "kernel-cpu12.dat" */
int uftrace_add_cpu(struct tw_reader *reader, const char *name)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	bool kernel = name[0] == 'k';
	const char *at = name + strlen(kernel ? "kernel-cpu" : "perf-cpu");
	uint64_t number;
	if (!tw_scan_number(&at, 10, &number) || strcmp(at, ".dat") != 0 || number >= UFTRACE_CPUS)
		return 0;
	if (!tw_grow(&uftrace->cpus.items, &uftrace->cpus.room, uftrace->cpus.count + 1, sizeof *uftrace->cpus.items))
		return tw_fail_memory(reader);
	struct uftrace_cpu *cpu = &uftrace->cpus.items[uftrace->cpus.count++];
	*cpu = (struct uftrace_cpu){.number = (unsigned)number,
	                            .kernel = kernel,
	                            .file = uftrace_path(reader->path, name)};
	return cpu->file ? 0 : tw_fail_memory(reader);
}

int uftrace_cpu_open(struct tw_reader *reader, struct uftrace_cpu *cpu)
{
	int status = tw_input_open_regular(&cpu->input, cpu->file);
	cpu->window = (struct tw_window){.input = cpu->input, .chunk = uftrace_chunk(reader)};
	cpu->next = cpu->page = cpu->at = cpu->end = cpu->missed = 0;
	if (status < 0)
		tw_fail(reader, status, "%s", cpu->input ? tw_input_error(cpu->input) : "out of memory");
	return status;
}

void uftrace_cpu_close(struct uftrace_cpu *cpu)
{
	tw_window_free(&cpu->window);
	tw_input_close(cpu->input);
	cpu->input = NULL;
}

/* ---- Records. ---- */

/* Gives up a file where no record stands: nothing tells where the next one would be, so the rest is lost. */
static int give_up(struct tw_reader *reader, const struct uftrace_cpu *cpu, size_t size, size_t have)
{
	bool cut = have < HEADER || size > have;
	const struct tw_rule *rule = &uftrace_rules[cut ? UFTRACE_CUT_RECORD : UFTRACE_BAD_RECORD];
	reader->reports.file = cpu->file;
	tw_report(reader, rule, cpu->next, cpu->next, 0, "%s",
	          cut ? rule->text : "Expected a record of perf, found a size that is none: the rest is left out.");
	reader->reports.file = NULL;
	if (!reader->reports.quiet)
		uftrace_of(reader)->lost += have;
	return 0;
}

static int view(struct tw_reader *reader, struct uftrace_cpu *cpu, size_t want, const uint8_t **bytes, size_t *have)
{
	int status = tw_window_view(&cpu->window, cpu->next, want, bytes, have);
	if (status < 0)
		tw_fail(reader, status, "%s", tw_input_error(cpu->input));
	return status;
}

/* Returns 1, 0 at the end, or a negative status. */
static int next_record(struct tw_reader *reader, struct uftrace_cpu *cpu, struct perf_record *record)
{
	const uint8_t *bytes;
	size_t have;
	int status = view(reader, cpu, HEADER, &bytes, &have);
	if (status < 0 || have == 0)
		return status < 0 ? status : 0;
	size_t size = have < HEADER ? 0 : tw_load16(bytes + SIZE, false);
	status = view(reader, cpu, size < HEADER ? RECORD_MOST : size, &bytes, &have);
	if (status < 0)
		return status;
	if (size < HEADER || size > have)
		return give_up(reader, cpu, size, have);
	*record = (struct perf_record){.type = tw_load32(bytes, false),
	                               .flags = tw_load16(bytes + FLAGS, false),
	                               .size = size,
	                               .bytes = bytes,
	                               .offset = cpu->next};
	cpu->next += size;
	return 1;
}

/* Takes a switch, where it is of a thread that is shown. Those before its first function are uftrace's own, and left
 * out. */
static bool take_switch(struct tw_reader *reader, struct uftrace_cpu *cpu, const struct perf_record *record)
{
	enum { TID = HEADER + 4, TIME = HEADER + 8, ALL = HEADER + 16 };
	struct uftrace_reader *uftrace = uftrace_of(reader);
	uint32_t number;
	if (record->type != SWITCH || record->size < ALL ||
	    !tw_map_find(&uftrace->tasks.numbers, tw_load32(record->bytes + TID, false), &number))
		return false;
	cpu->task = &uftrace->tasks.items[number];
	cpu->record = (struct uftrace_record){
	    .type = record->flags & IS_OUT ? UFTRACE_SCHED_OUT : UFTRACE_SCHED_IN,
	    .time = tw_load64(record->bytes + TIME, false),
	    .preempted = record->flags & IS_PREEMPTED,
	    .cpu = cpu->number,
	    .offset = record->offset,
	    .size = record->size,
	};
	return cpu->task->shown && cpu->record.time >= reader->clock.start_ns;
}

int uftrace_cpu_next(struct tw_reader *reader, struct uftrace_cpu *cpu)
{
	struct perf_record record;
	int status;
	if (cpu->kernel)
		return uftrace_kernel_next(reader, cpu);
	do
		status = next_record(reader, cpu, &record);
	while (status > 0 && !take_switch(reader, cpu, &record));
	return status;
}

/* ---- The names of threads, and when they ended. ---- */

static int take_name(struct tw_reader *reader, const struct perf_record *record)
{
	enum { TID = HEADER + 4, NAME = HEADER + 8 };
	uint32_t number;
	if (record->type != COMM || record->size < NAME + NAME_MOST ||
	    !tw_map_find(&uftrace_of(reader)->tasks.numbers, tw_load32(record->bytes + TID, false), &number))
		return 0;
	const char *text = (const char *)record->bytes + NAME;
	const struct tw_name name = {.text = text, .length = strnlen(text, NAME_MOST)};
	uint32_t known = tw_dictionary_intern(reader->dictionary, &name);
	uftrace_of(reader)->tasks.items[number].name = known;
	return known == UINT32_MAX ? tw_fail_memory(reader) : 0;
}

/* Keeps when a thread ended. */
static void take_exit(struct tw_reader *reader, const struct perf_record *record)
{
	enum { TID = HEADER + 8, TIME = HEADER + 16, ALL = HEADER + 24 };
	uint32_t number;
	if (record->type == EXIT && record->size >= ALL &&
	    tw_map_find(&uftrace_of(reader)->tasks.numbers, tw_load32(record->bytes + TID, false), &number))
		uftrace_of(reader)->tasks.items[number].ended = tw_load64(record->bytes + TIME, false);
}

int uftrace_read_names(struct tw_reader *reader)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	bool quiet = reader->reports.quiet;
	int status = 0;
	reader->reports.quiet = true; /* what is wrong is reported when switches are read */
	for (size_t i = 0; i < uftrace->cpus.count && status >= 0; i++) {
		struct perf_record record;
		if (uftrace->cpus.items[i].kernel)
			continue;
		status = uftrace_cpu_open(reader, &uftrace->cpus.items[i]);
		while (status >= 0 && (status = next_record(reader, &uftrace->cpus.items[i], &record)) > 0) {
			take_exit(reader, &record);
			status = take_name(reader, &record);
		}
		uftrace_cpu_close(&uftrace->cpus.items[i]);
	}
	reader->reports.quiet = quiet;
	return status;
}
