/* keep.c - the index of a file, kept beside it.
 *
 * A head, the store of the index as it is, and what is not in the store. The head and the latter are looked at when an
 * index is taken, as are the records of the store; the whole is held against its hash while it is served. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/index/keep.h"

#include "core/format.h"
#include "sql/index/place.h"
#include "view/serve/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	VERSION = 1,
	STORE_AT = 1 << 16, /* in the file: a multiple of any machine's pages */
	PIECE = 1 << 20,    /* bytes of the store that are written or looked at in one go */
	LISTS_MOST = 1 << 30
};

static const char magic[8] = "TWVIEW";

/* Behind the magic, as words. */
struct head {
	uint64_t version, layout;
	uint64_t size, seconds, nanoseconds, head; /* of the trace */
	uint64_t key;                              /* the options' */
	uint64_t store, lists;                     /* bytes */
};
enum { HEAD_WORDS = sizeof(struct head) / sizeof(uint64_t) };

/* Behind the lists: the hash of the store, and that of the head, the lists and the former. */
enum { ENDING = 2 * sizeof(uint64_t) };

static void refuse(const struct view *view, const char *what, const char *why)
{
	const struct view_keeping_options *keeping = &view->options.keeping;
	if (why && keeping->refused)
		keeping->refused(keeping->context, view->options.paths[0], what, why);
}

/* The caller frees it. NULL without memory. */
static char *path_of(const struct view *view)
{
	char *path;
	return asprintf(&path, "%s.twview", view->options.paths[0]) < 0 ? NULL : path;
}

static struct head head_of(const struct view *view, uint64_t store, uint64_t lists)
{
	const struct view_keeper *keeper = &view->keeper;
	return (struct head){.version = VERSION,
	                     .layout = view_keep_layout(),
	                     .size = keeper->stamp.size,
	                     .seconds = keeper->stamp.seconds,
	                     .nanoseconds = keeper->stamp.nanoseconds,
	                     .head = keeper->head,
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
	sql_put_word(out, view->findings.count);
	sql_put_word(out, view->findings.by_file[0]);
	sql_put_word(out, view->findings.by_file[1]);
	for (size_t i = 0; i < VIEW_FINDINGS_KEPT && i < view->findings.count; i++) {
		const struct view_finding *finding = &view->findings.first[i];
		const char *text = finding->text ? finding->text : "";
		sql_put_word(out, (uint64_t)finding->severity);
		sql_put_word(out, finding->offset);
		sql_put_word(out, finding->file);
		sql_put_word(out, finding->time);
		sql_put_text(out, finding->rule, strlen(finding->rule));
		sql_put_text(out, text, strlen(text));
	}
}

static void put_view(struct tw_output *out, const struct view *view)
{
	const struct tw_clock *clock = &view->reading.clock;
	sql_put_text(out, view->reading.format, strlen(view->reading.format));
	sql_put_word(out, view->reading.started);
	sql_put_word(out, view->reading.start);
	sql_put_word(out, view->files[0].start);
	sql_put_word(out, clock->ticks_per_second);
	sql_put_word(out, clock->start_ns);
	sql_put_word(out, clock->end_ns);
	sql_put_word(out, clock->has_cpu);
	sql_put_word(out, clock->instructions);
	sql_put_word(out, clock->has_wall);
	sql_put_word(out, clock->since_boot);
	sql_put_word(out, (uint64_t)clock->wall_ns);
	sql_put_word(out, view->reading.told.done);
	sql_put_word(out, view->reading.told.size);
	sql_put_word(out, view->reading.told.errors);
	put_findings(out, view);
}

/* A text that has its rule behind it. */
static void get_finding(struct sql_words *words, struct view_finding *finding)
{
	size_t rule_length, length;
	finding->severity = (enum tw_severity)sql_take_below(words, TW_ERROR + 1);
	finding->offset = sql_take_word(words);
	finding->file = (size_t)sql_take_below(words, 2);
	finding->time = sql_take_word(words);
	const char *rule = sql_take_text(words, &rule_length), *text = sql_take_text(words, &length);
	if (!words->failed &&
	    asprintf(&finding->text, "%.*s%c%.*s", (int)length, text, '\0', (int)rule_length, rule) < 0)
		finding->text = NULL;
	words->failed |= !finding->text;
	finding->rule = finding->text ? finding->text + strlen(finding->text) + 1 : "";
}

static void get_findings(struct sql_words *words, struct view *view)
{
	const uint64_t count = sql_take_word(words);
	view->findings.by_file[0] = sql_take_word(words);
	view->findings.by_file[1] = sql_take_word(words);
	for (size_t i = 0; i < VIEW_FINDINGS_KEPT && i < count && !words->failed; i++)
		get_finding(words, &view->findings.first[i]);
	view->findings.count = count;
}

static const struct tw_format *get_format(struct sql_words *words)
{
	size_t length;
	const char *name, *text = sql_take_text(words, &length);
	for (size_t i = 0; (name = tw_format_name(i)); i++)
		if (strlen(name) == length && memcmp(name, text, length) == 0)
			return tw_formats[i];
	words->failed = true;
	return NULL;
}

static const struct tw_format *get_view(struct sql_words *words, struct view *view)
{
	const struct tw_format *format = get_format(words);
	view->reading.started = sql_take_below(words, 2);
	view->reading.start = sql_take_below(words, INT64_MAX);
	view->files[0].start = sql_take_below(words, INT64_MAX);
	view->reading.clock = (struct tw_clock){.ticks_per_second = sql_take_word(words)};
	view->reading.clock.start_ns = sql_take_word(words);
	view->reading.clock.end_ns = sql_take_word(words);
	view->reading.clock.has_cpu = sql_take_below(words, 2);
	view->reading.clock.instructions = sql_take_below(words, 2);
	view->reading.clock.has_wall = sql_take_below(words, 2);
	view->reading.clock.since_boot = sql_take_below(words, 2);
	view->reading.clock.wall_ns = (int64_t)sql_take_word(words);
	view->reading.told.done = sql_take_word(words);
	view->reading.told.size = sql_take_word(words);
	view->reading.told.errors = sql_take_word(words);
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

static void put_head(struct tw_output *out, const struct head *head)
{
	uint64_t words[HEAD_WORDS];
	memcpy(words, head, sizeof words);
	tw_put(out, magic, sizeof magic);
	for (size_t i = 0; i < HEAD_WORDS; i++)
		sql_put_word(out, words[i]);
	put_zeroes(out, STORE_AT - sizeof magic - sizeof words);
}

static uint64_t hash_lists(const struct head *head, const void *lists, uint64_t store_hash)
{
	const uint64_t hash = tw_mix_bytes(lists, head->lists, store_hash);
	return tw_mix_bytes(head, sizeof *head, hash);
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
	const struct head head = head_of(view, view->index.store.used, lists->length);
	struct tw_output out;
	uint64_t hash;
	int error = tw_output_open_here(&out, path);
	if (error)
		return error;
	put_head(&out, &head);
	if (!put_store(view, &out, own, &hash)) {
		tw_output_discard(&out);
		return is_stopped(view) ? ECANCELED : ENOMEM;
	}
	put_zeroes(&out, VIEW_KEPT_BEHIND);
	tw_put(&out, lists->bytes, lists->length);
	sql_put_word(&out, hash);
	sql_put_word(&out, hash_lists(&head, lists->bytes, hash));
	return tw_output_close(&out);
}

static const char *save(struct view *view, const char *path)
{
	struct tw_text lists = {0};
	struct view_own own = {0};
	const char *why = sql_place_refusal(path, view->options.paths[0], magic, sizeof magic);
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
	struct sql_stamp stamp;
	uint64_t head;
	const char *path = view->options.paths[0];
	return sql_stamp_take(path, &stamp) == 0 && sql_stamp_same(&stamp, &view->keeper.stamp) &&
	       sql_stamp_head(path, &head) && head == view->keeper.head;
}

bool view_keep_is_wanted(struct view *view)
{
	view->keeper.busy =
	    view->options.keeping.what != VIEW_KEEPS_NOTHING && !view->index.store.error && !is_stopped(view);
	return view->keeper.busy;
}

void view_keep_save(struct view *view)
{
	char *path = path_of(view);
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

static const char *read_head(const struct view *view, int fd, struct head *head)
{
	uint8_t bytes[sizeof magic + sizeof *head];
	uint64_t numbers[HEAD_WORDS];
	if (!read_at(fd, bytes, sizeof bytes, 0) || memcmp(bytes, magic, sizeof magic) != 0)
		return "it is no index";
	for (size_t i = 0; i < HEAD_WORDS; i++)
		numbers[i] = tw_load64(bytes + sizeof magic + i * sizeof *numbers, false);
	memcpy(head, numbers, sizeof *head);
	const struct head wanted = head_of(view, head->store, head->lists);
	if (head->version != wanted.version || head->layout != wanted.layout)
		return "it is of another version";
	if (head->size != wanted.size || head->seconds != wanted.seconds || head->nanoseconds != wanted.nanoseconds ||
	    head->head != wanted.head)
		return "it is of another file, or of what the file was before";
	return head->key == wanted.key ? NULL : "it was made with other options";
}

/* Whether a file has just as many bytes as its head tells. */
static bool is_whole(int fd, const struct head *head)
{
	struct stat told;
	const uint64_t fixed = STORE_AT + VIEW_KEPT_BEHIND + ENDING;
	return fstat(fd, &told) == 0 && head->lists <= LISTS_MOST && head->store <= VIEW_ROOM_MOST &&
	       (uint64_t)told.st_size == fixed + head->store + head->lists;
}

/* The lists, which the caller frees; NULL without memory, or where they are damaged. */
static uint8_t *read_lists(struct view *view, int fd, const struct head *head)
{
	uint8_t *lists = malloc(head->lists + ENDING);
	const uint64_t at = STORE_AT + head->store + VIEW_KEPT_BEHIND;
	if (!lists || !read_at(fd, lists, head->lists + ENDING, at)) {
		free(lists);
		return NULL;
	}
	view->keeper.hash = tw_load64(lists + head->lists, false);
	if (tw_load64(lists + head->lists + sizeof(uint64_t), false) == hash_lists(head, lists, view->keeper.hash))
		return lists;
	free(lists);
	return NULL;
}

/* What nobody else may change is mapped. */
static int open_store(const struct view *view, int fd, const struct head *head, struct view_store *store)
{
	struct stat told;
	const bool is_own = fstat(fd, &told) == 0 && (told.st_uid == geteuid() || told.st_uid == 0) &&
	                    !(told.st_mode & (S_IWGRP | S_IWOTH));
	return is_own ? view_store_map(store, fd, STORE_AT, head->store, VIEW_KEPT_BEHIND)
	              : view_store_copy(store, view->options.read.temporary_directory, fd, STORE_AT, head->store,
	                                VIEW_KEPT_BEHIND);
}

static bool take_lists(struct view *view, const struct head *head, const uint8_t *lists,
                       const struct tw_read_options *options)
{
	struct sql_words words = {.bytes = lists, .left = head->lists};
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
	view->reading.told = (struct view_told){0};
}

static const char *take(struct view *view, int fd, const struct tw_read_options *options)
{
	struct head head;
	const char *why = read_head(view, fd, &head);
	if (why)
		return why;
	uint8_t *lists = is_whole(fd, &head) ? read_lists(view, fd, &head) : NULL;
	if (!lists)
		return "it is damaged";
	const int error = open_store(view, fd, &head, &view->index.store);
	why = error ? strerror(error) : NULL;
	if (!error && !take_lists(view, &head, lists, options))
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
	if (view->options.keeping.what == VIEW_KEEPS_NOTHING || sql_stamp_take(trace, &keeper->stamp) != 0 ||
	    keeper->stamp.stream || !sql_stamp_head(trace, &keeper->head) ||
	    view->options.keeping.what != VIEW_USES_INDEX)
		return false;
	char *path = path_of(view);
	const int fd = path ? sql_place_open(path, trace, &why) : -1;
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
