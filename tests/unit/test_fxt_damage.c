/* test_fxt_damage.c - whatever happens to one place of an archive, every event elsewhere is delivered, and the loss is
 * told. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt_archive.h"
#include "suite.h"

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

static void test_hurt_headers(void **state)
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

static void test_cut_at_each_byte(void **state)
{
	(void)state;
	each_archive(cut_all);
}
/* ---- Archives of many parts. ---- */

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

/* Whatever a large record has behind an empty payload is written once. */
static void test_large_empty(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		size = 0;
		big = i;
		put_head();
		put(UINT64_C(0x1000000000f) | 5 << 4); /* format 1: names, size of the payload, two words more */
		put(0);
		put(0);
		put(0x0102030405060708);
		put(0x1112131415161718);
		put_instant(2);
		size_t before = size;
		memcpy(damaged, whole, size);
		repair();
		assert_int_equal(size, before);
		assert_memory_equal(whole, damaged, size);
	}
}

/* The contents of a large record of a type that is not known are words: of one that is cut off all that are whole are
 * kept, and its size is that of these. */
static void test_large_cut(void **state)
{
	enum { WORDS = 40 };
	(void)state;
	for (unsigned i = 0; i < 2 * TW_FXT_WORD; i++) {
		size = 0;
		big = i & 1;
		put_head();
		size_t from = size;
		put(UINT64_C(0x300000000f) | 1000 << 4);
		memset(whole + size, 'x', WORDS * TW_FXT_WORD + i / 2);
		size += WORDS * TW_FXT_WORD + i / 2;
		memcpy(damaged, whole, size);
		repair();
		assert_int_equal(size, from + (1 + WORDS) * TW_FXT_WORD);
		assert_int_equal(tw_load64(whole + from, big), UINT64_C(0x300000000f) | (1 + WORDS) << 4);
		assert_memory_equal(whole + from + TW_FXT_WORD, damaged + from + TW_FXT_WORD, WORDS * TW_FXT_WORD);
	}
}

/* The header of an object with reserved bits set stands where there is none: it ends at a time that looks like the header
 * of a blob that is too long. The words behind it are switches all the same, whoever counts them. */
static void test_counted(void **state)
{
	enum { EACH = 500 };
	static const uint64_t time = UINT64_C(0x6400000025);
	const struct tw_read_options options = {.order = TW_ORDER_FILE, .on_finding = count_finding};
	struct tw_reader *reader;
	struct tw_info info;
	uint64_t rows;
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		size = 0;
		big = i;
		put_head();
		for (unsigned k = 0; k < 2 * EACH; k++) {
			if (k == EACH)
				put(UINT64_C(0xd000000000000066));
			put(UINT64_C(0x9090000028)); /* an old switch of threads that nobody registered */
			put(time);
		}
		count_kind(TW_SWITCH, &options, &rows);
		assert_int_equal(rows, 2 * EACH);
		assert_int_equal(tw_open_memory(&reader, "test", whole, size, &options), 0);
		assert_int_equal(tw_read_info(reader, 1, &info), 0);
		assert_int_equal(info.events, 2 * EACH);
		tw_close(reader);
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

static void test_same_with_any_number_of_jobs(void **state)
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
	test_same_with_any_number_of_jobs(state);
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

/* A provider that is announced again has none of the names that it had, even where all of them were looked up in the
 * same piece of the file. */
static void test_announced_again(void **state)
{
	enum { BEFORE = 30000, BEHIND = 10 };
	struct tw_reader *reader;
	struct tw_batch batch;
	unsigned count = 0;
	(void)state;
	size = 0;
	big = false;
	put_head();
	put(0x0000000400010022); /* string 1 */
	memcpy(whole + size, "abcd\0\0\0", 8);
	size += 8;
	put_named(0, 1, 1000, BEFORE);
	put(0x0000000000110010); /* provider 1 */
	put(0x10033);            /* thread 1 */
	put(1);
	put(2);
	put_named(0, 1, 2000, BEHIND);
	const struct tw_read_options options = {.order = TW_ORDER_FILE, .jobs = 1};
	assert_int_equal(tw_open_memory(&reader, "test", whole, size, &options), 0);
	while (tw_read(reader, &batch) > 0)
		for (size_t i = 0; i < batch.count; i++, count++) {
			const char *text = tw_dictionary_name(tw_reader_dictionary(reader), batch.events[i].name)->text;
			assert_int_equal(strcmp(text, "abcd") == 0, count < BEFORE);
		}
	assert_int_equal(count, BEFORE + BEHIND);
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

/* ---- How much evidence it takes. ---- */

enum { GARBAGE = 64 };

static void put_garbage(void)
{
	memset(whole + size, 0xff, GARBAGE);
	size += GARBAGE;
}

static void put_instants(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		put_instant(100);
}

static void begin_archive(void)
{
	size = 0;
	big = false;
	put_head();
	put_instants(5);
}

static void expect_lost(uint64_t bytes)
{
	put_instants(5);
	read_all(whole, size, TW_ORDER_FILE, found);
	assert_int_equal(lost, bytes);
}

/* Records of an unknown type, with garbage behind the last: one is believed that has eight like it behind it. */
static void test_strange_records(void **state)
{
	enum { BEHIND = 8, MOST = 12, STRANGE_SIZE = 16 };
	(void)state;
	for (unsigned count = 1; count <= MOST; count++) {
		begin_archive();
		for (unsigned i = 0; i < count; i++) {
			put(0x2c);
			put(UINT64_MAX);
		}
		put_garbage();
		expect_lost((count < BEHIND ? count : BEHIND) * STRANGE_SIZE + GARBAGE);
	}
}

/* Events that nothing but their size speaks for, with garbage before and behind them: three in a row are believed. */
static void test_records_in_garbage(void **state)
{
	enum { CHAIN = 3, MOST = 5, INSTANT_SIZE = 16 };
	(void)state;
	for (unsigned count = 1; count <= MOST; count++) {
		begin_archive();
		put_garbage();
		size_t first = size;
		put_instants(count);
		put_garbage();
		expect_lost(2 * GARBAGE + (count < CHAIN ? count * INSTANT_SIZE : 0));
		assert_int_equal(found[first], count >= CHAIN);
	}
}

/* An event whose argument says a size of 0. Its last word, and two that are none, look like a thread record of index 0,
 * which sets nothing, that leads to where records go on. */
static void test_thread_of_damage(void **state)
{
	enum { WORDS = 6 };
	(void)state;
	begin_archive();
	put(0x0001000101100044);
	put(100);
	put(0x0000000500010001);
	put(0x33);
	put(UINT64_MAX);
	put(UINT64_MAX);
	expect_lost(WORDS * 8);
}

SUITE(fxt_damage)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_hurt_headers),     cmocka_unit_test(test_random_bytes),
	    cmocka_unit_test(test_overwritten),      cmocka_unit_test(test_cut_at_each_byte),
	    cmocka_unit_test(test_large_blob),       cmocka_unit_test(test_large_unknown),
	    cmocka_unit_test(test_large_chance),     cmocka_unit_test(test_large_filtered),
	    cmocka_unit_test(test_large_of_nobody),  cmocka_unit_test(test_same_with_any_number_of_jobs),
	    cmocka_unit_test(test_registered_again), cmocka_unit_test(test_announced_again),
	    cmocka_unit_test(test_byte_before_long), cmocka_unit_test(test_before_last),
	    cmocka_unit_test(test_short_headers),    cmocka_unit_test(test_large_empty),
	    cmocka_unit_test(test_large_cut),        cmocka_unit_test(test_counted),
	    cmocka_unit_test(test_strange_records),  cmocka_unit_test(test_records_in_garbage),
	    cmocka_unit_test(test_thread_of_damage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
