/* check_headers.c - whether the headers of a set's snapshot files agree. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/jobs/check.h"

#include <inttypes.h>

/* Tells the first field that differs. Whether there are TIMEs is of each file alone. */
static void compare(const struct xtrace_files *files, const struct tw_xtrace_header *first, const char *name)
{
	const struct tw_xtrace_header *header = &files->header;
	const struct {
		const char *name;
		unsigned at;
		uint64_t value, first;
	} fields[] = {
	    {"identification", 0, header->identification, first->identification},
	    {"version", 8, header->version, first->version},
	    {"division", 16, header->division, first->division},
	    {"stream", 17, header->stream, first->stream},
	};
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (fields[i].value != fields[i].first) {
			xtrace_report(files, true, XTRACE_HEADERS_DIFFER, 0, fields[i].at,
			              "The %s is %" PRIu64 "; %s has %" PRIu64 ".", fields[i].name, fields[i].value,
			              name, fields[i].first);
			return;
		}
}

/* Reads the header of a track; nothing else is told of it. Returns 1, 0 where there is none, or a negative status. */
static int open_quietly(struct xtrace_files *files, struct tw_reader *reader, const struct xtrace_track *track)
{
	bool quiet = reader->reports.quiet;
	reader->reports.quiet = true;
	int status = xtrace_files_open(files, reader, track);
	reader->reports.quiet = quiet;
	return status < 0 ? status : files->has_header;
}

int xtrace_check_headers(struct tw_reader *reader)
{
	const struct xtrace_set *set = &xtrace_of(reader)->set;
	struct xtrace_files first = {0};
	int status = 0;
	for (size_t i = 0; status >= 0 && set->count > 1 && i < set->count; i++) {
		struct xtrace_files files = {0};
		if (!set->tracks[i].snapshots || !tw_thread_wanted(&reader->options, set->tracks[i].name.number))
			continue;
		status = open_quietly(&files, reader, &set->tracks[i]);
		if (status > 0 && !first.reader) {
			first = files;
			continue;
		}
		if (status > 0)
			compare(&files, &first.header, first.snapshots_name);
		xtrace_files_close(&files);
	}
	xtrace_files_close(&first);
	return status < 0 ? status : 0;
}
