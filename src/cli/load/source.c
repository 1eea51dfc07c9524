/* source.c - options for a trace in a database: how it is known, its day, its labels. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/load/source.h"

#include "base/memory/memory.h"
#include "cli/command.h"
#include "cli/output/message.h"
#include "cli/output/show.h"
#include "core/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS_PER_DAY = 86400, PIECE = 1 << 18 };

/* ---- Days. ---- */

struct tw_day_text tw_day_show(unsigned day)
{
	struct tw_day_text shown;
	time_t seconds = (time_t)day * SECONDS_PER_DAY;
	struct tm date;
	gmtime_r(&seconds, &date);
	strftime(shown.text, sizeof shown.text, "%Y-%m-%d", &date);
	return shown;
}

unsigned tw_day_parse(const char *text)
{
	struct tm date = {0};
	const char *end = strptime(text, "%Y-%m-%d", &date);
	time_t seconds = end && !*end ? timegm(&date) : 0;
	if (seconds < SECONDS_PER_DAY || seconds / SECONDS_PER_DAY > UINT16_MAX)
		return 0;
	unsigned day = (unsigned)(seconds / SECONDS_PER_DAY);
	return strcmp(tw_day_show(day).text, text) == 0 ? day : 0; /* there is no 31st of June */
}

/* ---- Bytes. ---- */

struct loaded_files {
	struct tw_sha256 sum;
	uint64_t size;
	time_t time; /* of the newest file */
	char **files;
	size_t count, room;
};

static int add_bytes(struct loaded_files *bytes, int fd)
{
	char *piece = malloc(PIECE);
	ssize_t n = piece ? 1 : -1;
	while (n > 0) {
		n = read(fd, piece, PIECE);
		n = n < 0 && errno == EINTR ? 1 : n;
		if (n > 0)
			tw_sha256_add(&bytes->sum, piece, (size_t)n);
		bytes->size += n > 0 ? (uint64_t)n : 0;
	}
	free(piece);
	return n < 0 ? -1 : 0;
}

static int add_file(struct loaded_files *bytes, const char *path)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC), result = -1;
	if (fd >= 0 && fstat(fd, &status) == 0) {
		bytes->time = status.st_mtime > bytes->time ? status.st_mtime : bytes->time;
		result = add_bytes(bytes, fd);
	}
	int error = errno;
	if (fd >= 0)
		close(fd);
	return result == 0 ? 0 : tw_say_error("%s: %s", tw_shown_path(path), strerror(error));
}

static bool is_file(const char *path)
{
	struct stat status;
	return strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static int note_file(void *context, const char *file)
{
	struct loaded_files *bytes = context;
	if (!is_file(file))
		return 0;
	if (!tw_grow(&bytes->files, &bytes->room, bytes->count + 1, sizeof *bytes->files))
		return TW_ERR_MEMORY;
	bytes->files[bytes->count] = strdup(file);
	return bytes->files[bytes->count++] ? 0 : TW_ERR_MEMORY;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Of a trace of several files, their names are a part of what it is. */
static int add_files(struct loaded_files *bytes)
{
	int status = 0;
	if (bytes->count)
		qsort(bytes->files, bytes->count, sizeof *bytes->files, by_name);
	for (size_t i = 0; i < bytes->count && status == 0; i++) {
		const char *slash = strrchr(bytes->files[i], '/'), *name = slash ? slash + 1 : bytes->files[i];
		tw_sha256_add(&bytes->sum, name, strlen(name) + 1);
		status = add_file(bytes, bytes->files[i]);
	}
	return status;
}

static void report_findings(void *context, tw_finding_fn put, void *to);

static int digest(struct loaded_files *bytes, const char *path, bool *named)
{
	int status = strcmp(path, "-") == 0 ? 0 : tw_trace_files(path, note_file, bytes);
	if (status < 0)
		return tw_say_error("%s", tw_status_text(status));
	*named = bytes->count || is_file(path);
	if (bytes->count)
		return add_files(bytes);
	return *named ? add_file(bytes, path) : 0;
}

int tw_source_find(struct tw_source_facts *facts, const char *path, struct tw_findings *findings)
{
	struct loaded_files bytes = {0};
	uint8_t sum[TW_SHA256_BYTES];
	tw_sha256_begin(&bytes.sum);
	int status = digest(&bytes, path, &facts->named);
	tw_sha256_end(&bytes.sum, sum);
	for (size_t i = 0; i < sizeof sum && facts->named; i++)
		snprintf(facts->trace + 2 * i, 3, "%02x", sum[i]);
	facts->options.trace = facts->trace;
	facts->options.path = strcmp(path, "-") == 0 ? "" : path;
	facts->options.bytes = bytes.size;
	facts->options.file_day = bytes.time > 0 ? (uint32_t)(bytes.time / SECONDS_PER_DAY) : 0;
	facts->options.loaded = (uint32_t)time(NULL);
	facts->options.findings = report_findings;
	facts->options.context = findings;
	for (size_t i = 0; i < bytes.count; i++)
		free(bytes.files[i]);
	free(bytes.files);
	return status;
}

/* ---- Findings. ---- */

struct finding_sink {
	tw_finding_fn put;
	void *to;
};

static void pass_on(void *context, const struct tw_kept *kept)
{
	const struct finding_sink *sink = context;
	const struct tw_finding finding = {
	    .severity = kept->severity,
	    .rule = kept->rule,
	    .file = kept->file,
	    .record = kept->record,
	    .at = kept->at,
	    .line = kept->line,
	    .column = kept->column,
	    .text = kept->text,
	};
	sink->put(sink->to, &finding);
}

static void report_more(void *context, const char *rule, uint64_t count)
{
	char text[64];
	const struct finding_sink *sink = context;
	snprintf(text, sizeof text, "and %llu more", (unsigned long long)count);
	const struct tw_finding finding = {.severity = TW_NOTE, .rule = rule, .file = "", .text = text};
	sink->put(sink->to, &finding);
}

/* In the order of their records: the rows are the same each time. */
static void report_findings(void *context, tw_finding_fn put, void *to)
{
	struct finding_sink sink = {put, to};
	const struct tw_findings_list list = {.put = pass_on, .more = report_more, .context = &sink};
	tw_findings_each(context, TW_NOTE, &list);
}
