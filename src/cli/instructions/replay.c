/* replay.c - trackway replay: executes a trace's instructions again and compares. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json.h"
#include "cli/command.h"
#include "cli/options/names.h"
#include "cli/options/options.h"
#include "cli/output/message.h"
#include "cli/output/screen.h"
#include "cli/output/show.h"
#include "replay/tool.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct replay_options {
	struct tw_common common;
	uint64_t verify;
};

/* Where instructions are executed, and who names their functions. */
struct replaying {
	const struct replay_options *options;
	const struct tw_namer *namer; /* NULL: functions have no names */
	struct replay_request request;
	struct tw_output *out;
};

/* What came of one file. */
struct outcome {
	const char *path;
	const struct tw_namer *namer;
	struct replay_summary summary;
};

/* Where it gets no memory, unicorn ends the whole program, with the status of a trace that differs. Several threads may
 * do so at once, each of which needs a handler of its own: the system calls each only once. */
enum { ENDS = 64 };

static void refuse_end(void)
{
	if (!replay_is_running())
		return;
	tw_say_error("the emulator unicorn gave up: out of memory");
	_exit(TW_EXIT_FAILED);
}

/* The files are mapped: where one has become shorter, there are no bytes behind its pages. */
static void refuse_shorter(int number)
{
	static const char text[] = "trackway: error: a file of the trace was cut while it was read\n";
	(void)number;
	ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
	(void)written;
	_exit(TW_EXIT_FAILED);
}

/* ---- Telling. ---- */

/* Finds the function of the instruction that differs. */
static bool find_function(const struct outcome *outcome, struct tw_name *name, uint64_t *offset)
{
	const struct tw_namer *namer = outcome->namer;
	struct tw_range range;
	if (!namer || !namer->address(namer->context, outcome->summary.result.pc, name, &range))
		return false;
	*offset = outcome->summary.result.pc - range.start;
	return true;
}

static void put_registers(struct tw_output *out, const struct replay_result *result)
{
	for (unsigned i = 0; i < TW_XTRACE_REGISTERS; i++) {
		char name[8] = "sp";
		if (i < TW_XTRACE_REGISTERS - 1)
			snprintf(name, sizeof name, "x%u", i);
		tw_putf(out, "%s%4s 0x%016" PRIx64 "%s", i % 4 ? "" : "   ", name, result->x[i],
		        i % 4 == 3 ? "\n" : "");
	}
}

static void put_function(struct tw_output *out, const struct outcome *outcome)
{
	struct tw_name name;
	uint64_t offset;
	if (!find_function(outcome, &name, &offset))
		return;
	tw_put_text(out, "  in ");
	tw_put_safe(out, name.text, name.length);
	tw_putf(out, "+0x%" PRIx64, offset);
	if (name.file) {
		tw_put_text(out, " (");
		tw_put_safe(out, name.file, strlen(name.file));
		tw_putf(out, ":%" PRIu32 ")", name.line);
	}
	tw_put_char(out, '\n');
}

static void put_difference(struct tw_output *out, const struct outcome *outcome)
{
	const struct replay_result *result = &outcome->summary.result;
	char text[REPLAY_TEXT + 1];
	replay_disassemble(result, text);
	tw_putf(out, "  at 0x%" PRIx64 ", 0x%" PRIx64 ": %08" PRIx32 "  %s\n", result->offset, result->pc,
	        result->opcode, text);
	put_function(out, outcome);
	tw_putf(out, "  %s: expected %s, found %s\n", result->what, result->expected, result->found);
	put_registers(out, result);
}

static const char *end_text(enum replay_end end)
{
	static const char *const texts[] = {
	    [REPLAY_SAME] = "same",
	    [REPLAY_DIFFERENT] = "different",
	    [REPLAY_DAMAGED] = "damaged",
	    [REPLAY_RETURNED] = "a signal that came before returns",
	    [REPLAY_KERNEL] = "the kernel",
	    [REPLAY_SCALABLE] = "SVE",
	    [REPLAY_IMPOSSIBLE] = "impossible",
	    [REPLAY_NO_MEMORY] = "out of memory",
	};
	return texts[end];
}

static void put_text(struct tw_output *out, const struct outcome *outcome)
{
	const struct replay_summary *summary = &outcome->summary;
	const struct replay_result *result = &summary->result;
	tw_put_safe(out, outcome->path, strlen(outcome->path));
	tw_putf(out, ": %s", tw_show_plural(summary->instructions, "instruction").text);
	tw_putf(out, " from %s", tw_show_plural(summary->snapshots, "snapshot").text);
	if (summary->returned)
		tw_putf(out, " (%" PRIu64 " up to the return of a signal that came before)", summary->returned);
	if (summary->kernel)
		tw_putf(out, " (%" PRIu64 " in the kernel, or up to where it goes to another task)", summary->kernel);
	if (summary->scalable)
		tw_putf(out,
		        " (%" PRIu64 " up to an instruction of SVE, which the emulator does not know: %s left out)",
		        summary->scalable, tw_show_plural(summary->left_out, "instruction").text);
	if (!summary->different) {
		tw_put_text(out, ", no difference\n");
		return;
	}
	tw_putf(out, "; %s %s not end as recorded, the first from snapshot %zu: %s\n",
	        tw_show_count(summary->different).text, summary->different == 1 ? "does" : "do", summary->first,
	        end_text(result->end));
	if (result->end == REPLAY_DIFFERENT)
		put_difference(out, outcome);
	else if (result->end == REPLAY_IMPOSSIBLE)
		tw_putf(out, "  %s\n", result->what);
	else
		tw_putf(out, "  at 0x%" PRIx64 "\n", result->offset);
}

static void put_json_function(struct tw_json *json, const struct outcome *outcome)
{
	struct tw_name name;
	uint64_t offset;
	if (!find_function(outcome, &name, &offset))
		return;
	tw_json_text(json, "function", name.text);
	tw_json_u64(json, "function_offset", offset);
	if (!name.file)
		return;
	tw_json_text(json, "source", name.file);
	tw_json_u64(json, "line", name.line);
}

static void put_json(struct tw_output *out, const struct outcome *outcome)
{
	struct tw_json json = {.out = out};
	const struct replay_summary *summary = &outcome->summary;
	const struct replay_result *result = &summary->result;
	tw_json_object(&json, NULL);
	tw_json_text(&json, "file", outcome->path);
	tw_json_u64(&json, "instructions", summary->instructions);
	tw_json_u64(&json, "snapshots", summary->snapshots);
	tw_json_u64(&json, "different", summary->different);
	tw_json_u64(&json, "returned", summary->returned);
	tw_json_u64(&json, "kernel", summary->kernel);
	tw_json_u64(&json, "scalable", summary->scalable);
	tw_json_u64(&json, "left_out", summary->left_out);
	if (summary->different) {
		tw_json_text(&json, "end", end_text(result->end));
		tw_json_u64(&json, "snapshot", summary->first);
		tw_json_u64(&json, "offset", result->offset);
	}
	if (summary->different && result->end == REPLAY_DIFFERENT) {
		tw_json_u64(&json, "pc", result->pc);
		put_json_function(&json, outcome);
		tw_json_u64(&json, "opcode", result->opcode);
		tw_json_text(&json, "what", result->what);
		tw_json_text(&json, "expected", result->expected);
		tw_json_text(&json, "found", result->found);
	}
	tw_json_object_line_end(&json);
}

/* ---- Files. ---- */

static int replay_file(const struct replaying *replaying, const char *path)
{
	struct outcome outcome = {.path = path, .namer = replaying->namer};
	const char *wrong = replay_file_run(path, &replaying->request, &outcome.summary);
	if (wrong)
		return tw_say_error("%s: %s", path, wrong);
	if (outcome.summary.no_memory)
		return tw_say_error("%s: out of memory", path);
	(replaying->options->common.forms.json ? put_json : put_text)(replaying->out, &outcome);
	return outcome.summary.different ? TW_EXIT_FINDINGS : TW_EXIT_FINE;
}

static int replay_directory(const struct replaying *replaying, const char *path)
{
	char **files = NULL;
	int count = replay_list(path, &files), worst = TW_EXIT_FINE;
	if (count < 0)
		return tw_say_error("%s: %s", path, strerror(errno));
	if (count == 0)
		worst = tw_say_error("%s: has no xtrace.*.xinsndata.bin", path);
	for (int i = 0; i < count; i++) {
		worst = tw_worse(worst,
		                 files[i] ? replay_file(replaying, files[i]) : tw_say_error("%s: out of memory", path));
		free(files[i]);
	}
	free(files);
	return worst;
}

static int replay_all(const struct replaying *replaying, char **paths, size_t count)
{
	int worst = TW_EXIT_FINE;
	for (size_t i = 0; i < count; i++) {
		struct stat what;
		bool is_directory = stat(paths[i], &what) == 0 && S_ISDIR(what.st_mode);
		worst = tw_worse(worst, (is_directory ? replay_directory : replay_file)(replaying, paths[i]));
	}
	return worst;
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct replay_options *options = (const struct replay_options *)common;
	const char *missing = replay_load();
	struct tw_name_sources names = {.addresses = true};
	struct tw_read_options named = {0};
	struct tw_screen screen = {0};
	struct replaying replaying = {
	    .options = options,
	    .out = &screen.out,
	    .request = {.temporary_directory = tw_temporary_folder(),
	                .snapshots = options->verify,
	                .jobs = tw_jobs(common)},
	};
	if (missing)
		return tw_say_error("the emulator unicorn is needed, Debian's package libunicorn2: %s", missing);
	const char *wrong = replay_take_layout(&replaying.request, common->xtrace.layout);
	if (wrong)
		return tw_say_error("%s: %s", common->xtrace.layout, wrong);
	for (unsigned i = 0; i < ENDS; i++)
		atexit(refuse_end);
	signal(SIGBUS, refuse_shorter);
	for (size_t i = 0; i < count; i++)
		tw_names_want(&names, common, operands[i]);
	int status = tw_names_open(&names, common, &named);
	if (status == 0)
		status = tw_screen_open_form(&screen, common);
	replaying.namer = named.namer;
	if (status == 0)
		status = tw_screen_end(&screen, replay_all(&replaying, operands, count));
	tw_names_close(&names);
	return status;
}

static const struct tw_option own_options[] = {
    {"verify", 0, TW_OPTION_COUNT, offsetof(struct replay_options, verify), .placeholder = "N",
     .help = "begin at N snapshots of each file only, evenly chosen; 0, the default, begins at all"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Replay", own_options), &tw_xtrace_options, &tw_jobs_options, &tw_output_options);

const struct tw_command tw_command_replay = {
    .name = "replay",
    .summary = "execute a trace's instructions again, and compare",
    .operands = "DIR...",
    .description =
	"Executes what an xtrace recorded in an emulator, from each snapshot to the next, and compares every PC, the "
	"addresses of loads, the addresses and values of stores, the targets of indirect branches, the arguments of "
	"system calls and NZCV with the trace. Loads get the values that were recorded; so do system registers and "
	"what a system call returns.\n\n"
	"The first difference is shown with its instruction and the registers: expected is what the trace has, found "
	"what executing it gives. A file of a trace stands for itself. "
	"The exit status is 1 when there is a difference.\n\n"
	"From a snapshot inside the handler of a signal it goes up to where the handler returns: the trace does not "
	"tell the vectors and flags that this restores.\n\n"
	"The instructions of a kernel are passed over: programs are executed, each up to where another task goes on. "
	"From a snapshot in the kernel nothing is.\n\n"
	"A program with SVE is executed from each snapshot up to its first instruction of SVE: the emulator does not "
	"know them, and no token tells what they leave in registers. How many are left out is told.",
    .exit_status =
	"0 when all is fine; 1 when there is a difference, or a trace breaks its format's rules with severity error "
	"(the work was done); 2 for wrong use, when nothing can be read, or when the output cannot be written. With "
	"several files the worst counts.",
    .examples = "trackway replay trace\tAll of it.\n"
		"trackway replay --verify 10 trace\tTen samples of each thread.\n",
    .groups = groups,
    TW_FORMS_OF_LINES,
    .size = sizeof(struct replay_options),
    .least = 1,
    .run = run,
};
