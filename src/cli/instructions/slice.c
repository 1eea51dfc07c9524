/* slice.c - trackway slice: an interval of an xtrace as a program of its own. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json.h"
#include "cli/files/walk.h"
#include "cli/output/message.h"
#include "cli/output/screen.h"
#include "slice/tool.h"

#include <inttypes.h>
#include <string.h>

struct slice_options {
	struct tw_common common; /* first */
	struct tw_option_number snapshot;
	uint64_t length;
	bool sync, windows;
};

/* ---- --json: a line for each file. ---- */

/* What is told of slices, and how many windows have none. */
struct slicing {
	struct tw_screen screen;
	uint64_t left_out;
};

/* Nothing of what was cut elsewhere. */
static void put_window(struct tw_json *json, const struct slice_window *window)
{
	if (!window)
		return;
	tw_json_u64(json, "window", window->number);
	tw_json_u64(json, "from", window->from);
	if (!window->has_phase)
		return;
	tw_json_u64(json, "phase", window->phase);
	tw_json_fixed(json, "weight", window->weight, 6);
}

static void put_program(void *slicing, const struct slice_program *program)
{
	struct tw_json json = {.out = &((struct slicing *)slicing)->screen.out};
	tw_json_object(&json, NULL);
	tw_json_text(&json, "program", program->path);
	tw_json_u64(&json, "thread", program->thread);
	tw_json_u64(&json, "snapshot", program->snapshot);
	tw_json_u64(&json, "before", program->before);
	tw_json_u64(&json, "instructions", program->instructions);
	tw_json_u64(&json, "accesses", program->accesses);
	tw_json_u64(&json, "places", program->places);
	tw_json_u64(&json, "pages", program->pages);
	tw_json_u64(&json, "bytes", program->bytes);
	tw_json_text(&json, "stubs", program->stubs);
	put_window(&json, program->window);
	tw_json_object_line_end(&json);
}

static void put_order(void *slicing, const struct slice_order *order)
{
	struct tw_json json = {.out = &((struct slicing *)slicing)->screen.out};
	tw_json_object(&json, NULL);
	tw_json_text(&json, "order", order->path);
	tw_json_u64(&json, "after", order->after);
	tw_json_u64(&json, "until", order->until);
	tw_json_u64(&json, "accesses", order->accesses);
	tw_json_object_line_end(&json);
}

/* ---- The command. ---- */

static void leave_out(void *context, const struct slice_window *window, const char *why)
{
	((struct slicing *)context)->left_out++;
	tw_say("window %" PRIu64 " of thread %" PRIu64 " is left out: %s", window->number, window->thread, why);
}

static int read_slice(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	const struct slice_options *options = (const struct slice_options *)walk->common;
	const struct slice_request request = {
	    .threads = options->common.filter.threads.items,
	    .thread_count = options->common.filter.threads.count,
	    .snapshot = options->snapshot.value,
	    .global = !options->snapshot.given,
	    .instructions = options->length,
	    .on_program = options->common.forms.json ? put_program : NULL,
	    .on_order = options->common.forms.json ? put_order : NULL,
	    .on_left_out = leave_out,
	    .context = walk->context,
	};
	(void)path;
	if (options->windows)
		return slice_make_windows(reader, &request, options->common.output);
	return (options->sync ? slice_make_all : slice_make)(reader, &request, options->common.output);
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct slice_options *options = (const struct slice_options *)common;
	struct slicing slicing = {0};
	struct tw_walk walk = {.common = common, .context = &slicing, .all_threads = true, .read = read_slice};
	if (!common->output || strcmp(common->output, "-") == 0)
		return tw_say_usage(&tw_command_slice, "where to? -o %s",
		                    options->sync || options->windows ? "DIR" : "FILE");
	if (options->windows && (options->sync || options->length || options->snapshot.given))
		return tw_say_usage(&tw_command_slice, "--windows are where and as long as they were recorded");
	if (!options->length && !options->windows)
		return tw_say_usage(&tw_command_slice, "how many instructions? --length N, or --windows");
	int status = tw_screen_open(&slicing.screen, NULL);
	if (status)
		return status;
	status = tw_walk(&walk, operands, count);
	return tw_screen_end(&slicing.screen, status == 0 && slicing.left_out ? TW_EXIT_FINDINGS : status);
}

#define MEMBER(name) .offset = offsetof(struct slice_options, name)
static const struct tw_option own_options[] = {
    {"snapshot", 0, TW_OPTION_NUMBER, MEMBER(snapshot), .placeholder = "K",
     .help =
         "begin at snapshot number K of the thread, from 0, the default, on; with --sync the header tells the default"},
    {"length", 0, TW_OPTION_COUNT, MEMBER(length), .placeholder = "N", .least = 1, .most = UINT32_MAX - 1,
     .help = "so many instructions"},
    {"thread", 't', TW_OPTION_NUMBERS, MEMBER(common.filter.threads), .placeholder = "ID",
     .help = "of this thread; needed where there are several"},
    {"sync", 0, TW_OPTION_FLAG, MEMBER(sync),
     .help =
         "a slice of each other thread as well, cut where the order of memory accesses has the beginning and the end "
         "of this one; -o names a directory"},
    {"windows", 0, TW_OPTION_FLAG, MEMBER(windows),
     .help = "a slice of each window that \"record --windows\" and its like recorded; -o names a directory"},
    {"output", 'o', TW_OPTION_FILE, MEMBER(common.output), .placeholder = "FILE",
     .help =
         "the program that is written; with --sync the directory of programs, ID.elf, and of their order, order.tsv"},
    {"json", 0, TW_OPTION_FLAG, MEMBER(common.forms.json), .help = "tell what was written as JSON Lines"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Slice", own_options), &tw_plain_input_options);

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
	"With --windows there is a program for each window of the list that record has put beside the trace, "
	"WINDOW.ID.elf, and windows.tsv, which has their phases and weights. One with a warm-up begins there, and "
	"executes HINT #9 where the window itself begins.\n\n"
	"Of a core's trace it is the program that is executed at the snapshot: the kernel and other tasks are passed "
	"over, and --length counts its instructions.\n\n"
	"An interval whose memory the trace does not have, as where an access was not recorded, or that a signal comes "
	"into, is refused, with the next snapshot that one may begin at.",
    .examples = "trackway slice --snapshot 3 --length 100000 trace -o slice.elf\tFrom the fourth snapshot on.\n"
		"trackway record --from-hint -o again -- ./slice.elf\tIts own trace.\n"
		"trackway slice --sync --thread 4711 --length 100000 trace -o slices\tWhat all threads do meanwhile.\n"
		"trackway slice --windows trace -o slices\tThe windows of a long program, with their weights.\n",
    .groups = groups,
    .size = sizeof(struct slice_options),
    .least = 1,
    .most = 1,
    .run = run,
};
