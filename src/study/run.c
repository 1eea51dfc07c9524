/* run.c - an analysis over all tracks of a set: several at a time, merged in their order. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/threads/parallel.h"
#include "study/study.h"
#include "xtrace/format/disassemble.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The limit is divided by the tracks, but not by more than so many, which is more than are in memory at a time. The
 * result must not depend on the number of jobs. */
enum { SHARES = 8 };

struct tw_study {
	struct tw_study_options options;
	const struct study_job *job;
	struct study_part all;
	struct study_tables tables;
};

/* A finding that waits until those of the tracks before it are told. */
struct told {
	struct told *next;
	struct tw_finding finding;
	char texts[]; /* of it, and of its file */
};

struct run {
	struct tw_study *study;
	struct tw_reader *reader;
	const struct xtrace_track **tracks;
	size_t count;
	size_t share; /* of memory, for each */
	pthread_mutex_t lock;
	pthread_cond_t turned;
	size_t next;   /* track to be read */
	size_t merged; /* tracks that are in */
	int status;
	char error[TW_ERROR_TEXT];
};

struct worker {
	struct run *run;
	struct tw_reader *reader; /* its own, where there are several tracks */
	struct told *first, **last;
	bool untold; /* there was no memory for a finding */
};

/* ---- Findings. ---- */

static void keep_finding(void *context, const struct tw_finding *finding)
{
	struct worker *worker = context;
	size_t text = strlen(finding->text) + 1, file = strlen(finding->file) + 1;
	struct told *told = malloc(sizeof *told + text + file);
	if (!told) {
		worker->untold = true;
		return;
	}
	*told = (struct told){.finding = *finding};
	told->finding.text = memcpy(told->texts, finding->text, text);
	told->finding.file = memcpy(told->texts + text, finding->file, file);
	*worker->last = told;
	worker->last = &told->next;
}

static void tell_findings(struct worker *worker)
{
	struct tw_reader *reader = worker->run->reader;
	for (struct told *told = worker->first, *next; told; told = next) {
		next = told->next;
		reader->reports.findings[told->finding.severity]++;
		if (reader->options.on_finding)
			reader->options.on_finding(reader->options.finding_context, &told->finding);
		free(told);
	}
	worker->first = NULL;
	worker->last = &worker->first;
}

/* A set is opened again for each worker, so that nothing is shared. */
static int open_own(struct worker *worker)
{
	struct tw_reader *whole = worker->run->reader;
	struct tw_read_options options = whole->options;
	options.on_finding = keep_finding;
	options.finding_context = worker;
	options.memory_limit = worker->run->share;
	worker->reader = tw_reader_new(&options);
	if (!worker->reader)
		return TW_ERR_MEMORY;
	worker->reader->format = whole->format;
	worker->reader->path = whole->path;
	return whole->format->reading.open(worker->reader);
}

/* ---- Parts. ---- */

static int part_begin(struct study_part *part, const struct tw_study *study, size_t limit, struct tw_dictionary *names)
{
	*part = (struct study_part){.options = &study->options};
	tw_budget_reset(&part->budget, limit, 1);
	if (!study_sites_init(&part->sites, &part->budget, names))
		return TW_ERR_MEMORY;
	return study->job->begin ? study->job->begin(part) : 0;
}

static void part_free(struct study_part *part, const struct study_job *job)
{
	if (job && job->free && part->options)
		job->free(part);
	study_sites_free(&part->sites);
}

uint32_t study_name_in(struct study_sites *to, const struct study_sites *from, uint32_t name)
{
	return tw_dictionary_intern(to->names, tw_dictionary_name(from->names, name));
}

static bool map_sites(struct study_part *all, const struct study_part *part, uint32_t *map)
{
	for (size_t i = 1; i < part->sites.count; i++) {
		const struct study_site *site = &part->sites.items[i];
		uint32_t function = study_name_in(&all->sites, &part->sites, site->function);
		if (function == UINT32_MAX)
			return false;
		map[i] = study_sites_find(&all->sites, site->pc, site->opcode, function);
	}
	for (size_t i = 0; i < part->sites.count; i++) {
		const struct study_site *site = &part->sites.items[i];
		struct study_site *same = &all->sites.items[map[i]];
		same->count += site->count;
		same->next = same->next ? same->next : map[site->next];
	}
	return true;
}

static int merge(struct tw_study *study, struct study_part *part)
{
	struct study_part *all = &study->all;
	uint32_t *map = calloc(part->sites.count, sizeof *map);
	int status = map && map_sites(all, part, map) ? 0 : TW_ERR_MEMORY;
	all->totals.instructions += part->totals.instructions;
	all->totals.lost_bytes += part->totals.lost_bytes;
	for (unsigned level = 0; level < 4; level++)
		all->totals.levels[level] += part->totals.levels[level];
	all->left_out += part->left_out;
	if (status == 0 && study->job->merge)
		status = study->job->merge(all, part, map);
	free(map);
	return status < 0 ? status : tw_budget_status(&all->budget);
}

/* ---- Work. ---- */

struct taking {
	const struct study_job *job;
	struct study_part *part;
};

static int take_batch(void *context, const struct study_batch *batch)
{
	const struct taking *taking = context;
	return taking->job->take ? taking->job->take(taking->part, batch) : 0;
}

static int read_track(struct worker *worker, const struct xtrace_track *track, struct study_part *part)
{
	const struct study_job *job = worker->run->study->job;
	struct taking taking = {job, part};
	int status = part_begin(part, worker->run->study, worker->run->share, worker->reader->dictionary);
	part->thread = track->name.number;
	if (status == 0)
		status = study_walk(worker->reader, track, &part->sites, &part->totals, take_batch, &taking);
	if (status == 0 && job->end)
		status = job->end(part);
	if (status == 0 && worker->untold)
		status = TW_ERR_MEMORY;
	return status < 0 ? status : tw_budget_status(&part->budget);
}

/* Waits for the tracks before this one, and adds it. */
static void hand_in(struct worker *worker, size_t number, struct study_part *part, int status)
{
	struct run *run = worker->run;
	pthread_mutex_lock(&run->lock);
	while (run->merged < number)
		pthread_cond_wait(&run->turned, &run->lock);
	if (worker->reader != run->reader)
		tell_findings(worker);
	if (run->status == 0 && status == 0)
		status = merge(run->study, part);
	if (run->status == 0 && status < 0) {
		run->status = status;
		if (worker->reader)
			memcpy(run->error, worker->reader->error, sizeof run->error);
	}
	run->merged = number + 1;
	pthread_cond_broadcast(&run->turned);
	pthread_mutex_unlock(&run->lock);
}

static size_t next_track(struct run *run)
{
	pthread_mutex_lock(&run->lock);
	size_t number = run->status < 0 ? run->count : run->next;
	run->next += number < run->count;
	pthread_mutex_unlock(&run->lock);
	return number;
}

static void work(void *context, unsigned job)
{
	struct run *run = context;
	struct worker worker = {.run = run, .reader = run->reader, .last = &worker.first};
	bool own = run->reader->path && run->count > 1;
	int status = own ? open_own(&worker) : 0;
	size_t number;
	(void)job;
	while ((number = next_track(run)) < run->count) {
		struct study_part *part = calloc(1, sizeof *part);
		int read = status == 0 && !part ? TW_ERR_MEMORY : status;
		read = read < 0 ? read : read_track(&worker, run->tracks[number], part);
		hand_in(&worker, number, part, read);
		if (part)
			part_free(part, run->study->job);
		free(part);
	}
	if (own)
		tw_close(worker.reader);
}

static int list_tracks(struct run *run)
{
	const struct xtrace_set *set = &xtrace_of(run->reader)->set;
	run->tracks = calloc(set->count + 1, sizeof(struct xtrace_track *));
	if (!run->tracks)
		return TW_ERR_MEMORY;
	for (size_t i = 0; i < set->count; i++)
		if (tw_thread_wanted(&run->reader->options, set->tracks[i].name.number))
			run->tracks[run->count++] = &set->tracks[i];
	return 0;
}

static int read_all(struct tw_study *study, struct tw_reader *reader)
{
	struct run run = {.study = study, .reader = reader};
	unsigned jobs = study->options.jobs ? study->options.jobs : tw_processors();
	int status = list_tracks(&run);
	size_t shares = run.count + 1 < SHARES ? run.count + 1 : SHARES;
	run.share = study->options.memory_limit / shares;
	if (status == 0)
		status = part_begin(&study->all, study, run.share, study->tables.texts);
	if (status < 0) {
		free(run.tracks);
		return tw_fail(reader, status, "%s", tw_status_text(status));
	}
	jobs = jobs < run.count ? jobs : (unsigned)run.count;
	pthread_mutex_init(&run.lock, NULL);
	pthread_cond_init(&run.turned, NULL);
	tw_parallel(jobs < SHARES ? (jobs ? jobs : 1) : SHARES - 1, work, &run);
	pthread_cond_destroy(&run.turned);
	pthread_mutex_destroy(&run.lock);
	free(run.tracks);
	if (run.status < 0)
		tw_fail(reader, run.status, "%s", *run.error ? run.error : tw_status_text(run.status));
	return run.status;
}

/* ---- The handle. ---- */

static bool is_power(uint64_t number)
{
	return number && (number & (number - 1)) == 0;
}

static bool makes_sense(const struct tw_study_cache *cache)
{
	enum { LINE_LEAST = 8, LINE_MOST = 4096, WAYS_MOST = 1024 };
	uint64_t row = (uint64_t)cache->ways * cache->line;
	return is_power(cache->line) && cache->line >= LINE_LEAST && cache->line <= LINE_MOST && cache->ways &&
	       cache->ways <= WAYS_MOST && cache->size % row == 0 && is_power(cache->size / row) &&
	       cache->policy < TW_STUDY_POLICIES;
}

static int check_options(const struct tw_study_options *options, struct tw_reader *reader)
{
	if (options->history > TW_STUDY_HISTORY_MOST)
		return tw_fail(reader, TW_ERR_VALUE, "a history of %u bits: at most %d", options->history,
		               TW_STUDY_HISTORY_MOST);
	if (options->kind == TW_STUDY_PHASES &&
	    (options->phases > TW_STUDY_PHASES_MOST || options->interval > UINT32_MAX))
		return tw_fail(reader, TW_ERR_VALUE, "at most %d phases, of intervals of at most 2^32 - 1 instructions",
		               TW_STUDY_PHASES_MOST);
	for (unsigned i = 0; i < options->level_count; i++)
		if (!makes_sense(&options->levels[i]))
			return tw_fail(
			    reader, TW_ERR_VALUE,
			    "level %u of the caches: its size must be its ways (at most 1024) times its line (a power "
			    "of 2, 8 to 4096) times a power of 2",
			    i + 1);
	return 0;
}

static void fill_options(struct tw_study_options *options)
{
	enum {
		HISTORY = 12,
		INTERVAL = 1000000,
		WAYS = 8,
		LINE = 64,
		SIZE_1 = 32 << 10,
		SIZE_2 = 512 << 10,
		PHASES = 30
	};
	options->history = options->history ? options->history : HISTORY;
	options->interval = options->interval ? options->interval : INTERVAL;
	options->phases = options->phases ? options->phases : PHASES;
	options->memory_limit = options->memory_limit ? options->memory_limit : TW_DEFAULT_MEMORY;
	if (options->level_count)
		return;
	options->levels[0] = (struct tw_study_cache){SIZE_1, WAYS, LINE, TW_STUDY_LRU};
	options->levels[1] = (struct tw_study_cache){SIZE_2, WAYS, LINE, TW_STUDY_LRU};
	options->level_count = 2;
}

static int make_tables(struct tw_study *study)
{
	struct study_tables *tables = &study->tables;
	if (study->job->disassembles && !(tables->disassembler = xtrace_disassembler_new()))
		return TW_ERR_MEMORY;
	int status = study->job->tables(&study->all, tables);
	xtrace_disassembler_free(tables->disassembler);
	if (status == 0 && tables->failed)
		status = TW_ERR_MEMORY;
	return status < 0 ? status : tw_budget_status(&study->all.budget);
}

int tw_study_read(struct tw_study **made, struct tw_reader *reader, const struct tw_study_options *options)
{
	static const struct study_job *const jobs[TW_STUDIES] = {
	    [TW_STUDY_INSNS] = &study_insns, [TW_STUDY_BLOCKS] = &study_blocks, [TW_STUDY_BRANCHES] = &study_branches,
	    [TW_STUDY_MEM] = &study_mem,     [TW_STUDY_CACHE] = &study_cache,   [TW_STUDY_SYSCALLS] = &study_syscalls,
	    [TW_STUDY_CALLS] = &study_calls, [TW_STUDY_PHASES] = &study_phases,
	};
	struct tw_study *study = *made = calloc(1, sizeof *study);
	if (!study)
		return tw_fail_memory(reader);
	study->options = *options;
	if ((unsigned)options->kind >= TW_STUDIES || options->level_count > TW_STUDY_LEVELS)
		return tw_fail(reader, TW_ERR_VALUE, "there is no study of this number, or so many caches");
	study->job = jobs[options->kind];
	study->tables.texts = tw_dictionary_new();
	if (!study->tables.texts)
		return tw_fail_memory(reader);
	if (reader->format != &tw_format_xtrace)
		return tw_fail(reader, TW_ERR_UNSUPPORTED, "%s has no instructions: an xtrace has",
		               tw_source_name(reader));
	int status = check_options(options, reader);
	status = status < 0 ? status : tw_use(reader, TW_USE_WHOLE);
	fill_options(&study->options);
	if (status == 0)
		status = read_all(study, reader);
	if (status == 0 && (status = make_tables(study)) < 0)
		tw_fail_memory(reader);
	return status;
}

const struct tw_study_table *tw_study_table(const struct tw_study *study, size_t i)
{
	return i < study->tables.count ? &study->tables.items[i].table : NULL;
}

const struct study_part *study_all(const struct tw_study *study)
{
	return &study->all;
}

uint64_t tw_study_instructions(const struct tw_study *study)
{
	return study->all.totals.instructions;
}

uint64_t tw_study_left_out(const struct tw_study *study)
{
	uint64_t placeless = study->all.sites.items ? study->all.sites.items[0].count : 0;
	return study->all.left_out + placeless;
}

void tw_study_free(struct tw_study *study)
{
	if (!study)
		return;
	part_free(&study->all, study->job);
	for (size_t i = 0; i < study->tables.count; i++)
		free(study->tables.items[i].cells);
	tw_dictionary_free(study->tables.texts);
	free(study);
}
