/* options.c - the options that commands share. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/options.h"

#include "base/threads/parallel.h"
#include "cli/command.h"

#include <trackway/reader.h>

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define MEMBER(name) .offset = offsetof(struct tw_common, name)

static const struct tw_option help_options[] = {
    {"help", 'h', TW_OPTION_FLAG, MEMBER(help), .help = "show this help"},
};

static const struct tw_option input_options[] = {
    {"from", 0, TW_OPTION_CHOICE, MEMBER(from), .choice = tw_format_name,
     .help = "the format of the input; otherwise it is found from the bytes"},
    {"memory", 0, TW_OPTION_SIZE, MEMBER(limits.memory), .placeholder = "SIZE", .least = 1 << 16,
     .help = "the most memory that tables may take, \"64M\"; 256M otherwise"},
    {"reorder-window", 0, TW_OPTION_SIZE, MEMBER(limits.reorder_window), .placeholder = "SIZE", .least = 1,
     .help = "by how many bytes of the file records may come late and still be put in order of time, \"16M\"; 4M "
             "otherwise. Whole pieces of 256K are held, so records that are less late are in order anyhow. For formats "
             "whose records are in no order; what is later still goes through a temporary file"},
    {"frequency", 0, TW_OPTION_HERTZ, MEMBER(frequency), .placeholder = "HZ", .least = 1, .most = 1000000000000,
     .help = "how many ticks of the clock are a second, instead of what an XRay log tells, which is often not the "
             "real one; a log of the mode xray-profiling tells none. \"2.1GHz\", or a number alone"},
    {"event", 0, TW_OPTION_NAMED, MEMBER(events), .placeholder = "N=NAME", .most = UINT16_MAX,
     .help =
         "what typed events of type N are called in an XRay log, which mostly tells their types by numbers alone. May "
         "be repeated"},
    {"pdb", 0, TW_OPTION_TEXT, MEMBER(pdb_folder), .placeholder = "FOLDER",
     .help = "where the portable PDBs of .NET assemblies are, or Mono's .mdb, for the source lines of a TraceLog; "
             "otherwise they are looked for beside the assemblies that it names, and in them"},
    {"xtrace-layout", 0, TW_OPTION_TEXT, MEMBER(xtrace.layout), .placeholder = "LAYOUT",
     .help = "how the files of an xtrace are laid out, where that is not found from them: "
             "\"header=24,za=yes,bits=128,index=offset,start=0\", or some of these"},
    {"binary", 'b', TW_OPTION_FILES, MEMBER(names.binaries), .placeholder = "[N=]FILE",
     .help =
         "the program that was traced, for the names of functions; their source files and lines are in --json, dump "
         "and Chrome output. Of an XRay log also its map in YAML, as `llvm-xray extract` writes it. May be repeated: "
         "the next is shared object 1, whose functions are \"#1:12\" otherwise, or has the number that is told"},
    {"no-demangle", 0, TW_OPTION_FLAG, MEMBER(names.no_demangle),
     .help = "show functions as the symbol table has them, \"_ZN1a1bEv\", not as C++, Rust or D write them"},
    {"load-address", 0, TW_OPTION_NUMBER, MEMBER(names.load_address), .placeholder = "ADDRESS",
     .help = "where the program of --binary was loaded, \"0x5500000000\", for xtraces of programs that can be loaded "
             "anywhere"},
    {"maps", 0, TW_OPTION_FILE, MEMBER(names.maps), .placeholder = "FILE",
     .help = "which programs and libraries were loaded where, as /proc/PID/maps has it, for the names of functions in "
             "xtraces; the list that `record` put beside the trace otherwise"},
    {"kallsyms", 0, TW_OPTION_FILE, MEMBER(names.kallsyms), .placeholder = "FILE",
     .help = "the functions of the kernel by address, as /proc/kallsyms or System.map has them, for their names in "
             "xtraces; root's copy of /proc/kallsyms, as others see no addresses there"},
};
/* The last: about the names of functions; and those that are about xtraces. */
enum { NAMES_OPTIONS = 5, XTRACE_OPTIONS = 6 };

static const char *weight_word(size_t i)
{
	return i + 1 < TW_WEIGHTS ? tw_weight_name((enum tw_weight)(i + 1)) : NULL;
}

static const struct tw_option weight_options[] = {
    {"weight", 'w', TW_OPTION_CHOICE, MEMBER(weight), .choice = weight_word,
     .help =
         "what is counted: the time of calls, or how many there are (count: stacks, flame, diff --flame and folded "
         "stacks); or, of traces with samples, these, the processor time or the wall "
         "time that they stand for, or the bytes or objects allocated. Otherwise samples where there are some (wall "
         "time where none has ticks), else calls. Of folded stacks it tells what their counts are"},
    {"fold-async", 0, TW_OPTION_FLAG, MEMBER(fold_async),
     .help = "MoveNext of what a compiler (C#, Visual Basic, F#) made of an async method, \"App.<Run>d__3::MoveNext\", "
             "counts as the method, \"App::Run\" (tracelog)"},
};

static const struct tw_option jobs_options[] = {
    {"jobs", 'j', TW_OPTION_COUNT, MEMBER(limits.jobs), .placeholder = "N", .most = TW_JOBS_MAX,
     .help = "how many processors to use, at most 256; 0, the default, takes all. The result is the same"},
};

static const struct tw_option filter_options[] = {
    {"thread", 't', TW_OPTION_WHO, MEMBER(filter.threads), .placeholder = "WHO[,WHO...]", .filters = true,
     .help =
         "only these threads, by number, name or glob, \"12\", \"main\", \"pool-*\"; may be repeated. For names the "
         "trace is read once more"},
    {"process", 0, TW_OPTION_WHO, MEMBER(filter.processes), .placeholder = "WHO[,WHO...]", .filters = true,
     .help = "only threads of these processes, told in the same way"},
    {"provider", 0, TW_OPTION_TEXT, MEMBER(filter.provider), .placeholder = "GLOB", .filters = true,
     .help = "only what a provider writes whose name or number matches, \"net*\"; for formats with providers (fxt)"},
    {"from-time", 0, TW_OPTION_DURATION, MEMBER(filter.from_time), .placeholder = "TIME", .filters = true,
     .help = "only what happens at or after this time since the start of the trace, \"1.5ms\"; without a unit, ns"},
    {"to-time", 0, TW_OPTION_DURATION, MEMBER(filter.to_time), .placeholder = "TIME", .least = 1, .filters = true,
     .help = "only what happens before this time"},
    {"function", 'f', TW_OPTION_TEXT, MEMBER(filter.function), .placeholder = "GLOB", .filters = true,
     .help =
         "only functions and events whose name matches, \"parse_*\", and samples with such a function in their stack"},
    {"category", 0, TW_OPTION_TEXT, MEMBER(filter.category), .placeholder = "GLOB", .filters = true,
     .help = "only events and samples whose category matches, \"net*\"; calls of other categories count as not there"},
    {"min-duration", 0, TW_OPTION_DURATION, MEMBER(filter.min_duration), .placeholder = "TIME", .filters = true,
     .help = "leave out calls that are shorter; those that are open at the end stay"},
};

/* Those that are about all events, not just slices: the first. */
enum { WINDOW_OPTIONS = 5 };

static const struct tw_option output_options[] = {
    {"output", 'o', TW_OPTION_FILE, MEMBER(output), .placeholder = "FILE",
     .help = "write to FILE; it appears when it is complete. .json, .csv, .md and the like tell the form, and .gz or "
             ".zst behind them the compression. - is standard output, the default"},
    {"json", 0, TW_OPTION_FLAG, MEMBER(forms.json), .help = "write JSON Lines: an object a line, with stable names"},
    {"csv", 0, TW_OPTION_FLAG, MEMBER(forms.csv),
     .help = "write comma-separated values (RFC 4180): the columns are the names of --json"},
    {"csv-safe", 0, TW_OPTION_FLAG, MEMBER(forms.csv_safe),
     .help = "CSV for a spreadsheet: a text that begins with =, +, - or @ has an apostrophe in front"},
    {"markdown", 0, TW_OPTION_FLAG, MEMBER(forms.markdown), .help = "write tables in Markdown"},
};

#define GROUP(title, table)                                                                                            \
	{                                                                                                              \
		title, table, sizeof(table) / sizeof *(table)                                                          \
	}
const struct tw_option_group tw_help_options = GROUP("Help", help_options);
const struct tw_option_group tw_input_options = GROUP("Input", input_options);
const struct tw_option_group tw_plain_input_options = {"Input", input_options,
                                                       sizeof input_options / sizeof *input_options - NAMES_OPTIONS};
const struct tw_option_group tw_xtrace_options = {
    "Input", input_options + sizeof input_options / sizeof *input_options - XTRACE_OPTIONS, XTRACE_OPTIONS};
const struct tw_option_group tw_weight_options = GROUP("Weight", weight_options);
const struct tw_option_group tw_jobs_options = GROUP("Work", jobs_options);
const struct tw_option_group tw_filter_options = GROUP("Filters", filter_options);
const struct tw_option_group tw_window_options = {"Filters", filter_options, WINDOW_OPTIONS};
const struct tw_option_group tw_output_options = GROUP("Output", output_options);

const struct tw_option *tw_option_at(const struct tw_command *command, size_t i)
{
	for (const struct tw_option_group *const *group = command->groups; *group; group++) {
		if (i < (*group)->count)
			return &(*group)->options[i];
		i -= (*group)->count;
	}
	return NULL;
}

bool tw_option_is_of(const struct tw_option *option, const struct tw_option_group *group)
{
	for (size_t i = 0; i < group->count; i++)
		if (&group->options[i] == option)
			return true;
	return false;
}

const char *tw_option_word(const struct tw_option *option, size_t i)
{
	return option->words ? option->words[i] : option->choice(i);
}

size_t tw_word_place(const char *const *words, const char *word)
{
	size_t i = 0;
	while (word && strcmp(words[i], word) != 0)
		i++;
	return i;
}

bool tw_function_wanted(const struct tw_common *common, const char *name)
{
	return !common->filter.function || (name && fnmatch(common->filter.function, name, 0) == 0);
}

bool tw_chooses(const struct tw_numbers *who)
{
	return who->count || who->names.count;
}

bool tw_has_filters(const struct tw_common *common)
{
	return tw_chooses(&common->filter.threads) || tw_chooses(&common->filter.processes) ||
	       common->filter.provider || common->filter.function || common->filter.category ||
	       common->filter.from_time || common->filter.to_time || common->filter.min_duration;
}

enum tw_weight tw_weight_asked(const struct tw_common *common)
{
	size_t i = 0;
	while (common->weight && strcmp(common->weight, weight_word(i)) != 0)
		i++;
	return common->weight ? (enum tw_weight)(i + 1) : TW_WEIGHT_DEFAULT;
}

unsigned tw_jobs(const struct tw_common *common)
{
	return (unsigned)common->limits.jobs;
}

size_t tw_memory_asked(const struct tw_common *common)
{
	enum { DEFAULT_MEMORY = 256 << 20 }; /* struct tw_read_options */
	return common->limits.memory ? (size_t)common->limits.memory : DEFAULT_MEMORY;
}

const char *tw_temporary_folder(void)
{
	const char *folder = getenv("TMPDIR");
	return folder && *folder ? folder : NULL;
}

static void free_numbers(struct tw_numbers *numbers)
{
	for (size_t i = 0; i < numbers->names.count; i++)
		free((void *)(uintptr_t)numbers->names.items[i]);
	free(numbers->names.items);
	free(numbers->items);
}

void tw_options_free(const struct tw_command *command, struct tw_common *values)
{
	const struct tw_option *option;
	for (size_t i = 0; (option = tw_option_at(command, i)); i++) {
		void *member = (char *)values + option->offset;
		if (option->kind == TW_OPTION_NUMBERS || option->kind == TW_OPTION_WHO)
			free_numbers(member);
		else if (option->kind == TW_OPTION_LIST || option->kind == TW_OPTION_FILES)
			free(((struct tw_list *)member)->items);
		else if (option->kind == TW_OPTION_NAMED)
			free(((struct tw_named *)member)->items);
	}
	free(values->typed.items);
	free(values);
}
