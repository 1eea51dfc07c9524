/* replay.c - trackway replay: executes a trace's instructions again and compares. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json.h"
#include "base/threads/parallel.h"
#include "cli/command.h"
#include "cli/options/names.h"
#include "cli/options/options.h"
#include "cli/output/message.h"
#include "cli/output/screen.h"
#include "cli/output/show.h"
#include "replay/emulator.h"
#include "replay/file.h"
#include "xtrace/format/disassemble.h"
#include "xtrace/xtrace.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct replay_options {
	struct tw_common common;
	uint64_t verify;
};

/* The options, the names of functions, and what is known of the layout, which all files share. */
struct job {
	const struct replay_options *options;
	const struct tw_namer *namer;
	struct tw_xtrace_layout layout;
	unsigned known;
};

/* One file that is replayed, by several threads. */
struct work {
	const char *path;
	const struct replay_file *file;
	const struct tw_namer *namer; /* NULL: functions have no names */
	size_t wanted;                /* how many snapshots to begin at, spread evenly over the file */
	_Atomic size_t next;
	pthread_mutex_t lock;
	uint64_t instructions, different;
	bool no_memory;              /* for some part: whether it differs is not known */
	uint64_t returned;           /* how many parts end at the return of a signal that came before they began */
	size_t first;                /* the first part that did not end as recorded; SIZE_MAX: none */
	struct replay_result result; /* of the first */
};

/* ---- Executing. ---- */

static void note(struct work *work, size_t part, const struct replay_result *result)
{
	pthread_mutex_lock(&work->lock);
	work->instructions += result->instructions;
	bool returned = result->end == REPLAY_RETURNED, fine = returned || result->end == REPLAY_SAME;
	work->returned += returned;
	work->no_memory = work->no_memory || result->end == REPLAY_NO_MEMORY;
	work->different += !fine;
	if (!fine && part < work->first) {
		work->first = part;
		work->result = *result;
	}
	pthread_mutex_unlock(&work->lock);
}

static void run_parts(void *context, unsigned job)
{
	struct work *work = context;
	size_t i;
	(void)job;
	while ((i = atomic_fetch_add(&work->next, 1)) < work->wanted) {
		size_t number = i * work->file->count / work->wanted;
		struct tw_xtrace_snapshot start;
		struct replay_part part;
		struct replay_result result = {.end = REPLAY_IMPOSSIBLE};
		const char *wrong = replay_file_part(work->file, number, &part, &start);
		if (wrong)
			snprintf(result.what, sizeof result.what, "%s", wrong);
		else
			replay_run(&part, &result);
		note(work, number, &result);
	}
}

static atomic_bool emulating;

/* Where it gets no memory, unicorn ends the whole program, with the status of a trace that differs. */
static void refuse_end(void)
{
	if (!atomic_load(&emulating))
		return;
	tw_say_error("the emulator unicorn gave up: out of memory");
	_exit(TW_EXIT_FAILED);
}

/* The files are mapped: where one has become shorter, there are no bytes behind its pages. */
static void refuse_shorter(int number)
{
	static const char text[] = "trackway: error: a file of the trace was cut while it was read\n";
	(void)number;
	ssize_t told = write(STDERR_FILENO, text, sizeof text - 1);
	(void)told;
	_exit(TW_EXIT_FAILED);
}

static void emulate(struct work *work, unsigned jobs)
{
	atomic_store(&emulating, true);
	tw_parallel(work->wanted < jobs ? (unsigned)work->wanted : jobs, run_parts, work);
	atomic_store(&emulating, false);
}

/* ---- Telling. ---- */

/* The instruction that differs, as text. */
static void disassemble(const struct replay_result *result, char text[XTRACE_TEXT + 1])
{
	struct xtrace_disassembler *disassembler = xtrace_disassembler_new();
	size_t length = 0;
	if (disassembler)
		length = xtrace_disassemble(disassembler, result->opcode, result->pc, text);
	text[length] = '\0';
	xtrace_disassembler_free(disassembler);
}

/* Finds the function of the instruction that differs. */
static bool find_function(const struct work *work, struct tw_name *name, uint64_t *offset)
{
	const struct tw_namer *namer = work->namer;
	struct tw_range range;
	if (!namer || !namer->address(namer->context, work->result.pc, name, &range))
		return false;
	*offset = work->result.pc - range.start;
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

static void put_function(struct tw_output *out, const struct work *work)
{
	struct tw_name name;
	uint64_t offset;
	if (!find_function(work, &name, &offset))
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

static void put_difference(struct tw_output *out, const struct work *work)
{
	const struct replay_result *result = &work->result;
	char text[XTRACE_TEXT + 1];
	disassemble(result, text);
	tw_putf(out, "  at 0x%" PRIx64 ", 0x%" PRIx64 ": %08" PRIx32 "  %s\n", result->offset, result->pc,
	        result->opcode, text);
	put_function(out, work);
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
	    [REPLAY_CHANGED] = "the program changes its own code",
	    [REPLAY_IMPOSSIBLE] = "impossible",
	    [REPLAY_NO_MEMORY] = "out of memory",
	};
	return texts[end];
}

static void put_text(struct tw_output *out, const struct work *work)
{
	const struct replay_result *result = &work->result;
	tw_put_safe(out, work->path, strlen(work->path));
	tw_putf(out, ": %s", tw_show_plural(work->instructions, "instruction").text);
	tw_putf(out, " from %s", tw_show_plural(work->wanted, "snapshot").text);
	if (work->returned)
		tw_putf(out, " (%" PRIu64 " up to the return of a signal that came before)", work->returned);
	if (!work->different) {
		tw_put_text(out, ", no difference\n");
		return;
	}
	tw_putf(out, "; %s %s not end as recorded, the first from snapshot %zu: %s\n",
	        tw_show_count(work->different).text, work->different == 1 ? "does" : "do", work->first,
	        end_text(result->end));
	if (result->end == REPLAY_DIFFERENT)
		put_difference(out, work);
	else if (result->end == REPLAY_IMPOSSIBLE)
		tw_putf(out, "  %s\n", result->what);
	else
		tw_putf(out, "  at 0x%" PRIx64 "\n", result->offset);
}

static void put_json_function(struct tw_json *json, const struct work *work)
{
	struct tw_name name;
	uint64_t offset;
	if (!find_function(work, &name, &offset))
		return;
	tw_json_text(json, "function", name.text);
	tw_json_u64(json, "function_offset", offset);
	if (!name.file)
		return;
	tw_json_text(json, "source", name.file);
	tw_json_u64(json, "line", name.line);
}

static void put_json(struct tw_output *out, const struct work *work)
{
	struct tw_json json = {.out = out};
	const struct replay_result *result = &work->result;
	tw_json_object(&json, NULL);
	tw_json_text(&json, "file", work->path);
	tw_json_u64(&json, "instructions", work->instructions);
	tw_json_u64(&json, "snapshots", work->wanted);
	tw_json_u64(&json, "different", work->different);
	tw_json_u64(&json, "returned", work->returned);
	if (work->different) {
		tw_json_text(&json, "end", end_text(result->end));
		tw_json_u64(&json, "snapshot", work->first);
		tw_json_u64(&json, "offset", result->offset);
	}
	if (work->different && result->end == REPLAY_DIFFERENT) {
		tw_json_u64(&json, "pc", result->pc);
		put_json_function(&json, work);
		tw_json_u64(&json, "opcode", result->opcode);
		tw_json_text(&json, "what", result->what);
		tw_json_text(&json, "expected", result->expected);
		tw_json_text(&json, "found", result->found);
	}
	tw_json_object_end(&json);
	tw_json_line_end(&json);
}

/* ---- Files. ---- */

static int replay_file(struct tw_output *out, const struct job *job, const char *path)
{
	const struct replay_options *options = job->options;
	struct replay_file file;
	const char *wrong = replay_file_open(&file, path, tw_temporary_folder(), &job->layout, job->known);
	if (wrong) {
		replay_file_close(&file);
		return tw_say_error("%s: %s", path, wrong);
	}
	size_t wanted = options->verify && options->verify < file.count ? (size_t)options->verify : file.count;
	struct work work = {.path = path, .file = &file, .namer = job->namer, .wanted = wanted, .first = SIZE_MAX};
	unsigned jobs = tw_jobs(&options->common) ? tw_jobs(&options->common) : tw_processors();
	pthread_mutex_init(&work.lock, NULL);
	emulate(&work, jobs);
	pthread_mutex_destroy(&work.lock);
	if (!work.no_memory)
		(options->common.json ? put_json : put_text)(out, &work);
	replay_file_close(&file);
	if (work.no_memory)
		return tw_say_error("%s: out of memory", path);
	return work.different ? TW_EXIT_FINDINGS : TW_EXIT_FINE;
}

static int is_data(const struct dirent *entry)
{
	struct tw_xtrace_name name;
	return xtrace_name_of(entry->d_name, &name) && !name.snapshots;
}

static int replay_directory(struct tw_output *out, const struct job *job, const char *path)
{
	struct dirent **entries;
	int count = scandir(path, &entries, is_data, alphasort), worst = TW_EXIT_FINE;
	if (count < 0)
		return tw_say_error("%s: %s", path, strerror(errno));
	if (count == 0)
		worst = tw_say_error("%s: has no xtrace.*.xinsndata.bin", path);
	for (int i = 0; i < count; i++) {
		char file[PATH_MAX];
		snprintf(file, sizeof file, "%s/%s", path, entries[i]->d_name);
		int status = replay_file(out, job, file);
		worst = status > worst ? status : worst;
		free(entries[i]);
	}
	free(entries);
	return worst;
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct replay_options *options = (const struct replay_options *)common;
	const char *missing = replay_emulator_load();
	struct job job = {.options = options};
	if (missing)
		return tw_say_error("the emulator unicorn is needed: %s", missing);
	if (common->xtrace.layout && tw_xtrace_layout_parse(common->xtrace.layout, &job.layout, &job.known) < 0)
		return tw_say_error("%s: %s", common->xtrace.layout, xtrace_layout_wanted);
	atexit(refuse_end);
	signal(SIGBUS, refuse_shorter);
	struct tw_names names = {.addresses = true};
	struct tw_read_options named = {0};
	struct tw_screen screen = {0};
	for (size_t i = 0; i < count; i++)
		tw_names_want(&names, common, operands[i]);
	int worst = tw_names_open(&names, common, &named);
	if (worst == 0)
		worst = tw_screen_open(&screen, common->output);
	if (worst) {
		tw_names_close(&names);
		return worst;
	}
	job.namer = named.namer;
	for (size_t i = 0; i < count; i++) {
		struct stat what;
		bool is_directory = stat(operands[i], &what) == 0 && S_ISDIR(what.st_mode);
		int status = (is_directory ? replay_directory : replay_file)(&screen.out, &job, operands[i]);
		worst = status > worst ? status : worst;
	}
	tw_names_close(&names);
	return tw_screen_end(&screen, worst);
}

static const struct tw_option own_options[] = {
    {"verify", 0, TW_OPTION_COUNT, offsetof(struct replay_options, verify), .placeholder = "N",
     .help = "begin at N snapshots of each file only, evenly chosen; 0, the default, begins at all"},
};
static const struct tw_option_group own_group = {"Replay", own_options, sizeof own_options / sizeof *own_options};
static const struct tw_option_group *const groups[] = {&own_group,         &tw_xtrace_options, &tw_jobs_options,
                                                       &tw_output_options, &tw_help_options,   NULL};

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
	"tell the vectors and flags that this restores.",
    .exit_status =
	"0 when all is fine; 1 when there is a difference, or a trace breaks its format's rules with severity error "
	"(the work was done); 2 for wrong use, when nothing can be read, or when the output cannot be written. With "
	"several files the worst counts.",
    .examples = "trackway replay trace\tAll of it.\n"
		"trackway replay --verify 10 trace\tTen samples of each thread.\n",
    .groups = groups,
    .size = sizeof(struct replay_options),
    .least = 1,
    .run = run,
};
