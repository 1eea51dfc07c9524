/* record.c - trackway record: runs a program and writes its trace, by the recorder that --to names. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/record/record.h"

#include "cli/output/message.h"

#include <string.h>
#include <sys/stat.h>

static const struct tw_recorder *const recorders[] = {&tw_record_xtrace, &tw_record_flight, &tw_record_fxt,
                                                      &tw_record_dotnet};
enum { RECORDERS = sizeof recorders / sizeof *recorders };

static const char *format_at(size_t i)
{
	return i < RECORDERS ? recorders[i]->format : NULL;
}

static bool is_given(const struct tw_option *option, const struct tw_record_options *options)
{
	const char *member = (const char *)options + option->offset;
	switch (option->kind) {
	case TW_OPTION_FLAG:
		return *(const bool *)member;
	case TW_OPTION_TEXT:
	case TW_OPTION_FILE:
	case TW_OPTION_CHOICE:
		return *(const char *const *)member != NULL;
	case TW_OPTION_COUNT:
	case TW_OPTION_SIZE:
	case TW_OPTION_DURATION:
	case TW_OPTION_HERTZ:
		return *(const uint64_t *)member != 0;
	case TW_OPTION_NUMBER:
		return ((const struct tw_option_number *)member)->given;
	case TW_OPTION_NUMBERS:
	case TW_OPTION_WHO:
		return tw_chooses((const struct tw_numbers *)member);
	case TW_OPTION_LIST:
	case TW_OPTION_FILES:
		return ((const struct tw_list *)member)->count != 0;
	case TW_OPTION_NAMED:
		return ((const struct tw_named *)member)->count != 0;
	}
	return false;
}

static bool has_option(const struct tw_recorder *recorder, const char *name)
{
	for (size_t i = 0; i < recorder->group->count; i++)
		if (strcmp(recorder->group->options[i].name, name) == 0)
			return true;
	return false;
}

/* An option of another recorder would do nothing. */
static int refuse_foreign(const struct tw_record_options *options, const struct tw_recorder *chosen)
{
	for (size_t i = 0; i < RECORDERS; i++)
		for (size_t k = 0; recorders[i] != chosen && k < recorders[i]->group->count; k++)
			if (is_given(&recorders[i]->group->options[k], options) &&
			    !has_option(chosen, recorders[i]->group->options[k].name))
				return tw_say_usage(&tw_command_record, "--%s is for --to %s, not for %s",
				                    recorders[i]->group->options[k].name, recorders[i]->format,
				                    chosen->format);
	return 0;
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct tw_record_options *options = (const struct tw_record_options *)common;
	const struct tw_recorder *chosen = recorders[0];
	for (size_t i = 0; options->to && i < RECORDERS; i++)
		if (strcmp(recorders[i]->format, options->to) == 0)
			chosen = recorders[i];
	const bool asks = chosen->asks && chosen->asks(options);
	if (asks && (count || options->output))
		return tw_say_usage(&tw_command_record,
		                    "a program that runs is asked without another one, and without -o");
	if (!options->output && !asks)
		return tw_say_usage(&tw_command_record, "record wants -o OUT");
	const bool takes = chosen->takes && chosen->takes(options);
	if (takes && count)
		return tw_say_usage(&tw_command_record, "a program that runs is asked without another one");
	const bool is_whole = chosen->is_whole && chosen->is_whole(options);
	if (count == 0 && !chosen->finds_programs && !asks && !takes && !is_whole)
		return tw_say_usage(&tw_command_record, "record wants PROGRAM [ARGUMENT...]");
	int status = refuse_foreign(options, chosen);
	struct stat there;
	if (status == 0 && options->output && !chosen->into_folder && stat(options->output, &there) == 0 &&
	    S_ISDIR(there.st_mode)) /* before the program has run for nothing */
		return tw_say_error("%s: is a folder: the trace is a file", options->output);
	return status ? status : chosen->run(options, operands, count);
}

static const struct tw_option own_options[] = {
    {"to", 0, TW_OPTION_CHOICE, TW_RECORD_MEMBER(to), .choice = format_at,
     .help =
         "what is recorded: xtrace, every instruction of an AArch64 program, the default; xray-fdr, the calls of a "
         "program that was built for it; fxt, what programs say of themselves by trackway/trace.h; or tracelog, what "
         "a .NET program does"},
    {"output", 'o', TW_OPTION_FILE, TW_RECORD_MEMBER(output), .placeholder = "OUT",
     .help = "the trace: a file, for xtrace a directory, which is made if it is not there"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Recording", own_options), &tw_record_xtrace_options, &tw_record_flight_options,
                     &tw_record_fxt_options, &tw_record_dotnet_options);

const struct tw_command tw_command_record = {
    .name = "record",
    .summary = "run a program and write its trace",
    .operands = "[PROGRAM [ARGUMENT...]]",
    .description =
	"Runs a program and writes its trace. Put -- before the program, so that its options are its own. "
	"SIGTERM, SIGHUP, SIGINT and SIGQUIT are passed on to it, each once: what the terminal sends, or a "
	"kill of the process group, it gets itself. It is waited for, and recorded to its end. With --to xtrace, "
	"xray-fdr and tracelog, "
	"processes that it leaves behind are waited for, too, with --to fxt those that are recorded. A "
	"second signal ends a recording to fxt at once, as --duration, --stop-on and --max-size do: its "
	"programs go on.\n"
	"\n"
	"With --to xtrace, the default, an AArch64 Linux program runs under qemu-aarch64, and every instruction "
	"that it executes is written with what it loads and stores: two files for each thread, and for each "
	"process that it starts. A list beside them, xtrace.*.maps, tells which program "
	"and libraries lay where: with it functions have names wherever the trace is looked at. It sees user "
	"mode only, a machine (--system, --kernel) also its kernel, with two files for each core. A system call is "
	"its arguments, what it returned, and all registers as it returned; a signal "
	"is all registers as its handler begins. When the program is killed, or the disk is full, the files end "
	"with their last whole token. The status that the program ends with itself is told where it is not 0. A "
	"program for AArch64 that is executed in the place of another one, by a shell, env or make, is recorded as a "
	"process of its own; another one is named. Of a script its interpreter is recorded, where that is such a "
	"program; --sysroot is where both are looked for first. Of a "
	"long program --length and what goes with it record windows: outside of them instructions are only counted, "
	"and xtrace.*.windows beside the trace tells where each begins, its phase, its weight and its warm-up. "
	"Which ones stand for the whole is told by phases, from what --bbv writes.\n"
	"\n"
	"With --to xray-fdr a program runs that was built by clang with -fxray-instrument, or by gcc or clang "
	"with -finstrument-functions, or by gcc with -pg -mfentry -minstrument-return, and its calls and those of its "
	"libraries are written, each with its time, thread and processor: a log for each process. Calls that "
	"exceptions and longjmp() end have exits, too. Records are in the log as soon as they are made: it has them "
	"whatever ends the program. While the program runs, the logs are OUT.PID.part, which every command "
	"reads. The log knows the programs, so that functions have names without --binary. LLVM's own runtime is "
	"not needed. SIGRTMIN+7 pauses, SIGRTMIN+8 goes on, as do --pause and --resume, where the program has no "
	"use of its own for these signals; --snapshot writes what the log of a program that runs has at this moment, "
	"with --since only the newest of it. So does SIGRTMIN+9, into OUT's name with PID-snapshot before its ending, "
	"and tw_flight_snapshot() of trackway/flight.h, which a program calls itself. "
	"--attach records a program that runs and has the recorder in it, without a log: linked, or in LD_PRELOAD.\n"
	"\n"
	"With --to fxt programs say themselves what they do, which are linked with libtrackway_trace "
	"(trackway/trace.h): the program, and all that it starts, in one archive in order of time. Without a program "
	"those of the user are recorded that run, and those that come, until Ctrl-C. They write into files in "
	"OUT.parts, which are gone when the archive is complete: whoever is killed, what they have written is there, "
	"and can be read and merged.\n"
	"\n"
	"With --to tracelog a program of .NET Core 3.0 or later runs, or of Mono, or one that hosts their runtime. A "
	"profiler that the runtime is given writes assemblies, classes, functions with each of their bodies, "
	"compilations, collections, CPU times, stacks in turn, and every allocation with its stack: a log for each "
	"process. While the program runs, the logs are OUT.PID.part, which every command reads. A record is in the "
	"log as soon as it is made, whatever ends the program. What is chosen by no option is as the variables of "
	"CoreProfiler say, PROF_LINE_TRACE and the others. SIGRTMIN+7 pauses, SIGRTMIN+8 goes on, as do --pause and "
	"--resume.",
    .exit_status = "With --to xray-fdr, tracelog and fxt that of the program, 128 and the signal's number when a "
		   "signal ended it; with --to fxt 1 where that would be 0 and buffers were full, or a program could "
		   "not be recorded, and where the recording ended before the program 0, or 128 and the signal's "
		   "number when a second signal ended it. With --to xtrace 0 when the program was recorded until it "
		   "ended, with whatever status; 1 when a signal ended it, or when so many threads ran at a time that "
		   "some were not recorded (the others were). 2 for wrong use, when nothing was recorded, or when the "
		   "output cannot be written.",
    .examples =
	"trackway record -o trace -- ./program input.txt\tEvery instruction of a run.\n"
	"trackway record --from-hint --snapshot-interval 100000 -o trace -- ./program\tWhat is between two "
	"marks.\n"
	"trackway record --windows app.simpoints --warm-up 100000 -o trace -- ./program\tThe intervals that "
	"stand for the others.\n"
	"trackway record --from-hint --kernel vmlinuz --initrd files --smp 2 -o out\tA machine with its "
	"kernel, between two marks.\n"
	"trackway record --to xray-fdr -o out.xray -- ./program\tEvery call of a run.\n"
	"trackway record --to xray-fdr --ring 8M -o out.xray -- ./server\tThe last calls of each thread before "
	"it ended.\n"
	"trackway record --to xray-fdr --attach 1234 -o out.xray\tThe calls of a program that runs, until Ctrl-C.\n"
	"trackway record --to xray-fdr --snapshot 1234 --since 2s -o now.xray\tThe last two seconds of a program "
	"that is recorded.\n"
	"trackway record --to fxt -o out.fxt -- ./program\tWhat a program says, and all that it "
	"starts.\n"
	"trackway record --to tracelog -o app.log -- dotnet app.dll\tWhat a .NET program does.\n"
	"trackway record --to tracelog -o app.log -- mono app.exe\tWhat a program of Mono does.\n"
	"trackway record --to fxt -o out.fxt --mode circular --stop-on late --after 5s\tWhat was before an "
	"alert, and 5 s after it.\n",
    .groups = groups,
    .size = sizeof(struct tw_record_options),
    .run = run,
};
