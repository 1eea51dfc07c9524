/* slice.c - trackway slice: an interval of an xtrace as a program of its own. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "slice/slice.h"

#include "cli/message.h"
#include "cli/walk.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

struct slice_options {
	struct tw_common common; /* first */
	uint64_t snapshot, length;
};

/* The track that --thread names, or the only one. */
static int choose(struct tw_reader *reader, const struct xtrace_track **track)
{
	const struct xtrace_set *set = &xtrace_of(reader)->set;
	size_t wanted = 0;
	for (size_t i = 0; i < set->count; i++)
		if (tw_thread_wanted(&reader->options, set->tracks[i].name.number)) {
			*track = &set->tracks[i];
			wanted++;
		}
	if (wanted == 0)
		return tw_fail(reader, TW_ERR_VALUE, "there is no such thread");
	if (wanted > 1)
		return tw_fail(reader, TW_ERR_VALUE, "there are %zu threads: choose one (--thread)", wanted);
	return 0;
}

static int write_slice(struct tw_reader *reader, struct slice *slice, const char *path)
{
	struct tw_output out;
	int error = tw_output_open(&out, path);
	if (error)
		return tw_fail(reader, TW_ERR_SYSTEM, "%s: %s", path, strerror(error));
	int status = slice_write_program(slice, &out);
	if (status < 0) {
		tw_output_discard(&out);
		return status;
	}
	error = tw_output_close(&out);
	if (error)
		return tw_fail(reader, TW_ERR_SYSTEM, "%s: %s", path, strerror(error));
	chmod(path, S_IRWXU | S_IRGRP | S_IXGRP | S_IROTH | S_IXOTH);
	return 0;
}

static int read_slice(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	const struct slice_options *options = walk->context;
	const struct xtrace_track *track = NULL;
	struct slice slice = {0};
	(void)path;
	if (reader->format != &tw_format_xtrace)
		return tw_fail(reader, TW_ERR_UNSUPPORTED, "%s: the trace has no instructions", reader->format->name);
	int status = choose(reader, &track);
	if (status == 0)
		status = slice_read(&slice, reader, track, options->snapshot, options->length);
	if (status == 0)
		status = write_slice(reader, &slice, options->common.output);
	slice_free(&slice);
	return status;
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	struct slice_options *options = (struct slice_options *)common;
	struct tw_walk walk = {.common = common, .context = options, .read = read_slice};
	if (!common->output || strcmp(common->output, "-") == 0)
		return tw_say_usage(&tw_command_slice, "where to? -o FILE");
	if (!options->length)
		return tw_say_usage(&tw_command_slice, "how many instructions? --length N");
	return tw_walk(&walk, operands, count);
}

#define MEMBER(name) .offset = offsetof(struct slice_options, name)
static const struct tw_option own_options[] = {
    {"snapshot", 0, TW_OPTION_COUNT, MEMBER(snapshot), .placeholder = "K",
     .help = "begin at snapshot number K of the thread, from 0, the default, on"},
    {"length", 0, TW_OPTION_COUNT, MEMBER(length), .placeholder = "N", .least = 1, .most = UINT32_MAX - 1,
     .help = "so many instructions"},
    {"thread", 't', TW_OPTION_NUMBERS, MEMBER(common.threads), .placeholder = "ID",
     .help = "of this thread; needed where there are several"},
    {"output", 'o', TW_OPTION_FILE, MEMBER(common.output), .placeholder = "FILE",
     .help = "the program that is written"},
};
static const struct tw_option_group own_group = {"Slice", own_options, sizeof own_options / sizeof *own_options};
static const struct tw_option_group *const groups[] = {&own_group, &tw_plain_input_options, &tw_help_options, NULL};

const struct tw_command tw_command_slice = {
    .name = "slice",
    .summary = "an interval of an xtrace as a program that runs by itself",
    .operands = "DIR",
    .description =
	"Writes a static AArch64 program that begins with the registers of a snapshot and the memory that the interval reads, "
	"executes its instructions and ends. It makes no system calls but for its own memory: what they returned and wrote is "
	"done from the trace.\n\n"
	"Where something happens that the instructions do not do (a system call, a system register, another thread's store, "
	"the end), a branch stands instead of the instruction, to a stub that does it. HINT #9 is executed where the interval begins "
	"and ends, so that \"trackway record --from-hint\" collects it again.",
    .examples = "trackway slice --snapshot 3 --length 100000 trace -o slice.elf\tFrom the fourth snapshot on.\n"
		"trackway record --from-hint -o again -- ./slice.elf\tIts own trace.\n",
    .groups = groups,
    .size = sizeof(struct slice_options),
    .least = 1,
    .most = 1,
    .run = run,
};
