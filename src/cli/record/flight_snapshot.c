/* flight_snapshot.c - what the log of a program that runs has at this moment. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "cli/output/message.h"
#include "cli/record/record.h"
#include "flight/log/log.h"
#include "flight/log/stretch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Source: doc/formats/xray-fdr.md, "Logs of the flight recorder". */
enum {
	FREQUENCY_AT = 8,
	MARK_AT = 24,
	STATE_AT = FLIGHT_FILE_HEADER + FLIGHT_BEGUN + FLIGHT_METADATA + 17,
	LAST_CLOCK_AT = STATE_AT + offsetof(struct flight_state, last),
	NANOSECONDS = 1000000000
};
static const char mark[8] = {'t', 'w', 'f', 'l', 'i', 'g', 'h', 't'};

struct copied_log {
	const uint8_t *bytes;
	uint64_t size;
};

/* Whether a file is the log of a process, which is mapped then. */
static bool map_log(struct copied_log *log, const char *path)
{
	struct stat what;
	const int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	*log = (struct copied_log){0};
	if (fstat(file, &what) == 0 && S_ISREG(what.st_mode) && what.st_size >= 2 * FLIGHT_PAGE) {
		log->size = (uint64_t)what.st_size;
		void *bytes = mmap(NULL, log->size, PROT_READ, MAP_SHARED, file, 0);
		log->bytes = bytes == MAP_FAILED ? NULL : bytes;
	}
	close(file);
	if (log->bytes && memcmp(log->bytes + MARK_AT, mark, sizeof mark) != 0) {
		munmap((void *)(uintptr_t)log->bytes, log->size);
		log->bytes = NULL;
	}
	return log->bytes != NULL;
}

/* Among what a process has mapped to be written to and shared. */
static bool find_log(struct copied_log *log, uint64_t pid)
{
	char path[64], *line = NULL;
	size_t room = 0;
	bool found = false;
	snprintf(path, sizeof path, "/proc/%llu/maps", (unsigned long long)pid);
	FILE *maps = fopen(path, "re");
	while (maps && !found && getline(&line, &room, maps) > 0) {
		char *name = strchr(line, '/');
		line[strcspn(line, "\n")] = '\0';
		found = name && strstr(line, " rw-s ") && map_log(log, name);
	}
	if (maps)
		fclose(maps);
	free(line);
	return found;
}

/* ---- Copying. ---- */

/* The tick that was `age` ns ago. 0: all is younger. */
static uint64_t tick_of(const struct copied_log *log, uint64_t age)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	const uint64_t now_ns = (uint64_t)now.tv_sec * NANOSECONDS + (uint64_t)now.tv_nsec;
	const uint64_t ticks = tw_load64(log->bytes + LAST_CLOCK_AT, false),
		       raw = tw_load64(log->bytes + LAST_CLOCK_AT + 8, false),
		       frequency = tw_load64(log->bytes + FREQUENCY_AT, false);
	const uint64_t now_tick = ticks + (now_ns > raw ? flight_ticks_of(now_ns - raw, frequency) : 0),
		       before = flight_ticks_of(age, frequency);
	return before < now_tick ? now_tick - before : 0;
}

/* Returns how many chunks could not be copied. */
static unsigned copy_log(uint8_t *to, const struct copied_log *log, uint64_t age)
{
	unsigned failed = 0;
	const uint64_t since = age ? tick_of(log, age) : 0;
	memcpy(to, log->bytes, FLIGHT_FILE_HEADER);
	for (uint64_t at = FLIGHT_FILE_HEADER; at < log->size;) {
		const uint64_t size = flight_chunk_size(log->bytes, at, log->size);
		const bool copied = size && flight_copy_chunk(to + at, log->bytes + at, size);
		const uint64_t frequency = tw_load64(to + FREQUENCY_AT, false);
		const uint64_t kept = copied ? flight_keep_since(to + at, since, frequency) : 0;
		memset(to + at + kept, 0, size - kept);
		memcpy(to + at, &(uint32_t){(uint32_t)size}, sizeof(uint32_t));
		failed += size && !copied;
		at = flight_chunk_next(at, size);
	}
	return failed;
}

/* ---- All. ---- */

/* A file without a name, as large as the log. Returns its descriptor, or -1. */
static int make_copy(const struct copied_log *log, uint64_t age, char path[PATH_MAX], unsigned *failed)
{
	const char *folder = tw_temporary_folder();
	snprintf(path, PATH_MAX, "%s/trackway.XXXXXX", folder ? folder : "/tmp");
	const int file = mkstemp(path);
	void *bytes = MAP_FAILED;
	if (file >= 0 && posix_fallocate(file, 0, (off_t)log->size) == 0)
		bytes = mmap(NULL, log->size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (bytes == MAP_FAILED)
		return file < 0 ? -1 : (unlink(path), close(file), -1);
	*failed = copy_log(bytes, log, age);
	munmap(bytes, log->size);
	return file;
}

int tw_record_snapshot(uint64_t pid, uint64_t age, const char *output,
                       int (*finish)(const char *copy, const char *output))
{
	struct copied_log log;
	char path[PATH_MAX];
	unsigned failed = 0;
	if (!find_log(&log, pid))
		return tw_say_error("process %llu: writes no log of calls, or is of another user",
		                    (unsigned long long)pid);
	const int file = make_copy(&log, age, path, &failed);
	const int error = errno;
	munmap((void *)(uintptr_t)log.bytes, log.size);
	if (file < 0)
		return tw_say_error("%s: %s", path, strerror(error));
	const int status = finish(path, output);
	unlink(path);
	close(file);
	if (failed)
		tw_say("%u chunks were written too fast to be copied", failed);
	return status;
}
