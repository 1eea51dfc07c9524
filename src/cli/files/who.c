/* who.c - the threads that --thread and --process choose, by number and by name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/files/who.h"

#include "base/memory/memory.h"
#include "cli/command.h"
#include "cli/files/spooled_stdin.h"
#include "cli/output/message.h"
#include "cli/output/show.h"
#include "core/tool.h"

#include <fnmatch.h>
#include <stdlib.h>

/* What has no name is called by its number. */
static bool is_chosen(const struct tw_numbers *who, uint64_t number, const struct tw_name *name)
{
	for (size_t i = 0; i < who->count; i++)
		if (who->items[i] == number)
			return true;
	const struct tw_shown shown = tw_show_task(number);
	for (size_t i = 0; i < who->names.count; i++)
		if (fnmatch(who->names.items[i], name->length ? name->text : shown.text, 0) == 0)
			return true;
	return !tw_chooses(who);
}

static bool add(struct tw_who *who, uint64_t process, uint64_t thread)
{
	if (!tw_grow(&who->threads, &who->thread_room, who->count + 1, sizeof *who->threads) ||
	    !tw_grow(&who->processes, &who->process_room, who->count + 1, sizeof *who->processes))
		return false;
	who->threads[who->count] = thread;
	who->processes[who->count++] = process;
	return true;
}

/* Adds a track that is chosen: a thread, or where whole processes are, a process with what it has of no thread. */
static bool add_track(struct tw_who *who, const struct tw_common *common, const struct tw_dictionary *dictionary,
                      const struct tw_track *track)
{
	const struct tw_name *process = tw_dictionary_process_name(dictionary, track->process);
	if (track->kind == TW_TRACK_OTHER || track->kind == TW_TRACK_CPU ||
	    !is_chosen(&common->filter.processes, track->process, process))
		return true;
	if (track->kind == TW_TRACK_PROCESS)
		return tw_chooses(&common->filter.threads) || add(who, track->process, TW_ANY_THREAD);
	return !is_chosen(&common->filter.threads, track->thread, tw_dictionary_name(dictionary, track->name)) ||
	       add(who, track->process, track->thread);
}

static bool add_all(struct tw_who *who, const struct tw_common *common, const struct tw_dictionary *dictionary)
{
	bool fine = true;
	for (uint32_t i = 1; i < tw_dictionary_tracks(dictionary) && fine; i++)
		fine = add_track(who, common, dictionary, tw_dictionary_track(dictionary, i));
	return fine;
}

/* Reads to the end: names may come last. */
static int look(struct tw_who *who, const struct tw_common *common, const char *path, bool among,
                const struct tw_read_options *options)
{
	const struct tw_read_options plain = {
	    .format = options->format,
	    .xtrace = options->xtrace,
	    .order = TW_ORDER_FILE,
	    .memory_limit = options->memory_limit,
	    .temporary_directory = options->temporary_directory,
	    .jobs = options->jobs,
	};
	struct tw_reader *reader;
	struct tw_batch batch;
	int status = tw_open(&reader, path, &plain);
	if (among && tw_may_leave_out(path, status)) {
		tw_close(reader);
		return 0;
	}
	while (status >= 0 && (status = tw_read(reader, &batch)) > 0)
		;
	if (status < 0)
		status = tw_say_error("%s", reader ? tw_reader_error(reader) : "out of memory");
	else if (!add_all(who, common, tw_reader_dictionary(reader)))
		status = tw_say_error("out of memory");
	tw_close(reader);
	return status;
}

int tw_who_choose(struct tw_who *who, const struct tw_common *common, char *path, bool among,
                  struct tw_read_options *options)
{
	int status = 0;
	if (!tw_chooses(&common->filter.processes) && !common->filter.threads.names.count)
		return 0;
	if (tw_reads_stdin(&path, 1))
		status = tw_spool_stdin(&path, 1);
	status = status ? status : look(who, common, path, among, options);
	tw_rewind_stdin(path);
	/* No thread fits: an empty list would mean all threads. A thread that cannot exist stands in it. */
	if (status == 0 && who->count == 0 && !add(who, TW_ANY_PROCESS - 1, TW_ANY_THREAD - 1))
		status = tw_say_error("out of memory");
	options->threads = who->threads;
	options->thread_processes = who->processes;
	options->thread_count = who->count;
	return status;
}

void tw_who_free(struct tw_who *who)
{
	free(who->threads);
	free(who->processes);
	*who = (struct tw_who){0};
}
