/* test_fxt_damage.c - whatever happens to one place of an archive, every event elsewhere is delivered, and the loss is
 * told. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <trackway/trackway.h>

#include "base/bytes.h"
#include "files.h"

enum { ROOM = 1 << 20, PART = 2200, RECORDS = ROOM / 8, LARGE = 600000 };

static uint8_t whole[ROOM], damaged[ROOM];
static size_t size;
static bool big;
static size_t records[RECORDS], record_count; /* where records begin; the last is the end */
static bool wanted[ROOM], found[ROOM];        /* by offset: an event comes from here */
static uint64_t lost, errors;

/* ---- The archive. ---- */

/* By the sizes of the headers alone. */
static void find_records(size_t most)
{
	record_count = 0;
	for (size_t at = 0; at < most;) {
		uint64_t header = tw_load64(whole + at, big);
		records[record_count] = at;
		at += 8 * (size_t)((header & 15) == 15 ? header >> 4 & UINT32_MAX : header >> 4 & 0xfff);
		record_count += at <= most;
		size = at <= most ? at : records[record_count];
	}
	records[record_count] = size;
}

static void load(const char *name, size_t most)
{
	char path[512];
	snprintf(path, sizeof path, "%s/fxt/%s", getenv("TW_TEST_DATA"), name);
	size_t read = read_file(path, whole, sizeof whole);
	big = false;
	find_records(most < read ? most : read);
}

/* The same archive in the other byte order. */
static void turn(void)
{
	struct tw_reader *reader;
	struct tw_rewrite_result result;
	char path[] = "/tmp/fxt_damage_XXXXXX";
	int descriptor = mkstemp(path);
	const struct tw_write_options options = {.byte_order = TW_BYTES_BIG};
	assert_true(descriptor >= 0);
	assert_int_equal(tw_open_memory(&reader, "test", whole, size, NULL), 0);
	assert_int_equal(tw_transcode(reader, path, &options, &result), 0);
	tw_close(reader);
	assert_int_equal(read_file(path, whole, sizeof whole), size);
	fclose(fdopen(descriptor, "rb"));
	remove(path);
	big = true;
}

/* The archive, repaired. */
static void repair(void)
{
	struct tw_reader *reader;
	struct tw_rewrite_result result;
	char path[] = "/tmp/fxt_damage_XXXXXX";
	int descriptor = mkstemp(path);
	assert_true(descriptor >= 0);
	assert_int_equal(tw_open_memory(&reader, "test", whole, size, NULL), 0);
	assert_int_equal(tw_repair(reader, path, &result), 0);
	tw_close(reader);
	size = read_file(path, whole, sizeof whole);
	fclose(fdopen(descriptor, "rb"));
	remove(path);
}

/* ---- Reading. ---- */

static void count_finding(void *context, const struct tw_finding *finding)
{
	(void)context;
	assert_true(strlen(finding->text) > 0);
	errors += finding->severity == TW_ERROR;
}

static void read_all(const uint8_t *bytes, size_t length, enum tw_order order, bool *marks)
{
	struct tw_reader *reader;
	struct tw_batch batch;
	const struct tw_read_options options = {.format = "fxt",
	                                        .order = order,
	                                        .jobs = 1,
	                                        .on_finding = count_finding};
	memset(marks, 0, ROOM);
	lost = errors = 0;
	int status = tw_open_memory(&reader, "test", bytes, length, &options);
	while (status >= 0 && (status = tw_read(reader, &batch)) > 0)
		for (size_t i = 0; i < batch.count; i++) {
			assert_in_range(batch.events[i].offset, 0, length);
			if (batch.events[i].kind == TW_LOST)
				lost += batch.events[i].value;
			else
				marks[batch.events[i].offset] = true;
		}
	assert_true(status == 0 || length == 0);
	tw_close(reader);
}

/* Events outside [from, to) must be there, those behind it moved by so many bytes. */
static void expect_others(size_t from, size_t to, size_t moved, const char *what)
{
	for (size_t at = 0; at < size; at++)
		if (wanted[at] && (at < from ? !found[at] : at >= to && !found[at + moved]))
			fail_msg("%s at 0x%zx, to 0x%zx, loses the event at 0x%zx", what, from, to + moved, at);
}

static void each_archive(void (*test)(void))
{
	static const char *const names[] = {"oneshot_all.fxt", "streaming.fxt"};
	for (unsigned i = 0; i < 4; i++) {
		load(names[i / 2], PART);
		if (i & 1)
			turn();
		read_all(whole, size, TW_ORDER_FILE, wanted);
		assert_int_equal(errors, 0);
		test();
	}
}

/* ---- Damage to headers. ---- */

static void hurt_header(uint64_t keep, uint64_t set, const char *what)
{
	for (size_t i = 0; i < record_count; i++) {
		memcpy(damaged, whole, size);
		uint64_t header = tw_load64(whole + records[i], big);
		tw_store64(damaged + records[i], (header & keep) | set, big);
		read_all(damaged, size, i % 3, found);
		expect_others(records[i], records[i + 1], 0, what);
		assert_true(lost > 0 && errors > 0);
	}
}

static void hurt_headers(void)
{
	hurt_header(0, 0, "a zero word");
	hurt_header(~UINT64_C(0xfff0), 0, "a size of 0");
	hurt_header(UINT64_MAX, 0xfff0, "a size past the end");
}

static void test_headers(void **state)
{
	(void)state;
	each_archive(hurt_headers);
}

/* ---- Random bytes. ---- */

static uint64_t seed;

static uint8_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint8_t)(seed >> 32);
}

static void insert(size_t at, size_t length)
{
	memcpy(damaged, whole, at);
	for (size_t i = 0; i < length; i++)
		damaged[at + i] = next_random();
	memcpy(damaged + at + length, whole + at, size - at);
	read_all(damaged, size + length, length % 3, found);
	expect_others(at, at, length, "random bytes");
	assert_int_equal(lost, length);
	assert_int_equal(errors, 1);
}

static void insert_all(void)
{
	static const size_t lengths[] = {1, 3, 7, 8, 9, 16, 40, 123, 1000, 5000};
	seed = UINT64_C(88172645463325252);
	for (size_t i = 2; i < record_count; i += 3)
		for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
			insert(records[i], lengths[k]);
}

static void test_random_bytes(void **state)
{
	(void)state;
	each_archive(insert_all);
}

static void overwrite_all(void)
{
	static const size_t lengths[] = {8, 11, 24, 100, 777};
	seed = 7;
	for (size_t i = 1; i + 1 < record_count; i++)
		for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
			size_t from = records[i], to = from + lengths[k], after = i;
			if (to > size)
				continue;
			memcpy(damaged, whole, size);
			for (size_t at = from; at < to; at++)
				damaged[at] = next_random();
			while (records[after] < to)
				after++;
			read_all(damaged, size, TW_ORDER_FILE, found);
			expect_others(from, records[after], 0, "overwritten bytes");
		}
}

static void test_overwritten(void **state)
{
	(void)state;
	each_archive(overwrite_all);
}

/* ---- Cuts. ---- */

static void cut_all(void)
{
	size_t last = 0;
	for (size_t length = 8; length < size; length++) {
		last += records[last + 1] <= length;
		memcpy(damaged, whole, length);
		read_all(damaged, length, length % 3, found);
		expect_others(records[last], size, 0, "a cut");
		if (lost != length - records[last])
			fail_msg("a cut at 0x%zx: lost %d, not %d", length, (int)lost, (int)(length - records[last]));
		assert_int_equal(errors, lost > 0);
	}
}

static void test_cuts(void **state)
{
	(void)state;
	each_archive(cut_all);
}

/* ---- Archives of many parts. ---- */

static void put(uint64_t word)
{
	tw_store64(whole + size, word, big);
	size += 8;
}

static void put_instant(uint64_t time)
{
	put(0x0000800001000024 | UINT64_C(0x8000) << 48); /* thread 1, empty inline strings */
	put(time);
}

static void put_head(void)
{
	put(0x0016547846040010);
	put(0x0000000000110010); /* provider 1 without a name */
	put(0x10033);            /* thread 1 */
	put(1);
	put(2);
}

enum { EMPTY = 0x8000 }; /* an inline string */

/* Instants, or whatever type it is, of so many ticks and more. */
static void put_named(unsigned type, unsigned name, uint64_t time, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		put(UINT64_C(0x01000024) | (uint64_t)type << 16 | (uint64_t)name << 48);
		put(time + i);
	}
}

/* A blob with more bytes than 12 bits of words can tell, and more than are read at a time. */
static void put_blob(size_t bytes)
{
	put(UINT64_C(0x1000000000f) | (uint64_t)(3 + bytes / 8) << 4);
	put(0);
	put(bytes);
	for (size_t i = 0; i < bytes; i++)
		whole[size + i] = (uint8_t)(i * 7);
	size += bytes;
}

static void count_blob(const uint8_t *bytes, size_t length, uint64_t *blob, uint64_t *instants)
{
	struct tw_reader *reader;
	struct tw_batch batch;
	const struct tw_read_options options = {.order = TW_ORDER_FILE, .on_finding = count_finding, .jobs = 2};
	*blob = *instants = errors = 0;
	assert_int_equal(tw_open_memory(&reader, "test", bytes, length, &options), 0);
	while (tw_read(reader, &batch) > 0)
		for (size_t i = 0; i < batch.count; i++) {
			const struct tw_event *event = &batch.events[i];
			const struct tw_argument *part = &batch.arguments[event->first_argument];
			*instants += event->kind == TW_INSTANT;
			if (event->kind != TW_BLOB)
				continue;
			for (uint64_t k = 0; k < part->size; k++)
				assert_int_equal(part->value.bytes[k], (uint8_t)((*blob + k) * 7));
			*blob += part->size;
		}
	tw_close(reader);
}

static void test_large_blob(void **state)
{
	uint64_t blob, instants;
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		size = 0;
		big = i;
		put_head();
		put_instant(1);
		size_t before = size;
		put_blob(LARGE);
		put_instant(2);
		put_instant(3);
		count_blob(whole, size, &blob, &instants);
		assert_true(blob == LARGE && instants == 3 && errors == 0);
		for (size_t cut = before + 32; cut < size - 40; cut += 99991) {
			count_blob(whole, cut, &blob, &instants);
			assert_true(blob == cut - before - 24 && instants == 1 && errors == 1);
		}
	}
}

/* Counts rows of a kind and the bytes that they have in their last arguments. */
static uint64_t count_kind(unsigned kind, const struct tw_read_options *options, uint64_t *rows)
{
	struct tw_reader *reader;
	struct tw_batch batch;
	uint64_t sum = 0;
	*rows = 0;
	assert_int_equal(tw_open_memory(&reader, "test", whole, size, options), 0);
	while (tw_read(reader, &batch) > 0)
		for (size_t i = 0; i < batch.count; i++) {
			const struct tw_event *event = &batch.events[i];
			if (event->kind != kind)
				continue;
			++*rows;
			if (event->argument_count)
				sum += batch.arguments[event->first_argument + event->argument_count - 1].size;
		}
	tw_close(reader);
	return sum;
}

/* A large record of a type that is not known goes on as what it is. */
static void test_large_unknown(void **state)
{
	uint64_t rows;
	const struct tw_read_options options = {.order = TW_ORDER_FILE};
	(void)state;
	size = 0;
	big = false;
	put_head();
	put(UINT64_C(0x300000000f) | (uint64_t)(1 + LARGE / 8) << 4);
	memset(whole + size, 'x', LARGE);
	size += LARGE;
	put_instant(2);
	assert_int_equal(count_kind(TW_METADATA, &options, &rows), LARGE);
	assert_true(rows > 1);
	count_kind(TW_SLICE_BEGIN, &options, &rows);
	assert_int_equal(rows, 0);
	count_kind(TW_INSTANT, &options, &rows);
	assert_int_equal(rows, 1);
}

/* Damage that begins as a large record of a type that is not known, and ends long before that would: so long that its
 * beginning and its end are not read at once. Wherever it is there. */
static void test_large_chance(void **state)
{
	enum { RECORD = 16, PIECE = 1 << 18, BEFORE = 5000 };
	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		size = 0;
		big = i & 1;
		unsigned instants = 0;
		put_head();
		while (size < BEFORE)
			put_named(0, EMPTY, size, 1);
		size_t from = size, to = from + 2 * PIECE - 3000 * (i / 2) + i;
		put(UINT64_C(0x31000000ff) | (uint64_t)(1 << 28) << 4);
		memset(whole + size, 0xf1, to - size);
		size = to;
		while (size < to + BEFORE)
			put_named(0, EMPTY, size, 1);
		read_all(whole, size, i % 3, found);
		for (size_t at = to; at < size; at += RECORD)
			assert_true(found[at]);
		assert_true(found[from - RECORD] && errors == 1);
		repair();
		read_all(whole, size, i % 3, found);
		assert_true(lost == 0 && errors == 0);
		for (size_t at = size - BEFORE; at < size; at++)
			instants += found[at];
		assert_true(instants >= BEFORE / RECORD - 1);
	}
}

/* A large blob of a thread that is not asked for is left out, all of it. */
static void test_large_filtered(void **state)
{
	static const uint64_t others[] = {99}, own[] = {2};
	const struct tw_read_options without = {.order = TW_ORDER_FILE, .threads = others, .thread_count = 1};
	const struct tw_read_options with = {.order = TW_ORDER_FILE, .threads = own, .thread_count = 1};
	uint64_t rows;
	(void)state;
	size = 0;
	big = false;
	put_head();
	put(0xf | (uint64_t)(4 + LARGE / 8) << 4); /* format 0: with time and thread */
	put(UINT64_C(1) << 36);
	put(5);
	put(LARGE);
	memset(whole + size, 'x', LARGE);
	size += LARGE;
	assert_int_equal(count_kind(TW_BLOB, &with, &rows), LARGE);
	count_kind(TW_BLOB, &without, &rows);
	assert_int_equal(rows, 0);
	count_kind(TW_SLICE_BEGIN, &without, &rows);
	assert_int_equal(rows, 0);
}

/* The same rows however many threads there are: names and tracks by number too. */
static uint64_t fingerprint(unsigned jobs, enum tw_order order)
{
	struct tw_reader *reader;
	struct tw_batch batch;
	uint64_t hash = 14695981039346656037u;
	const struct tw_read_options options = {.order = order, .jobs = jobs};
	assert_int_equal(tw_open_memory(&reader, "test", whole, size, &options), 0);
	while (tw_read(reader, &batch) > 0)
		for (size_t i = 0; i < batch.count; i++) {
			const struct tw_event *event = &batch.events[i];
			const uint64_t parts[] = {event->time,  event->offset, event->value, event->id,
			                          event->track, event->name,   event->kind,  event->argument_count};
			for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
				hash = (hash ^ parts[k]) * 1099511628211u;
		}
	tw_close(reader);
	return hash;
}

static void test_jobs(void **state)
{
	(void)state;
	size = 0;
	big = false;
	for (unsigned archive = 0; archive < 3; archive++, big = !big) {
		put_head();
		for (unsigned i = 0; i < 4000; i++) { /* an index that is registered again for each event */
			put(0x0000000400010022 | UINT64_C(0) << 48);
			memcpy(whole + size, "abcd\0\0\0", 8);
			whole[size] = (uint8_t)('a' + i % 26);
			whole[size + 1] = (uint8_t)('a' + i / 26 % 26);
			size += 8;
			put(0x0001000001020024); /* begin, name 1 */
			put(1000000 - i);
			if (i % 50 == 0)
				put(0x0000000000210010 ^ (i % 100 ? 0x300000 : 0)); /* sections */
			if (i % 50 == 1) {
				put(0x10033);
				put(1);
				put(i);
			}
		}
	}
	for (unsigned order = TW_ORDER_TRACK; order <= TW_ORDER_FILE; order++) {
		uint64_t one = fingerprint(1, (enum tw_order)order);
		assert_true(one == fingerprint(2, (enum tw_order)order));
		assert_true(one == fingerprint(5, (enum tw_order)order));
	}
}

/* Each event has the text that its index had just then. */
static void test_registered_again(void **state)
{
	struct tw_reader *reader;
	struct tw_batch batch;
	unsigned count = 0;
	(void)state;
	test_jobs(state);
	const struct tw_read_options options = {.order = TW_ORDER_FILE};
	assert_int_equal(tw_open_memory(&reader, "test", whole, size, &options), 0);
	while (tw_read(reader, &batch) > 0)
		for (size_t i = 0; i < batch.count; i++, count++) {
			const char *text = tw_dictionary_name(tw_reader_dictionary(reader), batch.events[i].name)->text;
			unsigned k = count % 4000;
			assert_int_equal(text[0], 'a' + k % 26);
			assert_int_equal(text[1], 'a' + k / 26 % 26);
		}
	assert_int_equal(count, 12000);
	tw_close(reader);
}

/* ---- Bytes missing before the last record: nothing follows it that would tell where it is. ---- */

static void lose_before_last(void)
{
	read_all(whole, size, TW_ORDER_FILE, wanted);
	size_t last = records[record_count - 1], before = records[record_count - 2];
	for (size_t k = 1; k < last - before; k++) {
		memcpy(damaged, whole, last - k);
		memcpy(damaged + last - k, whole + last, size - last);
		read_all(damaged, size - k, k % 3, found);
		expect_others(before, last, -k, "bytes missing before the last record");
	}
}

static void test_before_last(void **state)
{
	(void)state;
	load("streaming.fxt", PART); /* its last record refers to what is in the tables */
	lose_before_last();
	turn();
	lose_before_last();
}

/* ---- A byte missing of a header: with the one before it, it looks like one of something that is not there. ---- */

/* Whether it may as well be one of the record before, because all are the same. */
static bool may_be_before(size_t from, size_t k)
{
	size_t first = k;
	while (whole[first - 1] == whole[k])
		first--;
	return first < from;
}

static void lose_of_headers(void)
{
	for (size_t i = 1; i + 1 < record_count; i++)
		for (size_t k = records[i]; k < records[i] + 8; k++) {
			if (may_be_before(records[i], k))
				continue;
			memcpy(damaged, whole, k);
			memcpy(damaged + k, whole + k + 1, size - k - 1);
			read_all(damaged, size - 1, k % 3, found);
			expect_others(records[i], records[i + 1], (size_t)-1, "a byte missing of a header");
		}
}

static void test_short_headers(void **state)
{
	(void)state;
	each_archive(lose_of_headers);
}

/* ---- A byte too many before a record of 32 KB. ---- */

static size_t put_word(size_t at, uint64_t word)
{
	tw_store64(whole + at, word, big);
	return at + 8;
}

/* A record with so many bytes of text behind its header: an instant's name, a log's message, a blob. */
static size_t put_long(size_t at, uint64_t header, uint64_t time, size_t length)
{
	put_word(at, header | (uint64_t)(length / 8 + 1 + (time != 0)) << 4);
	at = time ? put_word(at + 8, time) : at + 8;
	memset(whole + at, 'x', length);
	return at + length;
}

/* Whatever byte it is: with it the header says that a record of an unknown type is there, or one of another size. What
 * comes after that is as strange. */
static void test_byte_before_long(void **state)
{
	enum { NAME = 32000, BLOB = 32736 };
	(void)state;
	big = false;
	size = put_word(0, UINT64_C(0x0016547846040010));
	size = put_word(put_word(put_word(size, 0x33 | 2 << 16), 1000), 1002);
	size = put_long(size, UINT64_C(2) | 1 << 16 | UINT64_C(8) << 32, 0, 8);
	size_t first = size;
	size = put_long(size, UINT64_C(4) | 2 << 24 | (uint64_t)(0x8000 | NAME) << 48, 5700, NAME);
	size = put_long(size, UINT64_C(5) | 1 << 16 | (uint64_t)BLOB << 32 | UINT64_C(1) << 48, 0, BLOB);
	for (size_t i = 0; i < BLOB; i++)
		whole[size - BLOB + i] = (uint8_t)(7 * i);
	for (unsigned i = 0; i < 4; i++)
		size = put_word(put_word(size, UINT64_C(0x24) | 2 << 24 | UINT64_C(1) << 48), 5800 + i);
	read_all(whole, size, TW_ORDER_FILE, wanted);
	for (unsigned byte = 0; byte < 256; byte++) {
		memcpy(damaged, whole, first);
		damaged[first] = (uint8_t)byte;
		memcpy(damaged + first + 1, whole + first, size - first);
		read_all(damaged, size + 1, TW_ORDER_FILE, found);
		char what[32];
		snprintf(what, sizeof what, "a byte too many, 0x%02x,", byte);
		expect_others(first, first, 1, what);
	}
}

/* ---- Bytes missing of a record, which swallows as many of the next. ---- */

static void put_text(const char *text, size_t length)
{
	memset(whole + size, 0, (length + 7) / 8 * 8);
	memcpy(whole + size, text, length);
	size += (length + 7) / 8 * 8;
}

static void lose(size_t from, size_t length)
{
	memcpy(damaged, whole, from);
	memcpy(damaged + from, whole + from + length, size - from - length);
	read_all(whole, size, TW_ORDER_FILE, wanted);
	read_all(damaged, size - length, TW_ORDER_FILE, found);
}

/* The initialization record ends in the string record behind it: that one is read, and the clock is as it was. */
static void test_short_initialization(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		size = 0;
		big = i;
		put_head();
		put(0x21);
		size_t clock = size;
		put(1000);
		put(UINT64_C(0x300010022)); /* string 1 */
		put_text("cat", 3);
		put_named(0, 1, 1000, 5);
		lose(clock, 8);
		expect_others(clock - 8, clock + 8, (size_t)-8, "bytes missing of the initialization record");
		assert_true(lost == 8 && errors == 1);
		struct tw_reader *reader;
		struct tw_batch batch;
		assert_int_equal(tw_open_memory(&reader, "test", damaged, size - 8, NULL), 0);
		assert_true(tw_read(reader, &batch) > 0);
		const struct tw_event *last = &batch.events[batch.count - 1];
		assert_string_equal(tw_dictionary_name(tw_reader_dictionary(reader), last->name)->text, "cat");
		assert_int_equal(last->time, 1004); /* ns: nothing says how long a tick is */
		tw_close(reader);
	}
}

/* A provider info record that ends in a string record: nothing is announced. Where its name is whole, it is. */
static void test_short_provider(void **state)
{
	enum { NAME = 16, MISSING = 15 };
	(void)state;
	for (unsigned i = 0; i < 2 * MISSING; i++) {
		size_t missing = i / 2 + 1;
		size = 0;
		big = i & 1;
		put_head();
		put(UINT64_C(0x300010022)); /* string 1 */
		put_text("cat", 3);
		size_t info = size;
		put(UINT64_C(0x210030) | (uint64_t)NAME << 52); /* of provider 2 */
		put_text("sixteen letters.", NAME);
		size_t behind = size;
		put(UINT64_C(0x400020022)); /* string 2 */
		put_text("name", 4);
		put_named(2, EMPTY, 1000, 20);
		lose(behind - missing, missing);
		expect_others(info, behind, -missing, "bytes missing of a provider's name");
		assert_true(errors == 1);
		assert_true(lost == behind - info - missing);
		memcpy(damaged, whole, size);
		memset(damaged + behind, 0xff, 8);
		read_all(damaged, size, TW_ORDER_FILE, found);
		assert_true(lost == 16 && errors == 2); /* nobody has registered thread 1 again */
		expect_others(behind, behind + 16, 0, "damage behind a provider's name");
	}
}

/* Random bytes that begin as a provider info record does are none: what refers to the tables still does. */
static void test_chance_provider(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		size = 0;
		big = i;
		put_head();
		put(UINT64_C(0x300010022)); /* string 1 */
		put_text("cat", 3);
		put(UINT64_MAX);
		put(UINT64_C(0x00a0007000110030)); /* ten bytes of name */
		put(UINT64_C(0x2379a40000));
		put(UINT64_C(0x0101001144000000));
		put(UINT64_C(0x000000237a6c0003));
		put_named(0, 1, 2000, 10);
		read_all(whole, size, TW_ORDER_FILE, found);
		assert_true(lost == 40 && errors == 1);
	}
}

/* A name that was lost before does not make worse what refers to it. */
static void test_short_unnamed(void **state)
{
	enum { RECORD = 16, MISSING = 7 };
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		size = 0;
		big = i;
		put_head();
		put_named(2, 5, 1000, 20); /* nothing is registered as 5 */
		for (size_t k = 1; k <= MISSING; k++) {
			size_t from = size - 10 * RECORD;
			lose(from - k, k);
			expect_others(from - RECORD, from, (size_t)-k, "bytes missing before an unknown name");
		}
	}
}

/* Nor what no record behind it refers to, as long as the damaged one does. */
static void test_short_unnamed_twice(void **state)
{
	enum { MISSING = 7 };
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		size = 0;
		big = i;
		put_head();
		put(UINT64_C(0x400010022)); /* string 1 */
		put_text("step", 4);
		put_named(2, 5, 1000, 1); /* nothing is registered as 5 */
		size_t from = size;
		put_named(3, 5, 1001, 1);
		put_named(0, 1, 1002, 20);
		for (size_t k = 1; k <= MISSING; k++) {
			lose(from - k, k);
			expect_others(from - 16, from, (size_t)-k, "bytes missing of an unknown name");
		}
	}
}

/* The end of a duration has no name, but what it measured. */
static void test_short_nameless(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		size = 0;
		big = i;
		put_head();
		put_named(0, EMPTY, 1000, 5);
		size_t from = size;
		put(UINT64_C(0x01130034)); /* with an argument */
		put(1001);
		put(UINT64_C(0x580000011)); /* int32 without a name */
		put_named(0, EMPTY, 1002, 20);
		for (size_t k = 1; k < 8; k++) {
			lose(from - k, k);
			expect_others(from - 16, from, (size_t)-k, "bytes missing before the end of a duration");
		}
	}
}

/* A blob that holds records is not one that has swallowed them, whatever comes behind it. */
static void test_blob_of_records(void **state)
{
	enum { RECORD = 16, HELD = 10 };
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		size = 0;
		big = i;
		put_head();
		put(UINT64_C(0x80000005) | (1 + HELD * RECORD / 8) << 4 | (uint64_t)(HELD * RECORD) << 32);
		put_named(0, EMPTY, 1000, HELD);
		size_t behind = size;
		put_named(0, EMPTY, 2000, HELD);
		read_all(whole, size, TW_ORDER_FILE, wanted);
		memcpy(damaged, whole, size);
		memset(damaged + behind, 0xff, 8);
		read_all(damaged, size, TW_ORDER_FILE, found);
		expect_others(behind, behind + RECORD, 0, "damage behind a blob");
		assert_true(lost == RECORD && errors == 1);
	}
}

/* The same wherever it is in what is read at a time. */
static void test_short_anywhere(void **state)
{
	enum { STEP = 4000, PIECE = 1 << 18, NAME = 40 };
	(void)state;
	big = false;
	for (size_t place = PIECE - 10 * STEP; place < PIECE + STEP; place += STEP) {
		size = 0;
		put_head();
		while (size < place)
			put_named(0, EMPTY, size, 1);
		size_t from = size;
		put(UINT64_C(0x01000074) | (uint64_t)(0x8000 | NAME) << 48);
		put(size);
		put_text("the quick brown fox jumps over all dogs", NAME);
		size_t to = size;
		while (size < PIECE + 20 * STEP)
			put_named(0, EMPTY, size, 1);
		lose(to - 8, 8);
		expect_others(from, to, (size_t)-8, "bytes missing of a name");
		assert_true(lost == to - from - 8 && errors == 1);
	}
}

/* Damaged bytes make the header of a legacy context switch to thread 86, which nothing is known of. As its outgoing
 * thread a string record would fit in. */
static void test_chance(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		size = 0;
		big = i;
		put_head();
		put(UINT64_MAX);
		put(UINT64_C(0x56000000048));
		put(1);
		put(UINT64_C(0x400010022)); /* string 1 */
		put_text("step", 4);
		put_named(0, 1, 2000, 10);
		read_all(whole, size, TW_ORDER_FILE, found);
		assert_true(lost == 24 && errors == 1);
	}
}

/* A byte too many, and seven of the record before it, are a blob of no bytes, of a name that nobody has registered. */
static void test_blob_of_chance(void **state)
{
	(void)state;
	size = 0;
	big = true;
	put_head();
	put(UINT64_C(0x01040034) | UINT64_C(0x8000) << 48); /* complete */
	put(0x235938);
	put(0x235a00);
	size_t from = size;
	put_named(0, EMPTY, 0x235a64, 10);
	read_all(whole, size, TW_ORDER_FILE, wanted);
	memcpy(damaged, whole, from);
	damaged[from] = 0x15;
	memcpy(damaged + from + 1, whole + from, size - from);
	read_all(damaged, size + 1, TW_ORDER_FILE, found);
	expect_others(from, from, 1, "a byte too many");
	assert_true(lost == 1 && errors == 1);
}

/* Records of one word, up to the end of what is read at a time: nothing behind it is looked at, as asan tells. */
static void test_words(void **state)
{
	enum { WORDS = 1 << 16 };
	(void)state;
	big = false;
	size = 0;
	put_head();
	for (unsigned i = 0; i < WORDS; i++)
		put(UINT64_C(0x120010)); /* section of provider 1 */
	for (unsigned order = TW_ORDER_TRACK; order <= TW_ORDER_FILE; order++) {
		read_all(whole, size, (enum tw_order)order, found);
		assert_true(lost == 0 && errors == 0);
	}
}

/* What follows looks like records of strange types, because the bytes are alike. */
static void test_short_before_strange(void **state)
{
	enum { NAME = 32000, BLOB = 32736 };
	(void)state;
	big = false;
	size = 0;
	put_head();
	size_t from = size;
	size = put_long(size, UINT64_C(4) | 1 << 24 | (uint64_t)(0x8000 | NAME) << 48, 5700, NAME);
	size_t to = size;
	size = put_long(size, UINT64_C(5) | (uint64_t)BLOB << 32 | UINT64_C(1) << 48, 0, BLOB);
	for (size_t i = 0; i < BLOB; i++)
		whole[size - BLOB + i] = (uint8_t)(7 * i);
	put_named(0, EMPTY, 5800, 4);
	for (size_t length = 1; length < 1200; length += 7) {
		lose(from + 5000, length);
		expect_others(from, to, -length, "bytes missing of a long name");
	}
}

static void put_string(unsigned index, const char *text)
{
	size_t length = strlen(text);
	put(2 | (1 + (length + 7) / 8) << 4 | (uint64_t)index << 16 | (uint64_t)length << 32);
	put_text(text, length);
}

/* Chance makes the section of a provider that was not announced: with what is no record behind it, it takes the names of
 * nobody away. */
static void test_chance_section(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		size = 0;
		big = i;
		put_head();
		put_string(1, "cat");
		put(UINT64_C(0x8700020010));
		put(0);
		put_named(0, 1, 80, 4);
		read_all(whole, size, TW_ORDER_FILE, found);
		assert_true(lost == 16 && errors == 1);
	}
}

/* A record of a type that nobody knows is one between good ones. The end of a slice at tick 74 looks like a module that
 * ends where it does; half a number and half of its header, like an event of known names. */
static void test_unknown_between(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		size = 0;
		big = i;
		put_head();
		put_string(0x3b, "cat");
		put_string(0x80, "name");
		put(UINT64_C(0x0080003b01040034)); /* complete */
		put(70);
		put(74);
		put(0x80003b);
		put(5);
		put(7);
		put_named(0, 0x80, 80, 4);
		put(UINT64_C(0x0080003b01120044)); /* begin, with a number */
		put(90);
		put(0x800024);
		put(UINT64_C(0x4412345678));
		put(0x80003b);
		put(5);
		put(7);
		put_named(0, 0x80, 100, 4);
		read_all(whole, size, TW_ORDER_FILE, found);
		assert_true(lost == 0 && errors == 0);
	}
}

/* Behind a string record of which bytes are missing stand two records, and something that is none: they are not as many
 * as tell by themselves that they are some, but they leave nothing out between it and what can be told for a record.
 * Where what is missing is as much as the next header's first zeros, it may be these as well. */
static void test_short_before_few(void **state)
{
	enum { TEXT = 4, PADDING = 4, PAYLOAD = 37 };
	(void)state;
	for (unsigned i = 0; i < 2 * PADDING; i++) {
		size_t missing = i / 2 + 1;
		size = 0;
		big = i & 1 && missing > 1;
		put_head();
		size_t from = size;
		put_string(31, "blob");
		size_t to = size;
		put(UINT64_C(0x00010025001f0065));
		put_text("this is some data that we are writing", PAYLOAD);
		put_string(32, "empty");
		put(0);
		put_named(0, 32, 1000, 5);
		lose(to - missing, missing);
		expect_others(from, to, -missing, "bytes missing of a string's padding");
		assert_true(wanted[to] && lost == 16 - missing + 8 &&
		            errors == 3); /* the third: the name of the blob */
	}
}

/* With two bytes missing of one string record, the next begins as a blob of no bytes, whose type does not exist, before
 * the reader comes to what is none. */
static void test_short_before_chance(void **state)
{
	(void)state;
	size = 0;
	big = false;
	put_head();
	put_string(1, "cat");
	put_string(20, "x");
	size_t to = size;
	put_string(21, "y");
	put_string(22, "z");
	put_named(0, 21, 1000, 5);
	lose(to - 2, 2);
	expect_others(to, to, (size_t)-2, "bytes missing of a string's padding");
	assert_true(lost == 14 && errors == 1);
}

/* A word is missing of a blob, so that the header of a log record is seen in it whose message would be a string record
 * and an event: no text has such bytes, and it ends where the event does. */
static void test_short_before_flawed(void **state)
{
	enum { BLOB = 32, MESSAGE = 32 };
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		size = 0;
		big = i;
		put_head();
		size_t from = size;
		put(UINT64_C(0x0001001800000045));
		put(0);
		put(UINT64_C(0x69) | (uint64_t)MESSAGE << 16 | UINT64_C(1) << 32);
		put(1);
		put_string(1, "name");
		put_named(0, 1, UINT64_C(0xfedcba98), 6);
		lose(from + 8, 8);
		expect_others(from, from + BLOB, (size_t)-8, "a word missing of a blob");
		assert_true(lost == BLOB - 8 && errors == 1);
	}
}

/* One that has no thread is there whoever is asked for, and nothing else is made of its parts. */
static void test_large_of_nobody(void **state)
{
	static const uint64_t others[] = {99};
	const struct tw_read_options options = {.order = TW_ORDER_FILE, .threads = others, .thread_count = 1};
	uint64_t rows;
	(void)state;
	size = 0;
	big = false;
	put_head();
	put_blob(LARGE);
	assert_int_equal(count_kind(TW_BLOB, &options, &rows), LARGE);
	assert_true(rows > 1);
	count_kind(TW_SLICE_BEGIN, &options, &rows);
	assert_int_equal(rows, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_headers),
	    cmocka_unit_test(test_random_bytes),
	    cmocka_unit_test(test_overwritten),
	    cmocka_unit_test(test_cuts),
	    cmocka_unit_test(test_large_blob),
	    cmocka_unit_test(test_large_unknown),
	    cmocka_unit_test(test_large_chance),
	    cmocka_unit_test(test_large_filtered),
	    cmocka_unit_test(test_large_of_nobody),
	    cmocka_unit_test(test_jobs),
	    cmocka_unit_test(test_registered_again),
	    cmocka_unit_test(test_byte_before_long),
	    cmocka_unit_test(test_before_last),
	    cmocka_unit_test(test_short_headers),
	    cmocka_unit_test(test_short_initialization),
	    cmocka_unit_test(test_short_provider),
	    cmocka_unit_test(test_chance_provider),
	    cmocka_unit_test(test_short_unnamed),
	    cmocka_unit_test(test_short_unnamed_twice),
	    cmocka_unit_test(test_short_nameless),
	    cmocka_unit_test(test_blob_of_records),
	    cmocka_unit_test(test_short_anywhere),
	    cmocka_unit_test(test_short_before_strange),
	    cmocka_unit_test(test_chance),
	    cmocka_unit_test(test_words),
	    cmocka_unit_test(test_blob_of_chance),
	    cmocka_unit_test(test_unknown_between),
	    cmocka_unit_test(test_chance_section),
	    cmocka_unit_test(test_short_before_few),
	    cmocka_unit_test(test_short_before_chance),
	    cmocka_unit_test(test_short_before_flawed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
