/* record.c - trackway record: runs a program and writes its trace. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "cli/command.h"
#include "cli/instructions/record_qemu.h"
#include "cli/options/options.h"
#include "cli/output/message.h"
#include "cli/output/show.h"
#include "collect/flush.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct record_options {
	struct tw_common common;
	const char *to, *directory, *cpu, *sysroot, *qemu, *plugin;
	uint64_t interval;
	bool from_hint;
};

enum { INTERVAL = 1000000 };

static const char default_cpu[] = "neoverse-n1";

static const char *const to_words[] = {"xtrace", NULL};

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

/* Its loads and stores reach plugins since QEMU 8.1. */
static int refuse_scalable(const struct tw_qemu *qemu)
{
	bool told = qemu->major > 8 || (qemu->major == 8 && qemu->minor >= 1);
	const char *why = told ? "which is not recorded" : "whose loads and stores this QEMU does not tell to plugins";
	return tw_say_error("--cpu %s has SVE, %s: append ,sve=off, or leave --cpu out for %s", qemu->cpu, why,
	                    default_cpu);
}

/* QEMU says what is wrong with a program only sometimes. */
static int check_program(const char *path)
{
	uint8_t head[20] = {0};
	FILE *file = fopen(path, "rb");
	if (!file)
		return tw_say_error("%s: %s", path, strerror(errno));
	size_t size = fread(head, 1, sizeof head, file);
	fclose(file);
	bool is_elf = size == sizeof head && memcmp(head, ELFMAG, SELFMAG) == 0;
	if (!is_elf || head[EI_CLASS] != ELFCLASS64 || head[EI_DATA] != ELFDATA2LSB ||
	    tw_load16(head + offsetof(Elf64_Ehdr, e_machine), false) != EM_AARCH64)
		return tw_say_error("%s: is no AArch64 program", path);
	return 0;
}

static int check_options(const struct record_options *options, const struct tw_qemu *qemu)
{
	struct stat what;
	if (has_scalable(qemu->cpu))
		return refuse_scalable(qemu);
	if (mkdir(options->directory, 0777) < 0 && errno != EEXIST)
		return tw_say_error("%s: cannot be made: %s", options->directory, strerror(errno));
	if (stat(options->directory, &what) < 0 || !S_ISDIR(what.st_mode))
		return tw_say_error("%s: is no directory", options->directory);
	if (access(options->directory, W_OK | X_OK) < 0)
		return tw_say_error("%s: cannot be written to: %s", options->directory, strerror(errno));
	return 0;
}

static int fill_board(struct collect_board *board, const struct record_options *options)
{
	struct timespec now;
	if (!realpath(options->directory, board->directory))
		return tw_say_error("%s: %s", options->directory, strerror(errno));
	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(board->timestamp, sizeof board->timestamp, "%lld%03ld", (long long)now.tv_sec, now.tv_nsec / 1000000);
	board->interval = options->interval ? options->interval : INTERVAL;
	board->from_hint = options->from_hint;
	return 0;
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

/* Returns enum tw_exit. */
static int finish(struct collect_board *board, const struct record_options *options, const char *program, int status)
{
	int error = collect_flush(board);
	unsigned streams = atomic_load(&board->streams), unrecorded = atomic_load(&board->unrecorded);
	say_end(program, status);
	if (atomic_load(&board->refused) == COLLECT_NO_REGISTERS)
		return tw_say_error("this QEMU shows neither registers nor memory to its plugins: it is neither 7.2 as "
		                    "Debian has it, nor 9.2 or newer");
	if (error)
		return tw_say_error("%s: %s; the trace ends there, with its last whole token", options->directory,
		                    strerror(error));
	if (!streams && options->from_hint && atomic_load(&board->refused) == COLLECT_BEGAN)
		return tw_say_error("%s: no HINT #9 was executed: nothing was recorded", program);
	if (!streams)
		return tw_say_error("%s: nothing was recorded", program);
	if (unrecorded)
		tw_say("%s not recorded: more than %d at a time", tw_show_plural(unrecorded, "thread").text,
		       COLLECT_SLOTS);
	if (atomic_load(&board->unlisted))
		tw_say("code in more than %d places: the list of mappings has only the first", RANGES_MOST);
	tw_say("%s: %s", options->directory, tw_show_plural(streams, "thread").text);
	return WIFSIGNALED(status) || unrecorded ? TW_EXIT_FINDINGS : TW_EXIT_FINE;
}

static int record(const struct record_options *options, const struct tw_qemu *qemu, char **words, size_t count)
{
	int fd, ended;
	struct collect_board *board = collect_board_make(&fd);
	if (!board)
		return tw_say_error("no shared memory: %s", strerror(errno));
	int status = fill_board(board, options);
	status = status ? status : tw_qemu_run(qemu, fd, words, count, &ended);
	status = status ? status : finish(board, options, words[0], ended);
	collect_board_free(board, fd);
	return status;
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct record_options *options = (const struct record_options *)common;
	struct tw_qemu qemu = {.cpu = options->cpu ? options->cpu : default_cpu, .sysroot = options->sysroot};
	if (!options->directory)
		return tw_say_usage(&tw_command_record, "record wants -o DIR");
	int status = tw_qemu_find(&qemu, options->qemu, options->plugin);
	status = status ? status : check_program(operands[0]);
	status = status ? status : check_options(options, &qemu);
	return status ? status : record(options, &qemu, operands, count);
}

#define MEMBER(name) .offset = offsetof(struct record_options, name)
static const struct tw_option own_options[] = {
    {"to", 0, TW_OPTION_CHOICE, MEMBER(to), .words = to_words,
     .help = "what is recorded: every instruction of an AArch64 program, the default"},
    {"output", 'o', TW_OPTION_FILE, MEMBER(directory), .placeholder = "DIR",
     .help = "the directory for the files, two for each thread; it is made if it is not there"},
    {"snapshot-interval", 0, TW_OPTION_COUNT, MEMBER(interval), .placeholder = "N", .least = 1,
     .help =
         "take a snapshot of all registers every N instructions, at the next beginning of a block; 1000000 otherwise"},
    {"from-hint", 0, TW_OPTION_FLAG, MEMBER(from_hint),
     .help = "begin when a thread executes HINT #9, and end when it does again"},
};
static const struct tw_option qemu_options[] = {
    {"cpu", 0, TW_OPTION_TEXT, MEMBER(cpu), .placeholder = "MODEL",
     .help = "the processor that the program sees, one without SVE; neoverse-n1 otherwise"},
    {"sysroot", 0, TW_OPTION_FILE, MEMBER(sysroot), .placeholder = "DIR",
     .help = "where the program finds its shared libraries, \"/usr/aarch64-linux-gnu\""},
    {"qemu", 0, TW_OPTION_FILE, MEMBER(qemu), .placeholder = "FILE", .help = "qemu-aarch64 of the path otherwise"},
    {"plugin", 0, TW_OPTION_FILE, MEMBER(plugin), .placeholder = "FILE",
     .help = "the plugin for QEMU; the one that came with this tool otherwise"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Recording", own_options), TW_OPTIONS("QEMU", qemu_options));

const struct tw_command tw_command_record = {
    .name = "record",
    .summary = "run a program and write its trace",
    .operands = "PROGRAM [ARGUMENT...]",
    .description =
	"Runs an AArch64 Linux program under qemu-aarch64, and writes every instruction that it executes with what it "
	"loads and stores, as an xtrace: two files for each thread, and for each process that it starts without "
	"another program. Put -- before the program, so that its options are its own. A list beside them, "
	"xtrace.*.maps, tells which program and libraries lay where: with it functions have names wherever the trace "
	"is looked at.\n\n"
	"It sees user mode only. A system call is its arguments, what it returned, and all registers as it returned; "
	"a signal is all registers as its handler begins. When the program is killed, or the disk is full, the files "
	"end with their last whole token. The exit status is 1 when a signal ended the program; the one that it ends "
	"with itself is told where it is not 0. Processes that the program leaves behind are waited for; SIGTERM, "
	"SIGHUP, SIGINT and SIGQUIT are passed on to them.",
    .exit_status =
	"0 when the program was recorded until it ended, with whatever status; 1 when a signal ended it, or when so "
	"many threads ran at a time that some were not recorded (the others were); 2 for wrong use, when nothing was "
	"recorded, or when the output cannot be written.",
    .examples =
	"trackway record -o trace -- ./program input.txt\tThe whole of a run.\n"
	"trackway record --from-hint --snapshot-interval 100000 -o trace -- ./program\tWhat is between two marks.\n",
    .groups = groups,
    .size = sizeof(struct record_options),
    .least = 1,
    .run = run,
};
