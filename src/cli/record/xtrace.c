/* xtrace.c - every instruction of an AArch64 program, run under QEMU. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/message.h"
#include "cli/output/show.h"
#include "cli/record/machine.h"
#include "cli/record/qemu.h"
#include "cli/record/record.h"
#include "cli/record/windows.h"
#include "collect/flush.h"
#include "collect/programs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { INTERVAL = 1000000 };

static const char default_cpu[] = "neoverse-n1";

/* ---- Before. ---- */

/* Models with SVE, which may be switched off. */
static bool has_scalable(const char *cpu)
{
	static const char *const models[] = {"max", "a64fx", "neoverse-v1", "neoverse-n2", "cortex-a710", "host"};
	size_t length = strcspn(cpu, ",");
	if (strstr(cpu, "sve=off"))
		return false;
	for (size_t i = 0; i < sizeof models / sizeof *models; i++)
		if (strlen(models[i]) == length && strncmp(cpu, models[i], length) == 0)
			return true;
	return strstr(cpu, ",sve") != NULL;
}

/* QEMU says what is wrong with a program only sometimes. *words: of a script, with its interpreter. */
static int find_program(const char *sysroot, const char *name, struct program_words *words)
{
	char path[PATH_MAX];
	int status = program_find(sysroot, name, words, path);
	if (status == -ENOMEM)
		return tw_say_error("out of memory");
	const char *of = status && words->count > 1 ? ", which executes it" : "";
	if (status < 0)
		return tw_say_error("%s: %s%s%s%s", name, *of ? path : "", *of ? ": " : "", strerror(-status), of);
	if (status)
		return tw_say_error("%s: %s%sis no AArch64 program%s", name, *of ? path : "", *of ? " " : "",
		                    *of ? of : " (others have calls: --to xray-fdr)");
	if (!words->count)
		return 0;
	free(words->items[0]);
	words->items[0] = strdup(path);
	return words->items[0] ? 0 : tw_say_error("out of memory");
}

static bool is_of_trace(const char *name)
{
	return strncmp(name, "xtrace.", 7) == 0;
}

/* Looks for files of a trace, or removes them. Returns how many there are, or were; a negative number: an errno. */
static int find_trace(const char *directory, bool remove)
{
	DIR *folder = opendir(directory);
	int count = 0;
	if (!folder)
		return -errno;
	for (struct dirent *entry; count >= 0 && (entry = readdir(folder));) {
		if (!is_of_trace(entry->d_name))
			continue;
		count++;
		if (remove && unlinkat(dirfd(folder), entry->d_name, 0) < 0)
			count = -errno;
	}
	closedir(folder);
	return count;
}

/* Two traces in one directory would be taken for one. */
static int refuse_trace(const struct tw_record_options *options)
{
	int found = find_trace(options->output, options->xtrace.force);
	if (found < 0)
		return tw_say_error("%s: %s", options->output, strerror(-found));
	if (found && !options->xtrace.force)
		return tw_say_error("%s: holds a trace: choose another directory, or --force, which removes it",
		                    options->output);
	return 0;
}

static int check_options(const struct tw_record_options *options)
{
	struct stat what;
	bool in_part = options->xtrace.from_hint && !tw_machine_asked(options);
	if (options->xtrace.vectors && (in_part || options->xtrace.interval || tw_windows_wanted(options)))
		return tw_say_error("--bbv takes all of a program, and no snapshots: --interval alone goes with it");
	if (options->xtrace.vector_interval && !options->xtrace.vectors)
		return tw_say_error("--interval is of --bbv");
	if (mkdir(options->output, 0777) < 0 && errno != EEXIST)
		return tw_say_error("%s: cannot be made: %s", options->output, strerror(errno));
	if (stat(options->output, &what) < 0 || !S_ISDIR(what.st_mode))
		return tw_say_error("%s: is no directory", options->output);
	if (access(options->output, W_OK | X_OK) < 0)
		return tw_say_error("%s: cannot be written to: %s", options->output, strerror(errno));
	return refuse_trace(options);
}

static int fill_board(struct collect_board *board, const struct tw_record_options *options, const struct tw_qemu *qemu)
{
	struct timespec now;
	if (!realpath(options->output, board->directory))
		return tw_say_error("%s: %s", options->output, strerror(errno));
	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(board->timestamp, sizeof board->timestamp, "%lld%03ld", (long long)now.tv_sec, now.tv_nsec / 1000000);
	uint64_t interval = options->xtrace.vectors ? options->xtrace.vector_interval : options->xtrace.interval;
	board->options.interval = interval ? interval : INTERVAL;
	board->options.from_hint = options->xtrace.from_hint;
	board->options.vectors = options->xtrace.vectors;
	board->options.compress = options->xtrace.compress != NULL;
	alive_name(board);
	board->options.of_machine = qemu->of_machine;
	board->options.scalable = has_scalable(qemu->cpu);
	int status = tw_windows_fill(&board->windows, options);
	int error = status == 0 && board->windows.count ? regions_begin(board) : 0;
	return error ? tw_say_error("%s: %s", options->output, strerror(error)) : status;
}

/* ---- After. ---- */

static void say_end(const char *program, int status)
{
	if (WIFSIGNALED(status))
		tw_say("%s was ended by signal %d (%s): the trace ends before it", program, WTERMSIG(status),
		       strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		tw_say("%s ended with status %d", program, WEXITSTATUS(status));
}

/* Says which programs were executed in place of others: programs for AArch64 are recorded, others are not. */
static void say_executed(const struct collect_board *board)
{
	for (unsigned i = 0; i < COLLECT_EXECS; i++) {
		const struct collect_exec *exec = &board->execs[i];
		if (atomic_load(&exec->state) == COLLECT_EXEC_BEGUN)
			tw_say("%s was executed in the place of a recorded program: it is not recorded", exec->path);
	}
}

/* Returns enum tw_exit. */
static int finish(struct collect_board *board, const struct tw_record_options *options, const char *program, int status)
{
	const char *unit = board->options.of_machine ? "core" : "thread";
	int error = collect_flush(board);
	unsigned streams = atomic_load(&board->streams), unrecorded = atomic_load(&board->unrecorded);
	say_end(program, status);
	say_executed(board);
	if (atomic_load(&board->refused) == COLLECT_NO_REGISTERS)
		return tw_say_error("this QEMU shows neither registers nor memory to its plugins: it is neither 7.2 as "
		                    "Debian has it, nor 9.2 or newer");
	if (error)
		return tw_say_error("%s: %s; the trace ends there, with its last whole token", options->output,
		                    strerror(error));
	tw_windows_say_missing(&board->windows, board->options.of_machine ? "machine" : "program");
	if (!streams && options->xtrace.from_hint && !board->windows.count &&
	    atomic_load(&board->refused) == COLLECT_BEGAN)
		return tw_say_error("%s: no HINT #9 was executed: nothing was recorded", program);
	if (!streams)
		return tw_say_error("%s: nothing was recorded", program);
	if (unrecorded)
		tw_say("%s not recorded: more than %d at a time", tw_show_plural(unrecorded, unit).text, COLLECT_SLOTS);
	if (atomic_load(&board->matrix))
		tw_say(
		    "%s: instructions of SME were executed: their accesses are not recorded; append ,sme=off to --cpu",
		    program);
	if (atomic_load(&board->resized))
		tw_say("%s changed the length of its vectors: snapshots have the length of each thread's first",
		       program);
	if (atomic_load(&board->unlisted))
		tw_say("code in more than %d places: the list of mappings has only the first", RANGES_MOST);
	tw_say("%s: %s", options->output, tw_show_plural(streams, unit).text);
	return WIFSIGNALED(status) || unrecorded ? TW_EXIT_FINDINGS : TW_EXIT_FINE;
}

static int record(const struct tw_record_options *options, const struct tw_qemu *qemu, char **words, size_t count)
{
	int fd, ended;
	struct collect_board *board = collect_board_make(&fd);
	if (!board)
		return tw_say_error("no shared memory: %s", strerror(errno));
	int status = fill_board(board, options, qemu);
	status = status ? status : tw_qemu_run(qemu, fd, words, count, &ended);
	status = status ? status : finish(board, options, qemu->of_machine ? qemu->program : words[0], ended);
	collect_board_free(board, fd);
	return status;
}

/* A whole machine. */
static int run_machine(const struct tw_record_options *options, char **words, size_t count)
{
	struct tw_qemu qemu = {.cpu = options->xtrace.cpu ? options->xtrace.cpu : default_cpu, .of_machine = true};
	size_t all_count = 0;
	int status = tw_qemu_find(&qemu, options->xtrace.qemu, options->xtrace.plugin);
	char **all = status ? NULL : tw_machine_words(options, words, count, &all_count);
	if (!status && !all)
		return tw_say_error("out of memory");
	const char *own = status ? NULL : tw_machine_cpu(all, all_count);
	qemu.cpu = own ? own : qemu.cpu;
	status = status ? status : check_options(options);
	status = status ? status : record(options, &qemu, all, all_count);
	free((void *)all);
	return status;
}

static int run(const struct tw_record_options *options, char **words, size_t count)
{
	int wrong = tw_machine_check(options, count);
	if (wrong || tw_machine_asked(options))
		return wrong ? wrong : run_machine(options, words, count);
	char root[PATH_MAX]; /* wherever programs go */
	const char *sysroot =
	    options->xtrace.sysroot && realpath(options->xtrace.sysroot, root) ? root : options->xtrace.sysroot;
	struct tw_qemu qemu = {.cpu = options->xtrace.cpu ? options->xtrace.cpu : default_cpu, .sysroot = sysroot};
	int status = tw_qemu_find(&qemu, options->xtrace.qemu, options->xtrace.plugin);
	struct program_words script = {0};
	status = status ? status : find_program(sysroot ? sysroot : getenv("QEMU_LD_PREFIX"), words[0], &script);
	for (size_t i = 1; !status && script.count && i < count; i++)
		status = program_words_add(&script, script.count, words[i]) ? 0 : tw_say_error("out of memory");
	status = status ? status : check_options(options);
	if (!status)
		status = script.count ? record(options, &qemu, script.items, script.count)
		                      : record(options, &qemu, words, count);
	program_words_free(&script);
	return status;
}

static const char *const compressions[] = {"zstd", NULL};

static const struct tw_option own_options[] = {
    {"force", 0, TW_OPTION_FLAG, TW_RECORD_MEMBER(xtrace.force),
     .help = "remove a trace that is in the directory already"},
    {"snapshot-interval", 0, TW_OPTION_COUNT, TW_RECORD_MEMBER(xtrace.interval), .placeholder = "N", .least = 1,
     .help =
         "take a snapshot of all registers every N instructions, at the next beginning of a block; 1000000 otherwise"},
    {"from-hint", 0, TW_OPTION_FLAG, TW_RECORD_MEMBER(xtrace.from_hint),
     .help =
         "begin when a thread executes HINT #9, and end when it does again; of a machine all cores do, when any one "
         "executes it, until then it runs at its own speed, and windows and --bbv count from there"},
    {"length", 0, TW_OPTION_COUNT, TW_RECORD_MEMBER(xtrace.windows.length), .placeholder = "N", .least = 1,
     .help = "record so many instructions of each thread only, from the next beginning of a block on, of a machine: of "
             "the main core, and all others meanwhile; with --windows of SimPoint's file: of an interval, 1000000 "
             "otherwise"},
    {"skip", 0, TW_OPTION_COUNT, TW_RECORD_MEMBER(xtrace.windows.skip), .placeholder = "N",
     .help = "of --length: behind the first N instructions of each thread"},
    {"every", 0, TW_OPTION_COUNT, TW_RECORD_MEMBER(xtrace.windows.every), .placeholder = "N", .least = 1,
     .help = "of --length: and so again after every N instructions"},
    {"window", 0, TW_OPTION_LIST, TW_RECORD_MEMBER(xtrace.windows.list), .placeholder = "FROM:LENGTH",
     .help = "record these instructions of each thread only; may be repeated"},
    {"windows", 0, TW_OPTION_FILE, TW_RECORD_MEMBER(xtrace.windows.file), .placeholder = "FILE",
     .help = "record the windows of a file, as phases --save writes it: PREFIX.windows, lines of FROM LENGTH [PHASE "
             "WEIGHT [THREAD]]; or PREFIX.simpoints, with PREFIX.weights beside it"},
    {"warm-up", 0, TW_OPTION_COUNT, TW_RECORD_MEMBER(xtrace.windows.warm_up), .placeholder = "N",
     .help = "record N instructions before each window, too"},
    {"bbv", 0, TW_OPTION_FLAG, TW_RECORD_MEMBER(xtrace.vectors),
     .help =
         "write basic block vectors alone, for phases: a file for each thread or core, xtrace.*.bb, as SimPoint reads "
         "it, at a small multiple of QEMU's own time"},
    {"interval", 0, TW_OPTION_COUNT, TW_RECORD_MEMBER(xtrace.vector_interval), .placeholder = "N", .least = 1,
     .most = UINT32_MAX, .help = "of --bbv: a vector every N instructions; 1000000 otherwise"},
    {"system", 0, TW_OPTION_FLAG, TW_RECORD_MEMBER(xtrace.system),
     .help =
         "a whole machine with its kernel, by qemu-system-aarch64, whose options stand in the place of PROGRAM: two "
         "files for each core"},
    {"kernel", 0, TW_OPTION_FILE, TW_RECORD_MEMBER(xtrace.kernel), .placeholder = "IMAGE",
     .help =
         "the same of a machine that boots this Linux kernel for arm64: QEMU's virt, with a console on standard output "
         "and a clock that goes by instructions; options of QEMU may follow"},
    {"initrd", 0, TW_OPTION_FILE, TW_RECORD_MEMBER(xtrace.initrd), .placeholder = "FILE",
     .help = "with --kernel: the files that it begins with"},
    {"smp", 0, TW_OPTION_COUNT, TW_RECORD_MEMBER(xtrace.smp), .placeholder = "N", .least = 1,
     .help = "with --kernel: how many cores the machine has; 1 otherwise"},
    {"compress", 0, TW_OPTION_CHOICE, TW_RECORD_MEMBER(xtrace.compress), .words = compressions,
     .help = "compress the files of instructions as they are written; all commands read them"},
    {"cpu", 0, TW_OPTION_TEXT, TW_RECORD_MEMBER(xtrace.cpu), .placeholder = "MODEL",
     .help = "the processor that the program or machine sees, neoverse-n1 otherwise; max,sve-max-vq=2 has SVE with "
             "vectors of 256 bits"},
    {"sysroot", 0, TW_OPTION_FILE, TW_RECORD_MEMBER(xtrace.sysroot), .placeholder = "DIR",
     .help = "where the program finds its shared libraries and what it executes, \"/usr/aarch64-linux-gnu\""},
    {"qemu", 0, TW_OPTION_FILE, TW_RECORD_MEMBER(xtrace.qemu), .placeholder = "FILE",
     .help = "qemu-aarch64 of the path otherwise; for a machine qemu-system-aarch64"},
    {"plugin", 0, TW_OPTION_FILE, TW_RECORD_MEMBER(xtrace.plugin), .placeholder = "FILE",
     .help = "the plugin for QEMU; the one that came with this tool otherwise"},
};
const struct tw_option_group tw_record_xtrace_options = {"Instructions (xtrace)", own_options,
                                                         sizeof own_options / sizeof *own_options};
const struct tw_recorder tw_record_xtrace = {
    .format = "xtrace",
    .into_folder = true,
    .is_whole = tw_machine_asked,
    .group = &tw_record_xtrace_options,
    .run = run,
};
