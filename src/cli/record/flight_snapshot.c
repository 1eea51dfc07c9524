/* flight_snapshot.c - what the log of a program that runs has at this moment. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "cli/output/message.h"
#include "cli/record/record.h"

#include <trackway/fdr.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Source: doc/formats/xray-fdr.md, "Logs of the flight recorder". */
enum {
	HEADER = 32,
	MARK_AT = 24,
	PAGE = 4096,
	EXTENTS_AT = 15,
	COUNT_AT = 16,
	BEGUN_AT = 79,
	RECORDS_AT = 31,
	BEGIN = 16
};
static const char mark[8] = {'t', 'w', 'f', 'l', 'i', 'g', 'h', 't'};

struct log {
	const uint8_t *bytes;
	uint64_t size;
};

/* Whether a file is the log of a process, which is mapped then. */
static bool map_log(struct log *log, const char *path)
{
	struct stat what;
	const int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	*log = (struct log){0};
	if (fstat(file, &what) == 0 && S_ISREG(what.st_mode) && what.st_size >= 2 * PAGE) {
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
static bool find_log(struct log *log, uint64_t pid)
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

/* How many bytes of a chunk are written: a thread may be at it. */
static uint64_t written(const uint8_t *chunk)
{
	return __atomic_load_n((const uint64_t *)(chunk + COUNT_AT), __ATOMIC_ACQUIRE);
}

/* Copies a chunk as it is between two looks: one that a ring has begun anew meanwhile is copied again. False: it was so
 * each time. The rest of the copy is zeros. */
static bool copy_chunk(uint8_t *to, const uint8_t *chunk, uint64_t size)
{
	enum { TRIES = 1000 };
	for (unsigned i = 0; i < TRIES; i++) {
		const uint64_t count = written(chunk);
		uint8_t begin[BEGIN];
		if (count > size - RECORDS_AT)
			return false;
		memcpy(begin, chunk + BEGUN_AT, sizeof begin);
		memcpy(to, chunk, RECORDS_AT + count);
		memset(to + RECORDS_AT + count, 0, size - RECORDS_AT - count);
		memcpy(to + COUNT_AT, &count, sizeof count);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (written(chunk) >= count && memcmp(begin, chunk + BEGUN_AT, sizeof begin) == 0)
			return true;
	}
	memset(to, 0, size);
	return false;
}

/* Returns how many chunks could not be copied. */
static unsigned copy_log(uint8_t *to, const struct log *log)
{
	unsigned failed = 0;
	memcpy(to, log->bytes, HEADER);
	for (uint64_t at = HEADER; at + BEGUN_AT + BEGIN <= log->size;) {
		const uint64_t size = tw_load32(log->bytes + at, false);
		const bool begun = size >= PAGE / 2 && size <= log->size - at && (at + size) % PAGE == 0 &&
		                   log->bytes[at + EXTENTS_AT] == 0x0f;
		if (begun)
			failed += !copy_chunk(to + at, log->bytes + at, size);
		at = begun ? at + size : at / PAGE * PAGE + PAGE;
	}
	return failed;
}

/* ---- All. ---- */

/* A file without a name, as large as the log. Returns its descriptor, or -1. */
static int make_copy(const struct log *log, char path[PATH_MAX], unsigned *failed)
{
	const char *folder = tw_temporary_folder();
	snprintf(path, PATH_MAX, "%s/trackway.XXXXXX", folder ? folder : "/tmp");
	const int file = mkstemp(path);
	void *bytes = MAP_FAILED;
	if (file >= 0 && posix_fallocate(file, 0, (off_t)log->size) == 0)
		bytes = mmap(NULL, log->size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (bytes == MAP_FAILED)
		return file < 0 ? -1 : (unlink(path), close(file), -1);
	*failed = copy_log(bytes, log);
	munmap(bytes, log->size);
	return file;
}

int tw_flight_snapshot(uint64_t pid, const char *output, int (*finish)(const char *copy, const char *output))
{
	struct log log;
	char path[PATH_MAX];
	unsigned failed = 0;
	if (!find_log(&log, pid))
		return tw_say_error("process %llu: writes no log of calls, or is of another user",
		                    (unsigned long long)pid);
	const int file = make_copy(&log, path, &failed);
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
