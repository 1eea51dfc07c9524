/* fuzz_view_index.c - an index beside a file, any words of which are others, and whose hashes are right: it is used or told,
 * and answers are of memory that is there. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/memory/map.h"
#include "fuzz.h"
#include "view/serve/view.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The bytes: which trace, and then what is changed: a number of a word, and its value. */
enum { TRACES = 2, CHANGE = 12, CHANGES_MOST = 32 };

/* In the file of an index, as src/view/serve/keep.c writes it. */
enum { STORE = 1 << 16, BEHIND = 1 << 13, STORE_SIZE = 64, LISTS_SIZE = 72, PARTS_AT = 48, PARTS = 4, PIECE = 1 << 20 };

/* A trace, and its index as it should be. */
struct kept {
	char folder[40], path[64], index_path[80];
	char *paths[1];
	uint8_t *index, *changed;
	size_t size;
};

static struct kept kepts[TRACES];
static const char *why_not; /* why an index was not used */

static void refuse(void *context, const char *path, const char *what, const char *why)
{
	(void)context;
	(void)path;
	(void)what;
	why_not = why;
}

static struct view *begin(struct kept *kept, enum view_keeping what)
{
	kept->paths[0] = kept->path;
	const struct view_options options = {
	    .paths = kept->paths, .count = 1, .small = 1, .read.jobs = 1, .keeping = {.what = what, .refused = refuse}};
	struct view *view = view_new(&options);
	why_not = NULL;
	fuzz_require(view && view_begin(view) == 0, "the trace can be read");
	return view;
}

/* ---- Traces. ---- */

static const char calls[] = "[{\"ph\":\"X\",\"name\":\"one\",\"cat\":\"k\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":50},"
			    "{\"ph\":\"i\",\"name\":\"here\",\"pid\":1,\"tid\":2,\"ts\":7},"
			    "{\"ph\":\"C\",\"name\":\"memory\",\"pid\":1,\"ts\":9,\"args\":{\"used\":3,\"free\":4}},"
			    "{\"ph\":\"Z\",\"name\":\"unknown\",\"pid\":1,\"tid\":1,\"ts\":20}";

/* Counters of many samples, of few, and of one. */
static void write_calls(FILE *file)
{
	fputs(calls, file);
	for (unsigned i = 0; i < 700; i++)
		fprintf(file, ",{\"ph\":\"C\",\"name\":\"c%u\",\"pid\":1,\"ts\":%u,\"args\":{\"v\":%u}}",
		        i % 3 ? 0 : i % 90, 30 + i, i * i);
	fputs("]", file);
}

static void put_word(FILE *file, uint64_t word)
{
	uint8_t bytes[8];
	tw_store64(bytes, word, false);
	fwrite(bytes, 1, sizeof bytes, file);
}

/* Slices of two threads in an archive, of which the index keeps none. */
static void write_archive(FILE *file)
{
	put_word(file, UINT64_C(0x0016547846040010));
	put_word(file, 1 | 2 << 4);
	put_word(file, 1000000000);
	put_word(file, 2 | 2 << 4 | 1 << 16 | UINT64_C(1) << 32);
	put_word(file, 'a');
	for (uint64_t thread = 1; thread <= 2; thread++) {
		put_word(file, 3 | 3 << 4 | thread << 16);
		put_word(file, 7);
		put_word(file, 70 + thread);
	}
	for (uint64_t i = 0; i < 6000; i++) {
		put_word(file, 4 | 3 << 4 | 4 << 16 | (1 + i % 2) << 24 | UINT64_C(1) << 32 | UINT64_C(1) << 48);
		put_word(file, 1000 * i);
		put_word(file, 1000 * i + 300 + i % 7);
	}
}

static void remove_all(void)
{
	for (size_t i = 0; i < TRACES; i++) {
		unlink(kepts[i].path);
		unlink(kepts[i].index_path);
		rmdir(kepts[i].folder);
		free(kepts[i].index);
		free(kepts[i].changed);
	}
}

static void read_index(struct kept *kept)
{
	FILE *file = fopen(kept->index_path, "rb");
	fuzz_require(file && fseek(file, 0, SEEK_END) == 0, "an index is kept");
	kept->size = (size_t)ftell(file);
	rewind(file);
	kept->index = malloc(kept->size);
	kept->changed = malloc(kept->size);
	fuzz_require(kept->index && kept->changed && fread(kept->index, 1, kept->size, file) == kept->size,
	             "and can be read");
	fclose(file);
}

static void make(struct kept *kept, void (*write)(FILE *file))
{
	strcpy(kept->folder, "/tmp/trackway-fuzz-XXXXXX");
	fuzz_require(mkdtemp(kept->folder) != NULL, "a folder");
	snprintf(kept->path, sizeof kept->path, "%s/trace", kept->folder);
	snprintf(kept->index_path, sizeof kept->index_path, "%s.twview", kept->path);
	FILE *file = fopen(kept->path, "wb");
	fuzz_require(file != NULL, "a file");
	write(file);
	fclose(file);
	struct view *view = begin(kept, VIEW_KEEPS_INDEX);
	view_read(view);
	view_free(view);
	read_index(kept);
}

/* ---- What is asked. ---- */

static const char *const addresses[] = {
    "/api/trace",
    "/api/window?names=0&tracks=0,1,2,3,4,5,6,7&from=0&to=100000000&width=1",
    "/api/window?names=0&tracks=0,1,2,3,4,5,6,7&from=0&to=6000000&width=700&exact=1",
    "/api/window?names=0&tracks=0,1,2,3,4,5,6,7&from=90000&to=700000&width=16384",
    "/api/slice?track=1&lane=0&depth=0&item=0",
    "/api/slice?track=1&lane=0&depth=0&item=2999",
    "/api/slice?track=2&lane=0&depth=0&item=1500",
    "/api/slice?track=2&lane=65535&depth=0&item=0",
    "/api/near?name=a&at=3000000&direction=previous",
    "/api/counters?from=5&to=3000000&tracks=0,1,2,3,4,5,6,7",
    "/api/near?track=1&lane=0&depth=0&item=7&direction=next",
};

static void ask(struct view *view, const char *address)
{
	char cookie[64];
	struct view_answer answer;
	snprintf(cookie, sizeof cookie, "trackway-0=%s", view->server.token);
	struct view_request request = {.method = "GET", .address = address, .host = "localhost", .cookie = cookie};
	view_answer(view, &request, &answer);
	fuzz_touch((const uint8_t *)answer.body.bytes, answer.body.length);
	view_request_free(&request);
	view_answer_free(&answer);
}

static void put_hashes(struct kept *kept)
{
	uint8_t *bytes = kept->changed;
	const uint64_t store = tw_load64(bytes + STORE_SIZE, false), lists = tw_load64(bytes + LISTS_SIZE, false);
	uint64_t hash = 0, parts[PARTS];
	for (uint64_t at = 0; at < store; at += PIECE)
		hash = tw_mix_bytes(bytes + STORE + at, store - at < PIECE ? store - at : PIECE, hash);
	uint8_t *at = bytes + STORE + store + BEHIND;
	tw_store64(at + lists, hash, false);
	for (size_t i = 0; i < PARTS; i++)
		parts[i] = tw_load64(bytes + PARTS_AT + 8 * i, false);
	tw_store64(at + lists + 8, tw_mix_bytes(parts, sizeof parts, tw_mix_bytes(at, lists, hash)), false);
}

/* Writes what is no longer as it was, in place: a file that is made anew would go to the disk. */
static void write_words(const struct kept *kept, const uint8_t *before, const uint8_t *now)
{
	const int fd = open(kept->index_path, O_WRONLY | O_CLOEXEC);
	for (size_t at = STORE; at < kept->size; at += 8)
		if (memcmp(before + at, now + at, 8) != 0)
			fuzz_require(pwrite(fd, now + at, 8, (off_t)at) == 8, "a word");
	close(fd);
}

/* The head stays, and where the lists begin. */
static void change(struct kept *kept, const uint8_t *bytes, size_t size)
{
	const size_t words = (kept->size - STORE) / 8 - 2;
	memcpy(kept->changed, kept->index, kept->size);
	for (size_t i = 0; i < CHANGES_MOST && size - i * CHANGE >= CHANGE; i++)
		tw_store64(kept->changed + STORE + tw_load32(bytes + i * CHANGE, false) % words * 8,
		           tw_load64(bytes + i * CHANGE + 4, false), false);
	put_hashes(kept);
	write_words(kept, kept->index, kept->changed);
}

FUZZ_TARGET(view_index, const uint8_t *bytes, size_t size)
{
	if (size < 1)
		return 0;
	if (!kepts[0].size) {
		atexit(remove_all);
		make(&kepts[0], write_calls);
		make(&kepts[1], write_archive);
	}
	struct kept *kept = &kepts[bytes[0] % TRACES];
	change(kept, bytes + 1, size - 1);
	struct view *view = begin(kept, VIEW_USES_INDEX);
	const bool is_used = view->reading.state == VIEW_DONE;
	fuzz_require(is_used || why_not, "an index is used, or it is told why not");
	fuzz_require(is_used || size > CHANGE, "one without changes is used");
	for (size_t i = 0; i < sizeof addresses / sizeof *addresses && is_used; i++)
		ask(view, addresses[i]);
	view_free(view);
	write_words(kept, kept->changed, kept->index);
	return 0;
}
