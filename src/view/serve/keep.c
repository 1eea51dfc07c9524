/* keep.c - the index of a file, kept beside it.
 *
 * A head, the store of the index as it is, and what is not in the store. The head and the latter are looked at when an
 * index is taken, as are the records of the store; the whole is held against its hash while it is served. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/index/keep.h"

#include "core/index_file/place.h"
#include "view/serve/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	STORE_AT = 1 << 16, /* in the file: a multiple of any machine's pages */
	PIECE = 1 << 20,    /* bytes of the store that are written or looked at in one go */
	LISTS_MOST = 1 << 30
};

static const struct tw_index_kind kind = {.magic = "TWVIEW", .version = 2, .suffix = ".twview"};

/* Behind the head, as words. */
struct parts {
	uint64_t layout;
	uint64_t key;          /* the options' */
	uint64_t store, lists; /* bytes */
};
enum { PART_WORDS = sizeof(struct parts) / sizeof(uint64_t) };

/* Behind the lists: the hash of the store, and that of the parts, the lists and the former. */
enum { ENDING = 2 * sizeof(uint64_t) };

static void refuse(const struct view *view, const char *what, const char *why)
{
	const struct view_keeping_options *keeping = &view->options.keeping;
	if (why && keeping->refused)
		keeping->refused(keeping->context, view->options.paths[0], what, why);
}

static struct parts parts_of(const struct view *view, uint64_t store, uint64_t lists)
{
	return (struct parts){.layout = view_keep_layout(),
	                      .key = view->options.keeping.key,
	                      .store = store,
	                      .lists = lists};
}

static bool is_stopped(const struct view *view)
{
	return __atomic_load_n(&view->stop, __ATOMIC_RELAXED);
}

/* ---- What the view has beside its index. ---- */

static void put_findings(struct tw_output *out, const struct view *view)
{
	tw_put_word(out, view->findings.count);
	tw_put_word(out, view->findings.by_file[0]);
	tw_put_word(out, view->findings.by_file[1]);
	for (size_t i = 0; i < VIEW_FINDINGS_KEPT && i < view->findings.count; i++) {
		const struct view_finding *finding = &view->findings.first[i];
		const char *text = finding->text ? finding->text : "";
		tw_put_word(out, (uint64_t)finding->severity);
		tw_put_word(out, finding->offset);
		tw_put_word(out, finding->file);
		tw_put_word(out, finding->time);
		tw_put_padded(out, finding->rule, strlen(finding->rule));
		tw_put_padded(out, text, strlen(text));
	}
}

static void put_view(struct tw_output *out, const struct view *view)
{
	const struct tw_clock *clock = &view->reading.clock;
	tw_put_format(out, view->reading.format);
	tw_put_word(out, view->reading.started);
	tw_put_word(out, view->reading.start);
	tw_put_word(out, view->files[0].start);
	tw_put_word(out, clock->ticks_per_second);
	tw_put_word(out, clock->start_ns);
	tw_put_word(out, clock->end_ns);
	tw_put_word(out, clock->has_cpu);
	tw_put_word(out, clock->instructions);
	tw_put_word(out, clock->has_wall);
	tw_put_word(out, clock->since_boot);
	tw_put_word(out, (uint64_t)clock->wall_ns);
	tw_put_word(out, view->reading.progress.done);
	tw_put_word(out, view->reading.progress.size);
	tw_put_word(out, view->reading.progress.errors);
	put_findings(out, view);
}

/* A text that has its rule behind it. */
static void get_finding(struct tw_words *words, struct view_finding *finding)
{
	size_t rule_length, length;
	finding->severity = (enum tw_severity)tw_take_below(words, TW_ERROR + 1);
	finding->offset = tw_take_word(words);
	finding->file = (size_t)tw_take_below(words, 2);
	finding->time = tw_take_word(words);
	const char *rule = tw_take_padded(words, &rule_length), *text = tw_take_padded(words, &length);
	if (!words->failed &&
	    asprintf(&finding->text, "%.*s%c%.*s", (int)length, text, '\0', (int)rule_length, rule) < 0)
		finding->text = NULL;
	words->failed |= !finding->text;
	finding->rule = finding->text ? finding->text + strlen(finding->text) + 1 : "";
}

static void get_findings(struct tw_words *words, struct view *view)
{
	const uint64_t count = tw_take_word(words);
	view->findings.by_file[0] = tw_take_word(words);
	view->findings.by_file[1] = tw_take_word(words);
	for (size_t i = 0; i < VIEW_FINDINGS_KEPT && i < count && !words->failed; i++)
		get_finding(words, &view->findings.first[i]);
	view->findings.count = count;
}

static const struct tw_format *get_view(struct tw_words *words, struct view *view)
{
	const struct tw_format *format = tw_take_format(words);
	view->reading.started = tw_take_below(words, 2);
	view->reading.start = tw_take_below(words, INT64_MAX);
	view->files[0].start = tw_take_below(words, INT64_MAX);
	view->reading.clock = (struct tw_clock){.ticks_per_second = tw_take_word(words)};
	view->reading.clock.start_ns = tw_take_word(words);
	view->reading.clock.end_ns = tw_take_word(words);
	view->reading.clock.has_cpu = tw_take_below(words, 2);
	view->reading.clock.instructions = tw_take_below(words, 2);
	view->reading.clock.has_wall = tw_take_below(words, 2);
	view->reading.clock.since_boot = tw_take_below(words, 2);
	view->reading.clock.wall_ns = (int64_t)tw_take_word(words);
	view->reading.progress.done = tw_take_word(words);
	view->reading.progress.size = tw_take_word(words);
	view->reading.progress.errors = tw_take_word(words);
	get_findings(words, view);
	return format;
}

/* ---- Writing. ---- */

/* Zeroes what of a piece of the store is of this run alone. */
static void wipe(uint8_t *piece, uint64_t at, uint64_t size, const struct view_own *own, size_t *next)
{
	for (; *next < own->count && own->items[*next].place < at + size; ++*next)
		memset(piece + (own->items[*next].place - at), 0, own->items[*next].size);
}

/* Writes the store, piece by piece, so that who asks need not wait. False without memory, or when it is over. */
static bool put_store(struct view *view, struct tw_output *out, const struct view_own *own, uint64_t *hash)
{
	const struct view_store *store = &view->index.store;
	uint8_t *piece = malloc(PIECE);
	size_t next = 0;
	*hash = 0;
	for (uint64_t at = 0; piece && at < store->used && !is_stopped(view) && !out->error; at += PIECE) {
		const uint64_t size = store->used - at < PIECE ? store->used - at : PIECE;
		view_lock(view);
		memcpy(piece, store->bytes + at, size);
		view_unlock(view);
		wipe(piece, at, size, own, &next);
		*hash = tw_mix_bytes(piece, size, *hash);
		tw_put(out, piece, size);
	}
	const bool fine = piece && !is_stopped(view);
	free(piece);
	return fine;
}

static void put_zeroes(struct tw_output *out, size_t size)
{
	static const char zeroes[4096];
	for (size_t left = size; left > 0; left -= left < sizeof zeroes ? left : sizeof zeroes)
		tw_put(out, zeroes, left < sizeof zeroes ? left : sizeof zeroes);
}

static void put_head(struct tw_output *out, const struct tw_index_trace *trace, const struct parts *parts)
{
	uint64_t words[PART_WORDS];
	memcpy(words, parts, sizeof words);
	tw_put_index_head(out, &kind, trace);
	for (size_t i = 0; i < PART_WORDS; i++)
		tw_put_word(out, words[i]);
	put_zeroes(out, STORE_AT - TW_INDEX_HEAD - sizeof words);
}

static uint64_t hash_lists(const struct parts *parts, const void *lists, uint64_t store_hash)
{
	const uint64_t hash = tw_mix_bytes(lists, parts->lists, store_hash);
	return tw_mix_bytes(parts, sizeof *parts, hash);
}

static int make_lists(const struct view *view, struct tw_text *lists)
{
	struct tw_output out;
	const int error = tw_output_text(&out, lists);
	if (error)
		return error;
	put_view(&out, view);
	view_keep_put(&out, &view->index);
	return tw_output_close(&out);
}

/* Returns 0 or an errno; ECANCELED when it is over. */
static int write_all(struct view *view, const char *path, const struct tw_text *lists, const struct view_own *own)
{
	const struct parts parts = parts_of(view, view->index.store.used, lists->length);
	struct tw_output out;
	uint64_t hash;
	int error = tw_output_open_here(&out, path);
	if (error)
		return error;
	put_head(&out, &view->keeper.trace, &parts);
	if (!put_store(view, &out, own, &hash)) {
		tw_output_discard(&out);
		return is_stopped(view) ? ECANCELED : ENOMEM;
	}
	put_zeroes(&out, VIEW_KEPT_BEHIND);
	tw_put(&out, lists->bytes, lists->length);
	tw_put_word(&out, hash);
	tw_put_word(&out, hash_lists(&parts, lists->bytes, hash));
	return tw_output_close(&out);
}

static const char *save(struct view *view, const char *path)
{
	struct tw_text lists = {0};
	struct view_own own = {0};
	const char *why = tw_index_refusal(&kind, path, view->options.paths[0]);
	if (why)
		return why;
	int error = view_keep_own(&view->index, &own) ? make_lists(view, &lists) : ENOMEM;
	error = error ? error : write_all(view, path, &lists, &own);
	tw_text_free(&lists);
	free(own.items);
	return error && error != ECANCELED ? strerror(error) : NULL;
}

/* Whether the file is what it was before it was read. */
static bool is_as_it_was(const struct view *view)
{
	struct tw_stamp stamp;
	struct tw_index_trace trace;
	const char *path = view->options.paths[0];
	return tw_stamp_take(path, &stamp) == 0 && tw_stamp_same(&stamp, &view->keeper.stamp) &&
	       tw_index_trace(path, &stamp, &trace) && tw_index_is_of(&trace, &view->keeper.trace);
}

bool view_keep_is_wanted(struct view *view)
{
	view->keeper.busy =
	    view->options.keeping.what != VIEW_KEEPS_NOTHING && !view->index.store.error && !is_stopped(view);
	return view->keeper.busy;
}

void view_keep_save(struct view *view)
{
	char *path = tw_index_path(&kind, view->options.paths[0]);
	const char *why = strerror(ENOMEM);
	if (path)
		why = view->keeper.stamp.stream ? "it is no file of its own"
		      : is_as_it_was(view)      ? save(view, path)
		                                : "the file has changed while it was read";
	refuse(view, "not kept", why);
	free(path);
	view_keep_end(view);
}

/* ---- Reading. ---- */

/* All of some bytes of a file. */
static bool read_at(int fd, void *bytes, size_t size, uint64_t offset)
{
	for (size_t at = 0; at < size;) {
		const ssize_t got = pread(fd, (char *)bytes + at, size - at, (off_t)(offset + at));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += (size_t)got;
	}
	return true;
}

static const char *read_head(const struct view *view, int fd, struct parts *parts)
{
	uint8_t bytes[TW_INDEX_HEAD + sizeof *parts];
	uint64_t numbers[PART_WORDS];
	struct tw_words words = {.bytes = bytes, .left = sizeof bytes};
	if (!read_at(fd, bytes, sizeof bytes, 0))
		return "it is no index";
	const char *why = tw_take_index_head(&words, &kind, &view->keeper.trace);
	if (why)
		return why;
	for (size_t i = 0; i < PART_WORDS; i++)
		numbers[i] = tw_take_word(&words);
	memcpy(parts, numbers, sizeof *parts);
	if (parts->layout != view_keep_layout())
		return "it is of another version";
	return parts->key == view->options.keeping.key ? NULL : "it was made with other options";
}

/* Whether a file has just as many bytes as its head tells. */
static bool is_whole(int fd, const struct parts *parts)
{
	struct stat status;
	const uint64_t fixed = STORE_AT + VIEW_KEPT_BEHIND + ENDING;
	return fstat(fd, &status) == 0 && parts->lists <= LISTS_MOST && parts->store <= VIEW_ROOM_MOST &&
	       (uint64_t)status.st_size == fixed + parts->store + parts->lists;
}

/* The lists, which the caller frees; NULL without memory, or where they are damaged. */
static uint8_t *read_lists(struct view *view, int fd, const struct parts *parts)
{
	uint8_t *lists = malloc(parts->lists + ENDING);
	const uint64_t at = STORE_AT + parts->store + VIEW_KEPT_BEHIND;
	if (!lists || !read_at(fd, lists, parts->lists + ENDING, at)) {
		free(lists);
		return NULL;
	}
	view->keeper.hash = tw_load64(lists + parts->lists, false);
	if (tw_load64(lists + parts->lists + sizeof(uint64_t), false) == hash_lists(parts, lists, view->keeper.hash))
		return lists;
	free(lists);
	return NULL;
}

/* What nobody else may change is mapped. */
static int open_store(const struct view *view, int fd, const struct parts *parts, struct view_store *store)
{
	struct stat status;
	const bool is_own = fstat(fd, &status) == 0 && (status.st_uid == geteuid() || status.st_uid == 0) &&
	                    !(status.st_mode & (S_IWGRP | S_IWOTH));
	return is_own ? view_store_map(store, fd, STORE_AT, parts->store, VIEW_KEPT_BEHIND)
	              : view_store_copy(store, view->options.read.temporary_directory, fd, STORE_AT, parts->store,
	                                VIEW_KEPT_BEHIND);
}

static bool take_lists(struct view *view, const struct parts *parts, const uint8_t *lists,
                       const struct tw_read_options *options)
{
	struct tw_words words = {.bytes = lists, .left = parts->lists};
	const struct tw_format *format = get_view(&words, view);
	const struct view_kept_from from = {.path = view->options.paths[0],
	                                    .format = format,
	                                    .options = options,
	                                    .size = view->keeper.stamp.size,
	                                    .start = view->reading.start};
	if (words.failed || !view_keep_get(&words, &view->index, &from))
		return false;
	view->reading.format = format->name;
	view->reading.title = format->title;
	return true;
}

/* As if nothing had been taken. */
static void forget(struct view *view)
{
	view_index_free(&view->index);
	for (size_t i = 0; i < VIEW_FINDINGS_KEPT; i++)
		free(view->findings.first[i].text);
	memset(view->findings.first, 0, sizeof view->findings.first);
	memset(view->findings.by_file, 0, 2 * sizeof *view->findings.by_file);
	view->findings.count = 0;
	view->reading.started = false;
	view->reading.start = 0;
	view->reading.clock = (struct tw_clock){0};
	view->reading.progress = (struct view_progress){0};
}

static const char *take(struct view *view, int fd, const struct tw_read_options *options)
{
	struct parts parts;
	const char *why = read_head(view, fd, &parts);
	if (why)
		return why;
	uint8_t *lists = is_whole(fd, &parts) ? read_lists(view, fd, &parts) : NULL;
	if (!lists)
		return "it is damaged";
	const int error = open_store(view, fd, &parts, &view->index.store);
	why = error ? strerror(error) : NULL;
	if (!error && !take_lists(view, &parts, lists, options))
		why = "it is damaged, or there is no memory for it";
	free(lists);
	if (why)
		forget(view);
	return why;
}

bool view_keep_load(struct view *view, const struct tw_read_options *options)
{
	struct view_keeper *keeper = &view->keeper;
	const char *trace = view->options.paths[0], *why = NULL;
	if (view->options.keeping.what == VIEW_KEEPS_NOTHING || tw_stamp_take(trace, &keeper->stamp) != 0 ||
	    keeper->stamp.stream || !tw_index_trace(trace, &keeper->stamp, &keeper->trace) ||
	    view->options.keeping.what != VIEW_USES_INDEX)
		return false;
	char *path = tw_index_path(&kind, view->options.paths[0]);
	const int fd = path ? tw_index_open(path, trace, &why) : -1;
	free(path);
	if (fd >= 0)
		why = take(view, fd, options);
	refuse(view, "not used", why);
	if (fd < 0 || why) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	keeper->fd = fd;
	keeper->busy = true;
	view->reading.state = VIEW_DONE;
	view->reading.generation++;
	return true;
}

/* Whether the store has its hash, as far as anybody waits for it. */
static bool has_hash(const struct view *view, uint64_t size)
{
	const struct view_keeper *keeper = &view->keeper;
	uint8_t *piece = malloc(PIECE);
	uint64_t hash = 0, at = 0;
	for (; piece && at < size && !is_stopped(view); at += PIECE) {
		const uint64_t now = size - at < PIECE ? size - at : PIECE;
		if (!read_at(keeper->fd, piece, now, STORE_AT + at))
			break;
		hash = tw_mix_bytes(piece, now, hash);
	}
	free(piece);
	return is_stopped(view) || (at >= size && hash == keeper->hash);
}

bool view_keep_check(struct view *view)
{
	const bool fine = has_hash(view, view->index.store.used);
	close(view->keeper.fd);
	view->keeper.fd = -1;
	refuse(view, "not used", fine ? NULL : "it is damaged");
	return fine;
}

void view_keep_end(struct view *view)
{
	view_lock(view);
	view->keeper.busy = false;
	view_unlock(view);
}
