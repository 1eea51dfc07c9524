/* turns.c - the tracks of a set read side by side, what is found told in their order.
 *
 * Each track is read by a reader of its own. What it finds is told at once when its turn has come, that is, when all
 * before it are done; until then it is kept, and when that gets too much the track waits. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/threads/parallel.h"
#include "xtrace/xtrace.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_MOST = 1 << 10 /* findings of a track that waits */ };

struct kept {
	struct tw_finding finding; /* its texts are the one below, and the file's name behind it */
	char *texts;
};

struct turn {
	struct crew *crew;
	struct kept *kept;
	size_t kept_count, kept_room;
	int status;
	bool done;
	char error[TW_ERROR_TEXT];
};

struct crew {
	struct tw_reader *reader;
	xtrace_take_fn take;
	void *context;
	struct turn *turns;
	size_t count, next; /* tracks; the next to be taken */
	size_t now;         /* whose turn it is */
	bool failed;        /* one whose turn it was: nothing is told of those behind it */
	pthread_mutex_t lock;
	pthread_cond_t moved;
};

/* ---- Findings. ---- */

static void tell_kept(struct turn *turn)
{
	for (size_t i = 0; i < turn->kept_count; i++) {
		tw_report_finding(turn->crew->reader, &turn->kept[i].finding);
		free(turn->kept[i].texts);
	}
	turn->kept_count = 0;
}

static bool keep(struct turn *turn, const struct tw_finding *finding)
{
	size_t text = strlen(finding->text) + 1, file = strlen(finding->file) + 1;
	char *texts = malloc(text + file);
	if (!texts || !tw_grow(&turn->kept, &turn->kept_room, turn->kept_count + 1, sizeof *turn->kept)) {
		free(texts);
		return false;
	}
	memcpy(texts, finding->text, text);
	memcpy(texts + text, finding->file, file);
	struct kept *kept = &turn->kept[turn->kept_count++];
	*kept = (struct kept){*finding, texts};
	kept->finding.text = texts;
	kept->finding.file = texts + text;
	return true;
}

static void take_finding(void *context, const struct tw_finding *finding)
{
	struct turn *turn = context;
	struct crew *crew = turn->crew;
	size_t own = (size_t)(turn - crew->turns);
	pthread_mutex_lock(&crew->lock);
	bool kept = crew->failed || (crew->now != own && turn->kept_count < KEPT_MOST && keep(turn, finding));
	while (!kept && crew->now != own && !crew->failed)
		pthread_cond_wait(&crew->moved, &crew->lock);
	if (!kept && !crew->failed) {
		tell_kept(turn);
		tw_report_finding(crew->reader, finding);
	}
	pthread_mutex_unlock(&crew->lock);
}

/* ---- Turns. ---- */

/* Has the tracks that are done at the front tell what they kept. */
static void move_on(struct crew *crew)
{
	while (!crew->failed && crew->now < crew->count && crew->turns[crew->now].done) {
		struct turn *turn = &crew->turns[crew->now];
		tell_kept(turn);
		crew->failed = turn->status < 0;
		if (crew->failed)
			tw_fail(crew->reader, turn->status, "%s", turn->error);
		else
			crew->now++;
	}
	pthread_cond_broadcast(&crew->moved);
}

/* The reader's own input is of the first track. */
static int take_one(struct turn *turn, size_t i)
{
	const struct tw_reader *reader = turn->crew->reader;
	struct xtrace_reader state = *xtrace_of(reader);
	struct tw_reader part = {.format = reader->format,
	                         .options = reader->options,
	                         .state = &state,
	                         .reports.quiet = reader->reports.quiet};
	part.options.on_finding = take_finding;
	part.options.finding_context = turn;
	part.options.jobs = 1;
	part.input = i == 0 ? reader->input : NULL;
	part.dictionary = tw_dictionary_new();
	pthread_mutex_init(&part.reports.lock, NULL);
	state.set = (struct xtrace_set){.tracks = &xtrace_of(reader)->set.tracks[i], .count = 1};
	state.events = NULL;
	int status = part.dictionary ? turn->crew->take(turn->crew->context, &part, i) : tw_fail_memory(&part);
	memcpy(turn->error, part.error, sizeof turn->error);
	xtrace_events_free(state.events);
	tw_dictionary_free(part.dictionary);
	pthread_mutex_destroy(&part.reports.lock);
	return status;
}

static void work(void *context, unsigned job)
{
	struct crew *crew = context;
	(void)job;
	pthread_mutex_lock(&crew->lock);
	while (crew->next < crew->count && !crew->failed) {
		size_t own = crew->next++;
		struct turn *turn = &crew->turns[own];
		pthread_mutex_unlock(&crew->lock);
		bool wanted =
		    tw_thread_wanted(&crew->reader->options, xtrace_of(crew->reader)->set.tracks[own].name.number);
		turn->status = wanted ? take_one(turn, own) : 0;
		pthread_mutex_lock(&crew->lock);
		turn->done = true;
		move_on(crew);
	}
	pthread_mutex_unlock(&crew->lock);
}

int xtrace_take_all(struct tw_reader *reader, unsigned jobs, xtrace_take_fn take, void *context)
{
	const struct xtrace_set *set = &xtrace_of(reader)->set;
	size_t count = set->count;
	if (count == 1) /* it may be a pipe */
		return tw_thread_wanted(&reader->options, set->tracks->name.number) ? take(context, reader, 0) : 0;
	struct crew crew = {.reader = reader, .take = take, .context = context, .count = count};
	unsigned most = jobs ? jobs : tw_processors();
	crew.turns = calloc(count, sizeof *crew.turns);
	if (!crew.turns)
		return tw_fail_memory(reader);
	pthread_mutex_init(&crew.lock, NULL);
	pthread_cond_init(&crew.moved, NULL);
	for (size_t i = 0; i < count; i++)
		crew.turns[i].crew = &crew;
	tw_parallel(count < most ? (unsigned)count : most, work, &crew);
	int status = crew.failed ? crew.turns[crew.now].status : 0;
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < crew.turns[i].kept_count; k++)
			free(crew.turns[i].kept[k].texts);
		free(crew.turns[i].kept);
	}
	pthread_cond_destroy(&crew.moved);
	pthread_mutex_destroy(&crew.lock);
	free(crew.turns);
	return status;
}
