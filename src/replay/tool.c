/* tool.c - the instructions of a file executed again, by several threads, for the command line tool. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/tool.h"

#include "base/threads/parallel.h"
#include "replay/emulator.h"
#include "replay/file.h"
#include "xtrace/format/disassemble.h"
#include "xtrace/xtrace.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

const char *replay_load(void)
{
	return replay_emulator_load();
}

const char *replay_take_layout(struct replay_request *request, const char *text)
{
	bool wrong = text && tw_xtrace_layout_parse(text, &request->layout, &request->known) < 0;
	return wrong ? xtrace_layout_wanted : NULL;
}

/* ---- Files. ---- */

static int is_data(const struct dirent *entry)
{
	struct tw_xtrace_name name;
	return xtrace_name_of(entry->d_name, &name) && !name.snapshots;
}

int replay_list(const char *directory, char ***files)
{
	struct dirent **entries;
	int count = scandir(directory, &entries, is_data, alphasort);
	if (count < 0)
		return -1;
	*files = calloc((size_t)count + 1, sizeof **files);
	for (int i = 0; i < count; i++) {
		if (*files && asprintf(&(*files)[i], "%s/%s", directory, entries[i]->d_name) < 0)
			(*files)[i] = NULL;
		free(entries[i]);
	}
	free(entries);
	return *files ? count : -1;
}

/* ---- Executing. ---- */

/* A file that several threads execute, each taking the next part. */
struct executed_file {
	const struct replay_file *file;
	_Atomic size_t next;
	pthread_mutex_t lock; /* for what is below */
	struct replay_summary *summary;
};

static void note(struct executed_file *executed, size_t part, const struct replay_result *result)
{
	struct replay_summary *summary = executed->summary;
	pthread_mutex_lock(&executed->lock);
	summary->instructions += result->instructions;
	bool returned = result->end == REPLAY_RETURNED, kernel = result->end == REPLAY_KERNEL;
	bool scalable = result->end == REPLAY_SCALABLE;
	bool fine = returned || kernel || scalable || result->end == REPLAY_SAME;
	summary->returned += returned;
	summary->kernel += kernel;
	summary->scalable += scalable;
	summary->left_out += scalable ? result->left_out : 0;
	summary->no_memory = summary->no_memory || result->end == REPLAY_NO_MEMORY;
	summary->different += !fine;
	if (!fine && part < summary->first) {
		summary->first = part;
		summary->result = *result;
	}
	pthread_mutex_unlock(&executed->lock);
}

static void execute_parts(void *context, unsigned thread)
{
	struct executed_file *executed = context;
	const size_t wanted = executed->summary->snapshots;
	(void)thread;
	for (size_t i; (i = atomic_fetch_add(&executed->next, 1)) < wanted;) {
		size_t number = i * executed->file->count / wanted;
		struct tw_xtrace_snapshot start;
		struct replay_part part;
		struct replay_result result = {.end = REPLAY_IMPOSSIBLE};
		const char *wrong = replay_file_part(executed->file, number, &part, &start);
		if (wrong)
			snprintf(result.what, sizeof result.what, "%s", wrong);
		else
			replay_run(&part, &result);
		note(executed, number, &result);
	}
}

static atomic_bool running;

bool replay_is_running(void)
{
	return atomic_load(&running);
}

const char *replay_file_run(const char *path, const struct replay_request *request, struct replay_summary *summary)
{
	struct replay_file file;
	struct executed_file executed = {.file = &file, .summary = summary};
	unsigned jobs = request->jobs ? request->jobs : tw_processors();
	const char *wrong =
	    replay_file_open(&file, path, request->temporary_directory, &request->layout, request->known);
	if (!wrong) {
		bool some = request->snapshots && request->snapshots < file.count;
		*summary =
		    (struct replay_summary){.snapshots = some ? request->snapshots : file.count, .first = SIZE_MAX};
		pthread_mutex_init(&executed.lock, NULL);
		atomic_store(&running, true);
		tw_parallel(summary->snapshots < jobs ? (unsigned)summary->snapshots : jobs, execute_parts, &executed);
		atomic_store(&running, false);
		pthread_mutex_destroy(&executed.lock);
	}
	replay_file_close(&file);
	return wrong;
}

void replay_disassemble(const struct replay_result *result, char text[static REPLAY_TEXT + 1])
{
	_Static_assert((int)REPLAY_TEXT >= (int)XTRACE_TEXT, "room for any instruction");
	struct xtrace_disassembler *disassembler = xtrace_disassembler_new();
	size_t length = 0;
	if (disassembler)
		length = xtrace_disassemble(disassembler, result->opcode, result->pc, text);
	text[length] = '\0';
	xtrace_disassembler_free(disassembler);
}
