/* test_tracelog_records.c - lines of TraceLog: what each means, that it is encoded as it was, and what is wrong where.
 *
 * The lines are those of the document's kinds in the spellings of each of the profiler's versions
 * (doc/formats/tracelog.md); their meanings were read off them by hand. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <trackway/tracelog.h>

#include "tracelog/format/layout.h"

#include "suite.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { TEXT_MAX = 4096 };

/* ---- A record as text: every member that is not 0. Ids are hexadecimal. ---- */

struct text {
	char bytes[TEXT_MAX];
	size_t size;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *text, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int took = vsnprintf(text->bytes + text->size, TEXT_MAX - text->size, format, arguments);
	va_end(arguments);
	assert_in_range(took, 0, TEXT_MAX - 1 - text->size);
	text->size += (size_t)took;
}

static void put_hex(struct text *text, const char *name, uint64_t number)
{
	if (number)
		put(text, " %s=%" PRIx64, name, number);
}

static void put_decimal(struct text *text, const char *name, uint64_t number)
{
	if (number)
		put(text, " %s=%" PRIu64, name, number);
}

static void put_text(struct text *text, const char *name, struct tw_tracelog_text bytes)
{
	if (bytes.bytes)
		put(text, " %s=<%.*s>", name, (int)bytes.size, (const char *)bytes.bytes);
}

static void put_ip(struct text *text, uint64_t ip, bool has, bool known)
{
	if (has && known)
		put(text, " ip=%" PRIx64, ip);
	else if (has)
		put(text, " ip=?");
	assert_true(has || !known);
}

static void put_ids(struct text *text, const struct tw_tracelog_record *record)
{
	static const char *const forms[] = {"thread", "os", "thread?"};
	put_hex(text, forms[record->thread_form], record->thread);
	put_hex(text, "iid", record->iid);
	put_hex(text, "id", record->id);
	put_hex(text, "base", record->base);
	put_hex(text, "assembly", record->assembly);
	put_hex(text, "domain", record->domain);
	put_hex(text, "module", record->module);
	put_hex(text, "class", record->class_id);
	put_hex(text, "process", record->process);
	put_hex(text, "token", record->token);
	put_hex(text, "status", record->status);
	put_decimal(text, "os_thread", record->os_thread);
}

static void put_date(struct text *text, const struct tw_tracelog_record *record)
{
	if (record->year)
		put(text, " %u-%u-%u %u:%u:%u.%u", record->year, record->month, record->day, record->hour,
		    record->minute, record->second, record->millisecond);
	if (record->has_zone)
		put(text, " zone=%d", record->zone_minutes);
}

static void put_source(struct text *text, const struct tw_tracelog_record *record)
{
	put_hex(text, "line", record->line);
	put_hex(text, "file", record->file);
	put_decimal(text, "from", record->start_line);
	put_decimal(text, "column", record->start_column);
	put_decimal(text, "to", record->end_line);
	put_decimal(text, "column", record->end_column);
}

static void put_item(struct text *text, const struct tw_tracelog_item *item)
{
	static const char *const kinds[] = {"code", "map", "frame", "class", "heap"};
	put(text, " [%s", kinds[item->kind]);
	put_hex(text, "iid", item->iid);
	put_text(text, "name", item->name);
	put_decimal(text, "count", item->count);
	put_decimal(text, "bytes", item->bytes);
	put_decimal(text, "reserved", item->reserved);
	put_hex(text, "start", item->start);
	put_hex(text, "end", item->end);
	if (item->il)
		put(text, " il=%" PRId64, item->il);
	put_ip(text, item->ip, item->has_ip, item->ip_known);
	put_hex(text, "style", item->style);
	put_hex(text, "odd", item->odd);
	put(text, "]");
}

static void put_list(struct text *text, const struct tw_tracelog_record *record)
{
	struct tw_tracelog_text list = record->list;
	struct tw_tracelog_item item;
	struct tw_tracelog_fault fault;
	int status;
	while ((status = tw_tracelog_next(record, &list, &item, &fault)) != 0) {
		if (status > 0)
			put_item(text, &item);
		else
			put(text, " [fault %zu <%s>]", fault.at, fault.expected);
	}
	assert_int_equal(list.size == 0 || record->kind == TW_TRACELOG_UNKNOWN, true);
}

static void describe(struct text *text, const struct tw_tracelog_record *record)
{
	text->size = 0;
	put(text, "%s", tw_tracelog_kind_name(record->kind));
	put_ids(text, record);
	put_decimal(text, "ms", record->ms);
	put_decimal(text, "us", record->us);
	if (record->has_count)
		put(text, " count=%" PRIu64, record->count);
	put_decimal(text, "match", record->match);
	put_decimal(text, "depth", record->depth);
	put_ip(text, record->ip, record->has_ip, record->ip_known);
	if (record->generation_count)
		put(text, " generations=%x/%u induced=%d reason=%.*s", record->generations, record->generation_count,
		    record->induced, (int)record->reason.size, (const char *)record->reason.bytes);
	put_text(text, "surplus", record->surplus);
	put_date(text, record);
	put_source(text, record);
	put_text(text, "name", record->name);
	put_text(text, "value", record->value);
	put_text(text, "returns", record->return_type);
	put_text(text, "signature", record->signature);
	put_hex(text, "style", record->style);
	put_list(text, record);
}

/* ---- Lines. ---- */

static int decode(const char *line, size_t size, struct tw_tracelog_record *record, struct tw_tracelog_fault *fault)
{
	int status = tw_tracelog_decode((const uint8_t *)line, size, record, fault);
	assert_int_equal(record->size, size);
	return status;
}

static void expect_encoded(const struct tw_tracelog_record *record, const char *expected, size_t size)
{
	size_t room = 3 * record->size + 512;
	uint8_t *bytes = malloc(room);
	assert_non_null(bytes);
	int64_t took = tw_tracelog_encode(record, bytes, room);
	if (took != (int64_t)size || memcmp(bytes, expected, size) != 0)
		fail_msg("encoded as %.*s, not %.*s", took < 0 ? 0 : (int)took, (const char *)bytes, (int)size,
		         expected);
	assert_int_equal(tw_tracelog_encode(record, bytes, size - 1), TW_ERR_ROOM);
	assert_int_equal(tw_tracelog_encode(record, bytes, size), size);
	free(bytes);
}

#define D0 (1 << TW_TRACELOG_D0)
#define D1 (1 << TW_TRACELOG_D1)
#define D2 (1 << TW_TRACELOG_D2)
#define D3 (1 << TW_TRACELOG_D3)
#define VS (1 << TW_TRACELOG_VS)
#define ALL (D0 | D1 | D2 | D3 | VS)

/* A line as the profiler writes it, without its end, and what it means. */
static const struct meaning {
	const char *line, *meaning;
	int dialects;
} meanings[] = {
    {"prf stm 2018-06-25 07:24:28.049", "prf-stm 2018-6-25 7:24:28.49", D1 | D2 | D3 | VS},
    {"prf stm 2018-06-25 07:24:28.049 +09:00", "prf-stm 2018-6-25 7:24:28.49 zone=540", D3 | VS},
    {"prf stm 2018-12-31 23:59:60.999 -03:30", "prf-stm 2018-12-31 23:59:60.999 zone=-210", D3 | VS},
    {"prf cfg CollectionMethod Sampling", "prf-cfg name=<CollectionMethod> value=<Sampling>", ALL},
    {"prf cfg A:B two  words", "prf-cfg name=<A:B> value=<two  words>", ALL},
    {"prf tps 150", "prf-tps ms=150", ALL},
    {"prf trs 2147483647", "prf-trs ms=2147483647", ALL},
    {"prf trs -2147483648", "prf-trs ms=2147483648", ALL},
    {"prf trs -1", "prf-trs ms=4294967295", ALL},
    {"prc cpu 80 12345", "prc-cpu ms=80 us=12345", ALL},
    {"thr crt 0xB6A01000 0x0000000a", "thr-crt thread=a id=b6a01000 style=1", ALL},
    {"thr crt 0x00007F0003000000 0x00000000", "thr-crt id=7f0003000000", ALL},
    {"thr aos 0x0000000A 4200", "thr-aos thread=a os_thread=4200 style=20", ALL},
    {"thr dst 0x00000001", "thr-dst thread=1", ALL},
    {"thr cpu 0x00000000 90 18446744073709551586", "thr-cpu ms=90 us=18446744073709551586", ALL},
    {"mod ldf 0xB6B00000 0xB4000000 0xB6C00000 0x80131522 \"/usr/share/a b.dll\"",
     "mod-ldf id=b6b00000 base=b4000000 assembly=b6c00000 status=80131522 name=</usr/share/a b.dll> style=1", ALL},
    {"mod ata 0x0000000000000001 0xFFFFFFFFFFFFFFFF", "mod-ata id=1 assembly=ffffffffffffffff", ALL},
    {"asm ldf 0xB6C00000 0xB6A00100 0xB6B00000 0x00000000 \"UNKNOWN\"",
     "asm-ldf id=b6c00000 domain=b6a00100 module=b6b00000 name=<UNKNOWN> style=1", ALL},
    {"apd crf 0xB6A00100 0x00001068 0x00000000 \"\"", "apd-crf id=b6a00100 process=1068 name=<> style=1", ALL},
    {"cls ldf 0xB6D00000 0x00000003 0xB6B00000 0x02000010 0x00000000",
     "cls-ldf iid=3 id=b6d00000 module=b6b00000 token=2000010 style=1", D1 | D2 | D3 | VS},
    {"cls ldf 0xB6D00000 0xB6B00000 0x02000010 0x00000000", "cls-ldf id=b6d00000 module=b6b00000 token=2000010 style=9",
     D0},
    {"cls ldf 0x00000000B6D00000 0x00000000B6B00000 0x0200001f 0x00000000",
     "cls-ldf id=b6d00000 module=b6b00000 token=200001f style=8", D0},
    {"cls nam 0x00000002 \"System.Dictionary<T=System.String, U=System.Int32>\"",
     "cls-nam iid=2 name=<System.Dictionary<T=System.String, U=System.Int32>>", D1 | D2 | D3 | VS},
    {"fun inf 0x00000002 0xB6E00000 0xB6D00000 0xB6B00000 0x06000001 0xB2000000:0x80 0xB2000100:0x2f "
     "0xfffffffe:0x0:0x12 "
     "0x7:0x20:0x60 0xfffffffd:0x60:0x80 0xffffffff:0x80:0x81",
     "fun-inf iid=2 id=b6e00000 module=b6b00000 class=b6d00000 token=6000001 style=1 [code bytes=128 "
     "start=b2000000 style=1] "
     "[code bytes=47 start=b2000100 style=1] [map end=12 il=-2] [map start=20 end=60 il=7] [map start=60 end=80 il=-3] "
     "[map start=80 end=81 il=-1]",
     D2 | D3 | VS},
    {"fun inf 0x00000003 0x00007F0000000010 0x0000000000000000 0x00007F0000000020 0x06000002",
     "fun-inf iid=3 id=7f0000000010 module=7f0000000020 token=6000002", D2 | D3 | VS},
    {"fun cmf 0xB6E00000 0x00000002 0xB6D00000 0xB6B00000 0x06000001 0x80004005 0xB2000000:0x80",
     "fun-cmf iid=2 id=b6e00000 module=b6b00000 class=b6d00000 token=6000001 status=80004005 style=1 "
     "[code bytes=128 start=b2000000 style=1]",
     D0 | D1},
    {"fun csf 0xB6E00000 0x00000002 0xB6D00000 0xB6B00000 0x06000001 0xB2000000:0x80 0x0:0x0:0x80",
     "fun-csf iid=2 id=b6e00000 module=b6b00000 class=b6d00000 token=6000001 style=1 [code bytes=128 "
     "start=b2000000 style=1] "
     "[map end=80]",
     D0 | D1},
    {"fun nam 0x00000004 \"App.Program::<Run>b__0\" \"<UNKNOWN>\" \"(?)\"",
     "fun-nam iid=4 name=<App.Program::<Run>b__0> returns=<<UNKNOWN>> signature=<(?)>", D1 | D2 | D3 | VS},
    {"fun nam 0x00000001 \"<JIT>\" \"\" \"\"", "fun-nam iid=1 name=<<JIT>> returns=<> signature=<>", D1 | D2 | D3 | VS},
    {"fun nam 0x00000001 \"\" \"\" \"\"", "fun-nam iid=1 name=<> returns=<> signature=<>", D1 | D2 | D3 | VS},
    {"fun nam 0x00000001 \"JIT\"", "fun-nam iid=1 name=<JIT> returns=<> signature=<> style=10", D0},
    {"jit cms 4200 12 0xB6E00000", "jit-cms os=1068 id=b6e00000 ms=12 style=1", D3 | VS},
    {"jit cmf 0x0000000a 14 0xB6E00000 0x00000001", "jit-cmf thread=a id=b6e00000 status=1 ms=14 style=1", D2},
    {"jit css ? 14 0x00000000B6E00100", "jit-css id=b6e00100 ms=14", D2 | D3 | VS},
    {"jit csf 4200 15 0xB6E00100", "jit-csf os=1068 id=b6e00100 ms=15 style=1", D3 | VS},
    {"gch gcs 4200 110 induced tftf", "gch-gcs os=1068 ms=110 generations=5/4 induced=1 reason=induced", D3 | VS},
    {"gch gcs 0x00000001 110 ? ffffftff", "gch-gcs thread=1 ms=110 generations=20/8 induced=0 reason=", D2},
    {"gch gcs 4200 50 lowmemory tttt", "gch-gcs os=1068 ms=50 generations=f/4 induced=0 reason=lowmemory", D3 | VS},
    {"gch gcs 4200 50 inducedly t", "gch-gcs os=1068 ms=50 generations=1/1 induced=0 reason=inducedly", D3 | VS},
    /* An iid that the profiler does not know, of each kind that has one. */
    {"thr crt 0x00000001 ?", "thr-crt thread=ffffffff id=1 style=101", D0 | D1 | D2 | D3 | VS},
    {"thr aos ? 4200", "thr-aos thread=ffffffff os_thread=4200 style=100", D0 | D1 | D2 | D3 | VS},
    {"thr dst ?", "thr-dst thread=ffffffff style=100", D0 | D1 | D2 | D3 | VS},
    {"thr cpu ? 40 1000", "thr-cpu thread=ffffffff ms=40 us=1000 style=100", D0 | D1 | D2 | D3 | VS},
    {"cls ldf 0x00000001 ? 0x00000002 0x02000001 0x00000000",
     "cls-ldf iid=ffffffff id=1 module=2 token=2000001 style=101", D1 | D2 | D3 | VS},
    {"cls nam ? \"A\"", "cls-nam iid=ffffffff name=<A> style=100", D1 | D2 | D3 | VS},
    {"fun inf ? 0x00000001 0x00000002 0x00000003 0x06000002",
     "fun-inf iid=ffffffff id=1 module=3 class=2 token=6000002 style=101", D2 | D3 | VS},
    {"fun nam ? \"A::B\" \"void\" \"()\"", "fun-nam iid=ffffffff name=<A::B> returns=<void> signature=<()> style=100",
     D1 | D2 | D3 | VS},
    {"sam str ? 40 1 0:0 0x2 ?:0x00000005 ?",
     "sam-str thread=ffffffff ms=40 count=1 style=100 [frame iid=2] [frame iid=ffffffff ip=5 style=105] [frame "
     "iid=ffffffff style=100]",
     D2 | D3 | VS},
    {"sam mem 0x00000000 40 ?:3:120 0x0:2:64",
     "sam-mem ms=40 [class iid=ffffffff count=3 bytes=120 style=100] [class count=2 bytes=64]", D1 | D2 | D3 | VS},
    {"gch alt 140 ?:1:24", "gch-alt ms=140 [class iid=ffffffff count=1 bytes=24 style=100]", D2 | D3 | VS},
    {"lin src 0x00000001 0x00000002 ? 1 2 3 4",
     "lin-src iid=ffffffff line=1 file=2 from=1 column=2 to=3 column=4 style=100", VS},
    {"gch gcf ? 140", "gch-gcf ms=140", D2 | D3 | VS},
    {"gch alt 140 0x0:120:5760 0x1f:4:18446744073709551615",
     "gch-alt ms=140 [class count=120 bytes=5760] [class iid=1f count=4 bytes=18446744073709551615]", D2 | D3 | VS},
    {"gch alt 141", "gch-alt ms=141", D2 | D3 | VS},
    {"gch gen 140 loh:131072:262144 gen0:24:0",
     "gch-gen ms=140 [heap name=<loh> bytes=131072 reserved=262144] [heap name=<gen0> bytes=24]", D3 | VS},
    {"sam str 0x00000000 20 1 0:0 0x2:0xB2000014 0x3 0x4",
     "sam-str ms=20 count=1 [frame iid=2 ip=b2000014 style=5] [frame iid=3] [frame iid=4]", D2 | D3 | VS},
    {"sam str 0x00000000 30 1 3:3", "sam-str ms=30 count=1 match=3 depth=3", D1 | D2 | D3 | VS},
    {"sam str 0x00000000 40 2 1:3:0x00007F00B2000024 0x4:? 0x0",
     "sam-str ms=40 count=2 match=1 depth=3 ip=7f00b2000024 style=4 [frame iid=4 ip=?] [frame]", D2 | D3 | VS},
    {"sam str 0x00000000 50 1 1:3:?", "sam-str ms=50 count=1 match=1 depth=3 ip=?", D1 | D2 | D3 | VS},
    {"sam str 0x00000001 60 0 0:1 0x2:00007F00B2000014",
     "sam-str thread=1 ms=60 count=0 depth=1 [frame iid=2 ip=7f00b2000014 style=6]", D1},
    {"sam str 0x00000001 60 0 1:1:B2000014 0x2:7F0001",
     "sam-str thread=1 ms=60 count=0 match=1 depth=1 ip=b2000014 style=7 [frame iid=2 ip=7f0001 style=2]", D1},
    {"sam str 0x0000000A 60 0 1:1:0x2B 0x0000000B:0x3 0x0000000C:0x0",
     "sam-str thread=a ms=60 count=0 match=1 depth=1 ip=2b style=20 [frame iid=b ip=3 style=60] [frame "
     "iid=c ip=0 style=60]",
     VS},
    {"str sam 0x00000000 70 ? 0:0 0x2 0x4", "str-sam ms=70 [frame iid=2] [frame iid=4]", D0},
    {"str sam 0x00000000 70 3 1:2:00007F00B2000014 0x2",
     "str-sam ms=70 count=3 match=1 depth=2 ip=7f00b2000014 style=6 [frame iid=2]", D0},
    {"sam mem 0x00000000 70 0x0:3:96:0xB2000024 0x1:1:4096 0x1:1:4096:?",
     "sam-mem ms=70 [class count=3 bytes=96 ip=b2000024 style=5] [class iid=1 count=1 bytes=4096] "
     "[class iid=1 count=1 bytes=4096 ip=?]",
     D2 | D3 | VS},
    {"sam mem 0x00000000 71", "sam-mem ms=71", D1 | D2 | D3 | VS},
    {"sam mem 0x00000000 71 0x1:1:2:7F00", "sam-mem ms=71 [class iid=1 count=1 bytes=2 ip=7f00 style=2]", D1},
    {"lin src 0x00000001 0x00000003 0x00000002 10 13 11 42",
     "lin-src iid=2 line=1 file=3 from=10 column=13 to=11 column=42", VS},
    {"fil src 0x00000003 \"C:\\src\\App\\Program.cs\"", "fil-src file=3 name=<C:\\src\\App\\Program.cs>", VS},
    /* A text is what stands between the outer quotes, and bytes. */
    {"cls nam 0x00000002 \"\xff\xfe\x01\"", "cls-nam iid=2 name=<\xff\xfe\x01>", D1 | D2 | D3 | VS},
};

static void test_meanings(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(meanings); i++) {
		struct tw_tracelog_record record;
		struct tw_tracelog_fault fault = {0};
		struct text text;
		char line[TEXT_MAX];
		int size = snprintf(line, sizeof line, "%s\n", meanings[i].line);
		if (decode(line, (size_t)size, &record, &fault) < 0)
			fail_msg("%s: at %zu: expected %s", meanings[i].line, fault.at, fault.expected);
		describe(&text, &record);
		assert_string_equal(text.bytes, meanings[i].meaning);
		assert_int_equal(record.odd, 0);
		assert_int_equal(tw_tracelog_dialects(&record), meanings[i].dialects);
		expect_encoded(&record, line, (size_t)size);
	}
}

/* ---- Odd lines. ---- */

/* A line with its end, what is odd in it and in the items of its list, and the line as the profiler writes it. */
static const struct odd {
	const char *line;
	unsigned odd, items;
	const char *mended;
} odds[] = {
    {"prf tps 5\r\n", TW_TRACELOG_CRLF, 0, "prf tps 5\n"},
    {"prf tps 5", TW_TRACELOG_NO_END, 0, "prf tps 5\n"},
    {"prf tps 5\r", TW_TRACELOG_CRLF | TW_TRACELOG_NO_END, 0, "prf tps 5\n"},
    {"\xEF\xBB\xBFprf tps 5\n", TW_TRACELOG_BOM, 0, "prf tps 5\n"},
    {"prf tps 5 \n", TW_TRACELOG_BLANKS, 0, "prf tps 5\n"},
    {" prf tps 5\n", TW_TRACELOG_BLANKS, 0, "prf tps 5\n"},
    {"prf\ttps 5\n", TW_TRACELOG_BLANKS, 0, "prf tps 5\n"},
    {"prf  tps \t5\n", TW_TRACELOG_BLANKS, 0, "prf tps 5\n"},
    {"prf stm 2018-06-25\t07:24:28.049  +09:00\n", TW_TRACELOG_BLANKS, 0, "prf stm 2018-06-25 07:24:28.049 +09:00\n"},
    {"prf stm 2018-06-25 07:24:28.049 -00:00\n", TW_TRACELOG_DIGITS, 0, "prf stm 2018-06-25 07:24:28.049 +00:00\n"},
    {"prf cfg Name  value \n", TW_TRACELOG_BLANKS, 0, "prf cfg Name value\n"},
    {"prf tps 5 6\n", TW_TRACELOG_SURPLUS, 0, "prf tps 5\n"},
    {"prf stm 2018-12-25 07:24:28.049 JST\n", TW_TRACELOG_SURPLUS, 0, "prf stm 2018-12-25 07:24:28.049\n"},
    {"prf stm 2018-12-25 07:24:28.049 +09:00 x y\n", TW_TRACELOG_SURPLUS, 0,
     "prf stm 2018-12-25 07:24:28.049 +09:00\n"},
    {"thr dst 0x00000001 0x1\n", TW_TRACELOG_SURPLUS, 0, "thr dst 0x00000001\n"},
    {"cls nam 0x00000001 \"a\" b\n", TW_TRACELOG_SURPLUS, 0, "cls nam 0x00000001 \"a\"\n"},
    {"fun nam 0x00000001 \"a\" \"b\" \"c\" d 5\n", TW_TRACELOG_SURPLUS, 0, "fun nam 0x00000001 \"a\" \"b\" \"c\"\n"},
    {"gch gcs 1 2 ? t fff\n", TW_TRACELOG_SURPLUS, 0, "gch gcs 1 2 ? t\n"},
    {"prf tps 005\n", TW_TRACELOG_DIGITS, 0, "prf tps 5\n"},
    {"prf tps -0\n", TW_TRACELOG_DIGITS, 0, "prf tps 0\n"},
    {"prf tps 4294967295\n", TW_TRACELOG_UNSIGNED_MS, 0, "prf tps -1\n"},
    {"prf tps 2147483648\n", TW_TRACELOG_UNSIGNED_MS, 0, "prf tps -2147483648\n"},
    {"prc cpu 1 -30\n", TW_TRACELOG_NEGATIVE_US, 0, "prc cpu 1 18446744073709551586\n"},
    {"prc cpu 1 -9223372036854775808\n", TW_TRACELOG_NEGATIVE_US, 0, "prc cpu 1 9223372036854775808\n"},
    {"thr dst 0x1\n", TW_TRACELOG_DIGITS, 0, "thr dst 0x00000001\n"},
    {"thr dst 0x0000000001\n", TW_TRACELOG_DIGITS, 0, "thr dst 0x00000001\n"},
    {"thr dst 0X00000001\n", TW_TRACELOG_CASE, 0, "thr dst 0x00000001\n"},
    {"thr dst 0x000000aB\n", TW_TRACELOG_CASE, 0, "thr dst 0x000000ab\n"},
    {"mod ata 0x0000abcd 0x0000ABCD\n", TW_TRACELOG_CASE, 0, "mod ata 0x0000ABCD 0x0000ABCD\n"},
    {"mod ata 0x1 0x0000ABCD\n", TW_TRACELOG_DIGITS, 0, "mod ata 0x00000001 0x0000ABCD\n"},
    {"mod ata 0x0000ABCD 0x000000000000ABCD\n", TW_TRACELOG_DIGITS, 0, "mod ata 0x0000ABCD 0x0000ABCD\n"},
    {"mod ata 0x0000ABCD 0x00007F000000ABCD\n", TW_TRACELOG_DIGITS, 0,
     "mod ata 0x000000000000ABCD 0x00007F000000ABCD\n"},
    {"mod ata 0x7F000000ABCD 0x0000ABCD\n", TW_TRACELOG_DIGITS, 0, "mod ata 0x00007F000000ABCD 0x000000000000ABCD\n"},
    {"mod ata 0x00000000000000001 0x0\n", TW_TRACELOG_DIGITS, 0, "mod ata 0x0000000000000001 0x0000000000000000\n"},
    {"cls nam 0x00000001 \"a\"b\"\n", TW_TRACELOG_QUOTES, 0, "cls nam 0x00000001 \"a\"b\"\n"},
    {"cls nam 0x00000001 \"\"\"\n", TW_TRACELOG_QUOTES, 0, "cls nam 0x00000001 \"\"\"\n"},
    {"fun nam 0x00000001 \"a\" \"b\" \"c\" \"d\"\n", TW_TRACELOG_QUOTES, 0,
     "fun nam 0x00000001 \"a\" \"b\" \"c\" \"d\"\n"},
    {"fun nam 0x00000001 \"a\"b\"\n", TW_TRACELOG_QUOTES, 0, "fun nam 0x00000001 \"a\"b\"\n"},
    {"fun nam 0x00000001 \"a\"  \"b\"\t\"c\"\n", TW_TRACELOG_BLANKS, 0, "fun nam 0x00000001 \"a\" \"b\" \"c\"\n"},
    {"sam str 0x00000000 1 1 0:0  0x1\t0x2 \n", TW_TRACELOG_BLANKS, TW_TRACELOG_BLANKS,
     "sam str 0x00000000 1 1 0:0 0x1 0x2\n"},
    {"sam str 0x00000000 1 1 00:0 0x01:0x0F\n", TW_TRACELOG_DIGITS, TW_TRACELOG_DIGITS,
     "sam str 0x00000000 1 1 0:0 0x1:0xF\n"},
    {"sam str 0x00000000 1 1 0:0:0xb2000000 0xaB:b\n", TW_TRACELOG_CASE, TW_TRACELOG_CASE,
     "sam str 0x00000000 1 1 0:0:0xB2000000 0xab:B\n"},
    {"fun inf 0x00000002 0x00000001 0x00000002 0x00000003 0x06000001 0x1:0x08 0x00:0x1:0x2\n", 0, TW_TRACELOG_DIGITS,
     "fun inf 0x00000002 0x00000001 0x00000002 0x00000003 0x06000001 0x00000001:0x8 0x0:0x1:0x2\n"},
    {"fun inf 0x00000002 0x00000001 0x00000002 0x00000003 0x06000001 0x00007F0000000000:0x8\n", 0, 0,
     "fun inf 0x00000002 0x00000001 0x00000002 0x00000003 0x06000001 0x00007F0000000000:0x8\n"},
};

static unsigned odd_items(const struct tw_tracelog_record *record)
{
	struct tw_tracelog_text list = record->list;
	struct tw_tracelog_item item;
	struct tw_tracelog_fault fault;
	unsigned odd = 0;
	while (tw_tracelog_next(record, &list, &item, &fault) > 0)
		odd |= item.odd;
	return odd;
}

static void test_odd_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(odds); i++) {
		struct tw_tracelog_record record;
		struct tw_tracelog_fault fault = {0};
		if (decode(odds[i].line, strlen(odds[i].line), &record, &fault) < 0)
			fail_msg("%s: at %zu: expected %s", odds[i].line, fault.at, fault.expected);
		if (record.odd != odds[i].odd || odd_items(&record) != odds[i].items)
			fail_msg("%s: odd %x, items %x", odds[i].line, record.odd, odd_items(&record));
		expect_encoded(&record, odds[i].mended, strlen(odds[i].mended));
		assert_int_equal(decode(odds[i].mended, strlen(odds[i].mended), &record, &fault), 0);
		assert_int_equal(record.odd & ~(unsigned)TW_TRACELOG_QUOTES, 0);
		assert_int_equal(odd_items(&record), 0);
	}
}

/* fun nam: the texts are split at the last two places that look like it. */
static void test_quotes_in_names(void **state)
{
	static const char line[] = "fun nam 0x00000001 \"a\" \"b\" \"c\" \"d\"\n";
	struct tw_tracelog_record record;
	struct tw_tracelog_fault fault;
	struct text text;
	(void)state;
	assert_int_equal(decode(line, sizeof line - 1, &record, &fault), 0);
	describe(&text, &record);
	assert_string_equal(text.bytes, "fun-nam iid=1 name=<a\" \"b> returns=<c> signature=<d>");
}

static void test_nul_in_text(void **state)
{
	static const char line[] = "cls nam 0x00000001 \"a\0b\"\n";
	struct tw_tracelog_record record;
	struct tw_tracelog_fault fault;
	(void)state;
	assert_int_equal(decode(line, sizeof line - 1, &record, &fault), 0);
	assert_int_equal(record.name.size, 3);
	expect_encoded(&record, line, sizeof line - 1);
}

/* ---- Faults. ---- */

/* A line, where it is wrong, and what is there. */
static const struct fault {
	const char *line;
	enum tw_tracelog_kind kind;
	size_t at;
	const char *expected, *found;
} faults[] = {
    {"\n", TW_TRACELOG_UNKNOWN, 0, "two words that a record begins with", ""},
    {"", TW_TRACELOG_UNKNOWN, 0, "two words that a record begins with", ""},
    {"prf tpx 5\n", TW_TRACELOG_UNKNOWN, 0, "two words that a record begins with", "prf"},
    {"PRF TPS 5\n", TW_TRACELOG_UNKNOWN, 0, "two words that a record begins with", "PRF"},
    {"prf tpss 5\n", TW_TRACELOG_UNKNOWN, 0, "two words that a record begins with", "prf"},
    {"prf-tps 5\n", TW_TRACELOG_UNKNOWN, 0, "two words that a record begins with", "prf-tps"},
    {" tail of a name\"\n", TW_TRACELOG_UNKNOWN, 1, "two words that a record begins with", "tail"},
    {"prf tps\n", TW_TRACELOG_PRF_TPS, 7, "a time in milliseconds", ""},
    {"prf tps \n", TW_TRACELOG_PRF_TPS, 7, "a time in milliseconds", ""},
    {"prf tps 12x 3\n", TW_TRACELOG_PRF_TPS, 10, "a time in milliseconds", "x"},
    {"prf tps 4294967296\n", TW_TRACELOG_PRF_TPS, 8, "a number of at most 32 bits", "4294967296"},
    {"prf tps -2147483649\n", TW_TRACELOG_PRF_TPS, 8, "a number of at most 32 bits", "-2147483649"},
    {"prf tps -\n", TW_TRACELOG_PRF_TPS, 9, "a time in milliseconds", ""},
    {"prf tps 5 6", TW_TRACELOG_PRF_TPS, 9, "the end of the line", " "},
    {"prf tps 5:6\n", TW_TRACELOG_PRF_TPS, 9, "the end of the line", ":6"},
    {"prf tps 99999999999999999999999999999999999999\n", TW_TRACELOG_PRF_TPS, 8, "a number of at most 32 bits",
     "99999999999999999999999999999999"},
    {"prc cpu 5 18446744073709551616\n", TW_TRACELOG_PRC_CPU, 10, "a number of at most 64 bits",
     "18446744073709551616"},
    {"prc cpu 5 -9223372036854775809\n", TW_TRACELOG_PRC_CPU, 10, "a number of at most 64 bits",
     "-9223372036854775809"},
    {"prf cfg\n", TW_TRACELOG_PRF_CFG, 7, "a word", ""},
    {"prf cfg Name\n", TW_TRACELOG_PRF_CFG, 12, "a value", ""},
    {"prf stm 2018-6-25 07:24:28.049\n", TW_TRACELOG_PRF_STM, 14, "YYYY-MM-DD hh:mm:ss.mmm, perhaps with +hh:mm",
     "-25"},
    {"prf stm 2018-13-25 07:24:28.049\n", TW_TRACELOG_PRF_STM, 13, "YYYY-MM-DD hh:mm:ss.mmm, perhaps with +hh:mm",
     "13-25"},
    {"prf stm 2018-12-25\n", TW_TRACELOG_PRF_STM, 18, "YYYY-MM-DD hh:mm:ss.mmm, perhaps with +hh:mm", ""},
    {"prf stm 2018-12-25 07:24:28.049 +24:00\n", TW_TRACELOG_PRF_STM, 33,
     "YYYY-MM-DD hh:mm:ss.mmm, perhaps with +hh:mm", "24:00"},
    {"thr dst 1\n", TW_TRACELOG_THR_DST, 8, "a number in hexadecimal", "1"},
    {"thr dst 0x\n", TW_TRACELOG_THR_DST, 8, "a number in hexadecimal", "0x"},
    {"thr dst 0x0000000g\n", TW_TRACELOG_THR_DST, 17, "a number in hexadecimal", "g"},
    {"thr dst 0x100000000\n", TW_TRACELOG_THR_DST, 8, "a number of at most 32 bits", "0x100000000"},
    {"thr dst ?1\n", TW_TRACELOG_THR_DST, 9, "a number in hexadecimal", "1"},
    {"mod ata ? 0x00000001\n", TW_TRACELOG_MOD_ATA, 8, "a pointer in hexadecimal", "?"},
    {"thr aos 0x00000001 0x10\n", TW_TRACELOG_THR_AOS, 20, "a decimal number", "x10"},
    {"mod ata 0x10000000000000000 0x1\n", TW_TRACELOG_MOD_ATA, 10, "a number of at most 64 bits", "10000000000000000"},
    {"cls nam 0x00000001 name\n", TW_TRACELOG_CLS_NAM, 19, "a text in quotes", "name"},
    {"cls nam 0x00000001 \"name\n", TW_TRACELOG_CLS_NAM, 24, "a quote that ends the text", ""},
    {"cls nam 0x00000001 \"\n", TW_TRACELOG_CLS_NAM, 20, "a quote that ends the text", ""},
    {"cls nam 0x00000001 \"name\" 5", TW_TRACELOG_CLS_NAM, 27, "a quote that ends the text", ""},
    {"cls nam 0x00000001 \"name\"5\n", TW_TRACELOG_CLS_NAM, 26, "a quote that ends the text", ""},
    {"cls nam 0x00000001 \"a\" \"b\n", TW_TRACELOG_CLS_NAM, 25, "a quote that ends the text", ""},
    {"fun nam 0x00000001 \"a\" \"b\"\n", TW_TRACELOG_FUN_NAM, 26, "a signature in quotes", ""},
    {"fun nam 0x00000001 \"a\" \"\n", TW_TRACELOG_FUN_NAM, 24, "a return type in quotes", ""},
    {"cls ldf 0x00000001 0x00000001 0x00000001\n", TW_TRACELOG_CLS_LDF, 40, "a number in hexadecimal", ""},
    {"jit cms 0y 1 0x00000001\n", TW_TRACELOG_JIT_CMS, 9, "a number of a thread", "y"},
    {"gch gcs 1 2 tfff\n", TW_TRACELOG_GCH_GCS, 16, "\"t\" or \"f\" for each of at most 8 generations", ""},
    {"gch gcs 1 2 ?? tfff\n", TW_TRACELOG_GCH_GCS, 13, "a reason", "?"},
    {"gch gcs 1 2 ? tfx\n", TW_TRACELOG_GCH_GCS, 16, "\"t\" or \"f\" for each of at most 8 generations", "x"},
    {"gch gcs 1 2 ? tffftffft\n", TW_TRACELOG_GCH_GCS, 22, "\"t\" or \"f\" for each of at most 8 generations", "t"},
    {"sam str 0x00000000 20 x 0:0\n", TW_TRACELOG_SAM_STR, 22, "a number of ticks", "x"},
    {"sam str 0x00000000 20 1 0\n", TW_TRACELOG_SAM_STR, 25, "a colon", ""},
    {"sam str 0x00000000 20 1 0:\n", TW_TRACELOG_SAM_STR, 26, "a decimal number", ""},
    {"sam str 0x00000000 20 1 0:0:\n", TW_TRACELOG_SAM_STR, 28, "an instruction pointer in hexadecimal", ""},
    {"sam str 0x00000000 20 1 0:0:0x1:2 0x1\n", TW_TRACELOG_SAM_STR, 31, "a space", ":2"},
    {"lin src 1 0x00000003 0x00000002 10 13 11 42\n", TW_TRACELOG_LIN_SRC, 8, "a number in hexadecimal", "1"},
};

static void test_place_and_text_of_each_fault(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(faults); i++) {
		const struct fault *expected = &faults[i];
		struct tw_tracelog_record record;
		struct tw_tracelog_fault fault = {0};
		assert_int_equal(decode(expected->line, strlen(expected->line), &record, &fault), TW_ERR_FORMAT);
		assert_int_equal(record.kind, expected->kind);
		if (fault.at != expected->at || strcmp(fault.expected, expected->expected) != 0)
			fail_msg("%s: at %zu: expected %s", expected->line, fault.at, fault.expected);
		assert_int_equal(fault.found.size, strlen(expected->found));
		assert_memory_equal(fault.found.bytes, expected->found, fault.found.size);
		assert_ptr_equal(fault.found.bytes, expected->line + fault.at);
	}
}

/* An item that is wrong costs no other. */
static const struct meaning bad_items[] = {
    {"sam str 0x00000000 20 1 0:0 0x1 2 0x3:zz 0x4:1:2 0x5\n",
     "sam-str ms=20 count=1 [frame iid=1] [fault 1 <a number in hexadecimal>] [fault 5 <an instruction "
     "pointer in hexadecimal>] "
     "[fault 6 <the end of the item>] [frame iid=5]",
     0},
    {"gch alt 20 0x1:2 0x1:2:18446744073709551616 0x1:2:3:0x4:5\n",
     "gch-alt ms=20 [fault 5 <a colon>] [fault 7 <a number of at most 64 bits>] [fault 12 <the end of the item>]", 0},
    {"gch gen 20 :1:2 loh:1:\n", "gch-gen ms=20 [fault 0 <a word>] [fault 7 <a decimal number>]", 0},
    {"fun inf 0x00000002 0x00000001 0x00000002 0x00000003 0x06000001 0x5 0x00000005:5 0x100000000:0x1:0x1\n",
     "fun-inf iid=2 id=1 module=3 class=2 token=6000001 style=1 [fault 3 <a colon>] [fault 12 <a number "
     "in hexadecimal>] "
     "[fault 1 <a number of at most 32 bits>]",
     0},
    /* Code stands before maps: what looks like it behind one is a map that was cut. */
    {"fun inf 0x00000002 0x00000001 0x00000002 0x00000003 0x06000001 0x00000005:0x5 0x0:0x0:0x5 0x7:0x5\n",
     "fun-inf iid=2 id=1 module=3 class=2 token=6000001 style=1 [code bytes=5 start=5 style=1] [map "
     "end=5] [fault 8 <a colon>]",
     0},
};

static void test_bad_items(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bad_items); i++) {
		struct tw_tracelog_record record;
		struct tw_tracelog_fault fault = {0};
		struct text text;
		uint8_t bytes[TEXT_MAX];
		assert_int_equal(decode(bad_items[i].line, strlen(bad_items[i].line), &record, &fault), 0);
		describe(&text, &record);
		assert_string_equal(text.bytes, bad_items[i].meaning);
		assert_int_equal(tw_tracelog_encode(&record, bytes, sizeof bytes), TW_ERR_VALUE);
	}
}

/* ---- Encoding. ---- */

static struct tw_tracelog_text text_of(const char *string)
{
	return (struct tw_tracelog_text){(const uint8_t *)string, strlen(string)};
}

#define STRING(string)                                                                                                 \
	{                                                                                                              \
		(const uint8_t *)(string), sizeof(string) - 1                                                          \
	}

/* What no line can hold. */
static const struct tw_tracelog_record impossible[] = {
    {.kind = TW_TRACELOG_KINDS},
    {.kind = TW_TRACELOG_UNKNOWN, .list = STRING("two\nlines")},
    {.kind = TW_TRACELOG_MOD_ATA, .style = TW_TRACELOG_POINTERS_32, .id = UINT64_C(1) << 32},
    {.kind = TW_TRACELOG_CLS_NAM, .name = STRING("two\nlines")},
    {.kind = TW_TRACELOG_PRF_CFG, .name = STRING("two words"), .value = STRING("T")},
    {.kind = TW_TRACELOG_PRF_CFG, .name = STRING(""), .value = STRING("T")},
    {.kind = TW_TRACELOG_PRF_CFG, .name = STRING("Name"), .value = STRING("")},
    {.kind = TW_TRACELOG_PRF_CFG, .name = STRING("Name"), .value = STRING(" T")},
    {.kind = TW_TRACELOG_PRF_CFG, .name = STRING("Name"), .value = STRING("T\t")},
    {.kind = TW_TRACELOG_PRF_CFG, .name = STRING("Name"), .value = STRING("T\r")},
    {.kind = TW_TRACELOG_FUN_NAM, .name = STRING("a"), .return_type = STRING("b\" \"c"), .signature = STRING("")},
    {.kind = TW_TRACELOG_FUN_NAM, .name = STRING("a"), .return_type = STRING(""), .signature = STRING("b\" \"c")},
    {.kind = TW_TRACELOG_FUN_NAM, .name = STRING("a"), .return_type = STRING("b"), .signature = STRING(" \"x")},
    {.kind = TW_TRACELOG_FUN_NAM, .style = TW_TRACELOG_ONE_NAME, .name = STRING("b\" \"c")},
    {.kind = TW_TRACELOG_FUN_NAM, .style = TW_TRACELOG_ONE_NAME, .name = STRING("b\" ")},
    {.kind = TW_TRACELOG_PRF_STM, .month = 13, .day = 1},
    {.kind = TW_TRACELOG_PRF_STM, .month = 0, .day = 1},
    {.kind = TW_TRACELOG_PRF_STM, .month = 1, .day = 1, .hour = 24},
    {.kind = TW_TRACELOG_PRF_STM, .month = 1, .day = 1, .has_zone = true, .zone_minutes = 24 * 60},
    {.kind = TW_TRACELOG_GCH_GCS, .generation_count = 0},
    {.kind = TW_TRACELOG_GCH_GCS, .generation_count = 9},
    {.kind = TW_TRACELOG_GCH_GCS, .generation_count = 4, .generations = 16},
    {.kind = TW_TRACELOG_SAM_STR, .list = STRING("0x1 nothing")},
};

static void test_impossible_records(void **state)
{
	uint8_t bytes[TEXT_MAX];
	(void)state;
	for (size_t i = 0; i < COUNT(impossible); i++) {
		if (tw_tracelog_encode(&impossible[i], bytes, sizeof bytes) != TW_ERR_VALUE)
			fail_msg("record %zu was encoded", i);
	}
}

/* The list in the style of the record. */
static void test_restyle(void **state)
{
	static const char line[] = "sam str 0x0000000A 60 0 1:1:0000002B 0x0000000B:3 0x2:B2000014 0x3:?\n";
	static const char expected[] = "sam str 0x0000000a 60 0 1:1:0x000000000000002B 0xb:0x0000000000000003 "
				       "0x2:0x00000000B2000014 0x3:?\n";
	struct tw_tracelog_record record;
	struct tw_tracelog_fault fault;
	(void)state;
	assert_int_equal(decode(line, sizeof line - 1, &record, &fault), 0);
	expect_encoded(&record, line, sizeof line - 1);
	record.style = TW_TRACELOG_RESTYLE | TW_TRACELOG_PADDED_IP;
	expect_encoded(&record, expected, sizeof expected - 1);
}

static void test_made_record(void **state)
{
	static const char expected[] =
	    "fun inf 0x00000002 0x0000000000000001 0x0000000000000002 0x0000000000000003 0x06000001 "
	    "0x0000000000000004:0x10\n";
	struct tw_tracelog_record record = {.kind = TW_TRACELOG_FUN_INF, .iid = 2, .id = 1, .class_id = 2, .module = 3};
	(void)state;
	record.token = 0x06000001;
	record.list = text_of("0x0000000000000004:0x10");
	expect_encoded(&record, expected, sizeof expected - 1);
}

/* ---- Whole logs. ---- */

static FILE *open_log(const char *name)
{
	char path[TEXT_MAX];
	const char *folder = getenv("TW_TEST_DATA");
	snprintf(path, sizeof path, "%s/tracelog/%s", folder ? folder : "tests/data", name);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	return file;
}

static void expect_counts(const char *name, const unsigned expected[TW_TRACELOG_KINDS])
{
	FILE *file = open_log(name);
	unsigned counts[TW_TRACELOG_KINDS] = {0};
	char *line = NULL;
	size_t room = 0;
	ssize_t size;
	while ((size = getline(&line, &room, file)) > 0) {
		struct tw_tracelog_record record;
		struct tw_tracelog_fault fault;
		assert_int_equal(decode(line, (size_t)size, &record, &fault), 0);
		assert_int_equal(record.odd | odd_items(&record), 0);
		expect_encoded(&record, line, (size_t)size);
		counts[record.kind]++;
	}
	free(line);
	fclose(file);
	for (unsigned kind = 0; kind < TW_TRACELOG_KINDS; kind++) {
		if (counts[kind] != expected[kind])
			fail_msg("%s: %u of %s, not %u", name, counts[kind], tw_tracelog_kind_name(kind),
			         expected[kind]);
	}
}

/* Counted with: cut -c1-7 FILE | sort | uniq -c */
static void test_logs(void **state)
{
	static const unsigned kinds[TW_TRACELOG_KINDS] = {
	    [TW_TRACELOG_PRF_STM] = 1, [TW_TRACELOG_PRF_CFG] = 12, [TW_TRACELOG_PRF_TPS] = 1, [TW_TRACELOG_PRF_TRS] = 1,
	    [TW_TRACELOG_PRC_CPU] = 1, [TW_TRACELOG_THR_CRT] = 2,  [TW_TRACELOG_THR_AOS] = 3, [TW_TRACELOG_THR_DST] = 1,
	    [TW_TRACELOG_THR_CPU] = 2, [TW_TRACELOG_MOD_LDF] = 2,  [TW_TRACELOG_MOD_ATA] = 1, [TW_TRACELOG_ASM_LDF] = 1,
	    [TW_TRACELOG_APD_CRF] = 1, [TW_TRACELOG_CLS_LDF] = 1,  [TW_TRACELOG_CLS_NAM] = 4, [TW_TRACELOG_FUN_INF] = 3,
	    [TW_TRACELOG_FUN_NAM] = 5, [TW_TRACELOG_JIT_CMS] = 1,  [TW_TRACELOG_JIT_CMF] = 1, [TW_TRACELOG_JIT_CSS] = 1,
	    [TW_TRACELOG_JIT_CSF] = 1, [TW_TRACELOG_GCH_GCS] = 2,  [TW_TRACELOG_GCH_GCF] = 2, [TW_TRACELOG_GCH_ALT] = 2,
	    [TW_TRACELOG_GCH_GEN] = 1, [TW_TRACELOG_SAM_STR] = 6,  [TW_TRACELOG_SAM_MEM] = 2, [TW_TRACELOG_LIN_SRC] = 1,
	    [TW_TRACELOG_FIL_SRC] = 1,
	};
	static const unsigned small[TW_TRACELOG_KINDS] = {
	    [TW_TRACELOG_PRF_STM] = 1,   [TW_TRACELOG_PRF_CFG] = 12,  [TW_TRACELOG_PRC_CPU] = 199,
	    [TW_TRACELOG_THR_CRT] = 4,   [TW_TRACELOG_THR_AOS] = 4,   [TW_TRACELOG_THR_CPU] = 796,
	    [TW_TRACELOG_MOD_LDF] = 40,  [TW_TRACELOG_MOD_ATA] = 40,  [TW_TRACELOG_ASM_LDF] = 40,
	    [TW_TRACELOG_APD_CRF] = 1,   [TW_TRACELOG_CLS_LDF] = 165, [TW_TRACELOG_CLS_NAM] = 178,
	    [TW_TRACELOG_FUN_INF] = 243, [TW_TRACELOG_FUN_NAM] = 245, [TW_TRACELOG_JIT_CMS] = 116,
	    [TW_TRACELOG_JIT_CMF] = 116, [TW_TRACELOG_JIT_CSS] = 127, [TW_TRACELOG_JIT_CSF] = 127,
	    [TW_TRACELOG_SAM_STR] = 796, [TW_TRACELOG_SAM_MEM] = 277,
	};
	static const unsigned d0[TW_TRACELOG_KINDS] = {
	    [TW_TRACELOG_PRF_CFG] = 2, [TW_TRACELOG_FUN_NAM] = 4, [TW_TRACELOG_THR_CRT] = 1, [TW_TRACELOG_THR_AOS] = 1,
	    [TW_TRACELOG_APD_CRF] = 1, [TW_TRACELOG_MOD_LDF] = 1, [TW_TRACELOG_CLS_LDF] = 1, [TW_TRACELOG_FUN_CMF] = 1,
	    [TW_TRACELOG_FUN_CSF] = 1, [TW_TRACELOG_STR_SAM] = 3, [TW_TRACELOG_THR_CPU] = 1,
	};
	static const unsigned d1[TW_TRACELOG_KINDS] = {
	    [TW_TRACELOG_PRF_STM] = 1, [TW_TRACELOG_PRF_CFG] = 1, [TW_TRACELOG_FUN_NAM] = 3, [TW_TRACELOG_THR_CRT] = 1,
	    [TW_TRACELOG_THR_AOS] = 1, [TW_TRACELOG_CLS_LDF] = 1, [TW_TRACELOG_CLS_NAM] = 1, [TW_TRACELOG_FUN_CMF] = 1,
	    [TW_TRACELOG_FUN_CSF] = 1, [TW_TRACELOG_SAM_STR] = 2, [TW_TRACELOG_SAM_MEM] = 1, [TW_TRACELOG_PRF_TPS] = 1,
	    [TW_TRACELOG_PRF_TRS] = 1,
	};
	static const unsigned vs[TW_TRACELOG_KINDS] = {
	    [TW_TRACELOG_PRF_STM] = 1, [TW_TRACELOG_FUN_NAM] = 2, [TW_TRACELOG_THR_CRT] = 1, [TW_TRACELOG_THR_AOS] = 1,
	    [TW_TRACELOG_FUN_INF] = 1, [TW_TRACELOG_FIL_SRC] = 1, [TW_TRACELOG_LIN_SRC] = 2, [TW_TRACELOG_SAM_STR] = 2,
	    [TW_TRACELOG_SAM_MEM] = 1, [TW_TRACELOG_GCH_GCS] = 1, [TW_TRACELOG_GCH_GCF] = 1,
	};
	(void)state;
	expect_counts("d0.log", d0);
	expect_counts("d1.log", d1);
	expect_counts("vs.log", vs);
	expect_counts("kinds.log", kinds);
	expect_counts("small-d2-64.log", small);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(tw_tracelog_kind_name(TW_TRACELOG_UNKNOWN), "unknown");
	assert_string_equal(tw_tracelog_kind_name(TW_TRACELOG_SAM_STR), "sam-str");
	assert_null(tw_tracelog_kind_name(TW_TRACELOG_KINDS));
	assert_string_equal(tw_tracelog_dialect_name(TW_TRACELOG_D0), "d0");
	assert_string_equal(tw_tracelog_dialect_name(TW_TRACELOG_VS), "vs");
	assert_null(tw_tracelog_dialect_name(TW_TRACELOG_DIALECTS));
}

SUITE(tracelog_records)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_meanings),
	    cmocka_unit_test(test_odd_lines),
	    cmocka_unit_test(test_quotes_in_names),
	    cmocka_unit_test(test_nul_in_text),
	    cmocka_unit_test(test_place_and_text_of_each_fault),
	    cmocka_unit_test(test_bad_items),
	    cmocka_unit_test(test_impossible_records),
	    cmocka_unit_test(test_restyle),
	    cmocka_unit_test(test_made_record),
	    cmocka_unit_test(test_logs),
	    cmocka_unit_test(test_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
