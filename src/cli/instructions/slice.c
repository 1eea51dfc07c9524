/* slice.c - trackway slice: an interval of an xtrace as a program of its own. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "slice/slice.h"
#include "base/text/json.h"
#include "cli/files/walk.h"
#include "cli/output/message.h"
#include "cli/output/screen.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct slice_options {
	struct tw_common common; /* first */
	uint64_t snapshot, length;
	bool sync;
};

struct work {
	struct tw_reader *reader;
	const struct slice_options *options;
	struct tw_screen screen; /* for --json */
};

static bool is_wanted(const struct tw_common *common, uint64_t thread)
{
	for (size_t i = 0; i < common->threads.count; i++)
		if (common->threads.items[i] == thread)
			return true;
	return common->threads.count == 0;
}

/* The track that --thread names, or the only one. */
static int choose(const struct work *work, const struct xtrace_track **track)
{
	const struct xtrace_set *set = &xtrace_of(work->reader)->set;
	size_t wanted = 0;
	for (size_t i = 0; i < set->count; i++)
		if (is_wanted(&work->options->common, set->tracks[i].name.number)) {
			*track = &set->tracks[i];
			wanted++;
		}
	if (wanted == 0)
		return tw_fail(work->reader, TW_ERR_VALUE, "there is no such thread");
	if (wanted > 1)
		return tw_fail(work->reader, TW_ERR_VALUE, "there are %zu threads: choose one (--thread)", wanted);
	return 0;
}

/* ---- --json. ---- */

static void tell_slice(struct work *work, const struct slice *slice, const struct slice_interval *interval,
                       size_t pages, const char *path)
{
	struct tw_json json = {.out = &work->screen.out};
	struct stat file;
	if (!work->options->common.json)
		return;
	tw_json_object(&json, NULL);
	tw_json_text(&json, "program", path);
	tw_json_u64(&json, "thread", slice->track->name.number);
	tw_json_u64(&json, "snapshot", interval->snapshot);
	tw_json_u64(&json, "before", slice->before);
	tw_json_u64(&json, "instructions", interval->instructions);
	tw_json_u64(&json, "accesses", slice->accesses);
	tw_json_u64(&json, "places", slice->place_count);
	tw_json_u64(&json, "pages", pages);
	tw_json_u64(&json, "bytes", stat(path, &file) == 0 ? (uint64_t)file.st_size : 0);
	tw_json_object_end(&json);
	tw_json_line_end(&json);
}

static void tell_order(struct work *work, const struct slice_sync *sync, const char *path)
{
	struct tw_json json = {.out = &work->screen.out};
	if (!work->options->common.json)
		return;
	tw_json_object(&json, NULL);
	tw_json_text(&json, "order", path);
	tw_json_u64(&json, "after", sync->after);
	tw_json_u64(&json, "until", sync->until);
	tw_json_u64(&json, "accesses", sync->accesses);
	tw_json_object_end(&json);
	tw_json_line_end(&json);
}

/* ---- Writing. ---- */

static int fail(const struct work *work, const char *path, int error)
{
	return tw_fail(work->reader, TW_ERR_SYSTEM, "%s: %s", path, strerror(error));
}

/* Who may read it may run it. A device that it is written to stays as it is. */
static void make_executable(int fd)
{
	enum { READ = S_IRUSR | S_IRGRP | S_IROTH, ALL = S_IRWXU | S_IRWXG | S_IRWXO };
	struct stat status;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		fchmod(fd, (status.st_mode & ALL) | (status.st_mode & READ) >> 2);
}

static int write_slice(const struct work *work, struct slice *slice, const char *path)
{
	struct tw_output out;
	int error = tw_output_open(&out, path);
	if (error)
		return fail(work, path, error);
	int status = slice_write_program(slice, &out);
	if (status < 0) {
		tw_output_discard(&out);
		return status;
	}
	make_executable(out.fd);
	error = tw_output_close(&out);
	return error ? fail(work, path, error) : 0;
}

static int make_slice(struct work *work, const struct xtrace_track *track, const struct slice_interval *interval,
                      const char *path)
{
	struct slice slice;
	int status = slice_read(&slice, work->reader, track, interval);
	size_t pages = slice.page_count; /* of the program alone: writing adds those of its stubs */
	if (status == 0)
		status = write_slice(work, &slice, path);
	if (status == 0)
		tell_slice(work, &slice, interval, pages, path);
	slice_free(&slice);
	return status;
}

/* ---- --sync. ---- */

static int write_order(const struct work *work, struct slice_sync *sync, const struct xtrace_track *track,
                       const struct slice_interval *interval, const char *path)
{
	struct tw_output out;
	int error = tw_output_open(&out, path);
	if (error)
		return fail(work, path, error);
	int status = slice_sync_read(sync, work->reader, track, interval, &out);
	if (status < 0) {
		tw_output_discard(&out);
		return status;
	}
	error = tw_output_close(&out);
	return error ? fail(work, path, error) : 0;
}

static int make_all(struct work *work, const struct xtrace_track *track, const struct slice_interval *interval)
{
	enum { CORE_HINT = 13 };
	const char *directory = work->options->common.output;
	char path[PATH_MAX];
	struct slice_sync sync = {0};
	bool made = mkdir(directory, S_IRWXU | S_IRWXG | S_IRWXO) == 0;
	if (!made && errno != EEXIST)
		return fail(work, directory, errno);
	snprintf(path, sizeof path, "%s/order.tsv", directory);
	int status = write_order(work, &sync, track, interval, path);
	if (status == 0)
		tell_order(work, &sync, path);
	for (size_t i = 0; status == 0 && i < sync.count; i++) {
		const struct slice_cut *cut = &sync.cuts[i];
		snprintf(path, sizeof path, "%s/%s%" PRIu64 ".elf", directory,
		         cut->track->name.hint == CORE_HINT ? "core" : "", cut->track->name.number);
		if (cut->interval.instructions)
			status = make_slice(work, cut->track, &cut->interval, path);
	}
	slice_sync_free(&sync);
	if (status < 0 && made)
		rmdir(directory); /* if it is empty */
	return status;
}

static int read_slice(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	struct work *work = walk->context;
	const struct slice_options *options = work->options;
	const struct slice_interval interval = {.snapshot = options->snapshot, .instructions = options->length};
	const struct xtrace_track *track = NULL;
	(void)path;
	work->reader = reader;
	if (reader->format != &tw_format_xtrace)
		return tw_fail(reader, TW_ERR_UNSUPPORTED, "%s has no instructions: an xtrace has",
		               tw_source_name(reader));
	int status = choose(work, &track);
	if (status < 0)
		return status;
	return options->sync ? make_all(work, track, &interval)
	                     : make_slice(work, track, &interval, options->common.output);
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	struct work work = {.options = (struct slice_options *)common};
	struct tw_walk walk = {.common = common, .context = &work, .all_threads = true, .read = read_slice};
	if (!common->output || strcmp(common->output, "-") == 0)
		return tw_say_usage(&tw_command_slice, "where to? -o %s", work.options->sync ? "DIR" : "FILE");
	if (!work.options->length)
		return tw_say_usage(&tw_command_slice, "how many instructions? --length N");
	int status = tw_screen_open(&work.screen, NULL);
	if (status)
		return status;
	status = tw_walk(&walk, operands, count);
	return tw_screen_end(&work.screen, status);
}

#define MEMBER(name) .offset = offsetof(struct slice_options, name)
static const struct tw_option own_options[] = {
    {"snapshot", 0, TW_OPTION_COUNT, MEMBER(snapshot), .placeholder = "K",
     .help = "begin at snapshot number K of the thread, from 0, the default, on"},
    {"length", 0, TW_OPTION_COUNT, MEMBER(length), .placeholder = "N", .least = 1, .most = UINT32_MAX - 1,
     .help = "so many instructions"},
    {"thread", 't', TW_OPTION_NUMBERS, MEMBER(common.threads), .placeholder = "ID",
     .help = "of this thread; needed where there are several"},
    {"sync", 0, TW_OPTION_FLAG, MEMBER(sync),
     .help =
         "a slice of each other thread as well, cut where the order of memory accesses has the beginning and the end "
         "of this one; -o names a directory"},
    {"output", 'o', TW_OPTION_FILE, MEMBER(common.output), .placeholder = "FILE",
     .help =
         "the program that is written; with --sync the directory of programs, ID.elf, and of their order, order.tsv"},
    {"json", 0, TW_OPTION_FLAG, MEMBER(common.json), .help = "tell what was written as JSON Lines"},
};
static const struct tw_option_group own_group = {"Slice", own_options, sizeof own_options / sizeof *own_options};
static const struct tw_option_group *const groups[] = {&own_group, &tw_plain_input_options, &tw_help_options, NULL};

const struct tw_command tw_command_slice = {
    .name = "slice",
    .summary = "an interval of an xtrace as a program that runs by itself",
    .operands = "DIR",
    .description =
	"Writes a static AArch64 program that begins with the registers of a snapshot and the memory that the "
	"interval reads, executes its instructions and ends. It makes no system calls but for its own memory: what "
	"they returned and wrote is done from the trace.\n\n"
	"Where something happens that the instructions do not do (a system call, a system register, another thread's "
	"store, the end), or that processors do differently (DC ZVA), a branch stands instead of the instruction, to a "
	"stub that does it. HINT #9 is executed where the interval begins and ends, so that \"trackway record "
	"--from-hint\" collects it again.\n\n"
	"With --sync there is a program for each thread that accesses memory meanwhile. It begins at the last "
	"snapshot before, and executes HINT #9 where its part of the interval begins. The order of all their accesses "
	"stands beside them, a line each: TIME, thread, instruction (from 0, behind HINT #9), kind, address, "
	"bytes.\n\n"
	"An interval whose memory the trace does not have, as where an access was not recorded, is refused.",
    .examples = "trackway slice --snapshot 3 --length 100000 trace -o slice.elf\tFrom the fourth snapshot on.\n"
		"trackway record --from-hint -o again -- ./slice.elf\tIts own trace.\n"
		"trackway slice --sync --thread 4711 --length 100000 trace -o slices\tWhat all threads do meanwhile.\n",
    .groups = groups,
    .size = sizeof(struct slice_options),
    .least = 1,
    .most = 1,
    .run = run,
};
