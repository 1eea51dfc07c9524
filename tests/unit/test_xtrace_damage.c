/* test_xtrace_damage.c - data files of xtrace that are damaged: what is found, what is delivered. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "suite.h"
#include "xtrace_bytes.h"

#define NOP 0xd503201fu
#define PC 0x400000u

/* Eight tokens must follow a place to go on at. */
#define NOPS INST(NOP), INST(NOP), INST(NOP), INST(NOP), INST(NOP), INST(NOP), INST(NOP), INST(NOP)

/* More than the longest token: what comes before is read without a copy. */
#define LONG NOPS, NOPS, NOPS, NOPS, NOPS, NOPS, NOPS, NOPS

/* What may stand before tokens. */
#define HEAD                                                                                                           \
	'a', ' ', 'h', 'e', 'a', 'd', 'e', 'r', ' ', 'o', 'f', ' ', '2', '4', ' ', 'b', 'y', 't', 'e', 's', 0, 0, 0, 0

static const struct {
	const char *name;
	const uint8_t *bytes;
	size_t size;
	const char *found;
	uint64_t instructions, lost;
} cases[] = {
    {"nothing wrong", BYTES(PCINST(PC, NOP), INST(NOP)), "", 2, 0},
    {"a byte that is none", BYTES(PCINST(PC, NOP), 0x00, PCINST(PC + 4, NOP), NOPS), "xtrace.unknown-token@13", 10, 1},
    {"a reserved token", BYTES(PCINST(PC, NOP), 0x04, 1, 2, 3, PCINST(PC + 4, NOP), NOPS), "xtrace.reserved-token@13",
     10, 4},
    {"the other one", BYTES(PCINST(PC, NOP), 0x14, PCINST(PC + 4, NOP), NOPS), "xtrace.reserved-token@13", 10, 1},
    {"an access of 32 KiB", BYTES(PCINST(PC, NOP), 0xf2, W64(0), PCINST(PC + 4, NOP), NOPS), "xtrace.unknown-token@13",
     10, 9},
    {"2000 vectors", BYTES(PCINST(PC, NOP), 0x24, W64(2000), PCINST(PC + 4, NOP), NOPS), "xtrace.unknown-token@13", 10,
     9},
    {"what could be an odd PC", BYTES(PCINST(PC, NOP), 0xff, PCINST(PC + 2, NOP), PCINST(PC + 4, NOP), NOPS),
     "xtrace.unknown-token@13", 10, 14},
    {"a place with little behind it", BYTES(PCINST(PC, NOP), 0xff, PCINST(PC, NOP), 0xff, PCINST(PC + 4, NOP), NOPS),
     "xtrace.unknown-token@13", 10, 15},
    {"the last one, before the end", BYTES(PCINST(PC, NOP), 0xff, PCINST(PC + 4, NOP)), "xtrace.unknown-token@13", 2,
     1},
    {"cut in an opcode", BYTES(PCINST(PC, NOP), 0x01, 1, 2), "xtrace.cut-token@13", 1, 3},
    {"cut in a value", BYTES(PCINST(PC, NOP), 0x32, W64(0), 1), "xtrace.cut-token@13", 1, 10},
    {"zeros that no token follows", BYTES(PCINST(PC, NOP), INST(0), 0, 0, 0, PCINST(PC + 4, NOP), NOPS),
     "xtrace.unknown-token@13", 10, 8},
    {"zeros that one follows", BYTES(PCINST(PC, NOP), INST(0), PCINST(PC + 64, NOP)), "", 3, 0},
    {"zeros that the next instruction follows", BYTES(PCINST(PC, NOP), INST(0), INST(NOP), PCINST(PC + 4, NOP), NOPS),
     "xtrace.unknown-token@13", 10, 10},
    {"a place before an instruction of another level",
     BYTES(PCINST(PC, NOP), 0xff, PCINST_EL1(PC, NOP), TIME(1), PCINST(PC + 4, NOP), NOPS), "xtrace.unknown-token@13",
     10, 23},
    {"a place before an instruction of its level",
     BYTES(PCINST(PC, NOP), 0xff, PCINST_EL1(PC, NOP), TIME(1), PCINST_EL1(PC + 4, NOP), NOPS),
     "xtrace.unknown-token@13", 11, 1},
    {"zeros at the end", BYTES(PCINST(PC, NOP), INST(0)), "", 2, 0},
    {"an instruction that no token follows",
     BYTES(PCINST(PC, NOP), INST(0x8cfde067), 0x17, 1, PCINST(PC + 4, NOP), NOPS), "xtrace.unknown-token@13", 10, 7},
    {"one that a load of 512 bytes follows", BYTES(PCINST(PC, NOP), INST(NOP), 0x92, PCINST(PC + 8, NOP), NOPS),
     "xtrace.unknown-token@13", 10, 6},
    {"one that a load of 256 bytes follows", BYTES(PCINST(PC, NOP), INST(NOP), 0x82, W64(0)), "xtrace.cut-token@18", 2,
     9},
    {"one that a store of 4 KiB follows", BYTES(PCINST(PC, NOP), INST(NOP), 0xca, PCINST(PC + 8, NOP), NOPS),
     "xtrace.unknown-token@13", 10, 6},
    {"one that a store of 2 KiB follows", BYTES(PCINST(PC, NOP), INST(NOP), 0xba, W64(0)), "xtrace.cut-token@18", 2, 9},
    {"one that a reserved token follows", BYTES(PCINST(PC, NOP), INST(NOP), 0x04, PCINST(PC + 8, NOP), NOPS),
     "xtrace.reserved-token@18", 11, 1},
    {"a PC that no program has",
     BYTES(PCINST(PC, NOP), 0x09, W64(0x090000d802023370), W32(NOP), PCINST(PC + 4, NOP), NOPS),
     "xtrace.unknown-token@13", 10, 13},
    {"one that an instruction before it leads to",
     BYTES(PCINST(0x00fffffffffffffc, NOP), PCINST(0x0100000000000000, NOP), PCINST(PC, NOP), LONG),
     "xtrace.unknown-token@13", 66, 13},
    {"the last one of user programs", BYTES(PCINST(0x00fffffffffffffc, NOP), INST(NOP)), "", 2, 0},
    {"the first one of a kernel", BYTES(PCINST_EL1(0xff00000000000000, NOP), 0x41, W32(NOP)), "", 2, 0},
    {"nothing but damage", BYTES(PCINST(PC, NOP), 0xff, 0xff, 0xff), "xtrace.unknown-token@13", 1, 3},
};

static void test_damage(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct found found = {0};
		const struct tw_read_options options = {.format = "xtrace",
		                                        .on_finding = note_finding,
		                                        .finding_context = &found};
		struct tw_reader *reader;
		struct tw_info info;
		uint64_t instructions = 0;
		print_message("# %s\n", cases[i].name);
		assert_int_equal(tw_open_memory(&reader, "stream", cases[i].bytes, cases[i].size, &options), 0);
		assert_int_equal(tw_read_info(reader, 1, &info), 0);
		for (size_t k = 0; k < info.kind_count; k++)
			if (strstr(info.kinds[k].kind, "inst"))
				instructions += info.kinds[k].count;
		assert_string_equal(found.text, cases[i].found);
		assert_int_equal(instructions, cases[i].instructions);
		assert_int_equal(info.lost_bytes, cases[i].lost);
		tw_close(reader);
	}
}

/* Every event of damage is in the stream, with its place and size. */
static void test_lost_events(void **state)
{
	(void)state;
	static const uint8_t bytes[] = {PCINST(PC, NOP), 0x04, 0, 0, PCINST(PC + 4, NOP), NOPS};
	const struct tw_read_options options = {.format = "xtrace"};
	struct tw_reader *reader;
	struct tw_batch batch;
	uint64_t lost = 0;
	int status;
	assert_int_equal(tw_open_memory(&reader, "stream", bytes, sizeof bytes, &options), 0);
	while ((status = tw_read(reader, &batch)) > 0)
		for (size_t i = 0; i < batch.count; i++)
			if (batch.events[i].kind == TW_LOST) {
				assert_int_equal(batch.events[i].offset, 13);
				assert_int_equal(batch.events[i].time, 1);
				lost += batch.events[i].value;
			}
	assert_int_equal(status, 0);
	assert_int_equal(lost, 3);
	tw_close(reader);
}

/* Both ways to check find it. */
static void test_checked(void **state)
{
	(void)state;
	static const uint8_t bytes[] = {PCINST(0x00fffffffffffffc, NOP), PCINST(0x0100000000000000, NOP),
	                                PCINST(PC, NOP), LONG};
	struct found found;
	check_stream(bytes, sizeof bytes, &found);
	assert_string_equal(found.text, "xtrace.unknown-token@13");
}

static const struct {
	const char *name;
	const uint8_t *bytes;
	size_t size, repaired; /* bytes; 0: nothing can be saved */
} headed[] = {
    {"a header and instructions", BYTES(HEAD, PCINST(PC, NOP), INST(NOP)), 42},
    {"behind it a PC that no program has", BYTES(HEAD, PCINST_EL1(0x6e656d7572747320, NOP)), 0},
    {"behind it an instruction that is cut", BYTES(HEAD, 0x09, W64(PC)), 0},
    {"behind it damage, and instructions", BYTES(HEAD, PCINST(0x090000d802023370, NOP), PCINST(PC, NOP), NOPS), 77},
};

/* A header without instructions is none: what is repaired has no errors. */
static void test_repaired_header(void **state)
{
	(void)state;
	char path[] = "/tmp/xtrace_damage_XXXXXX";
	int descriptor = mkstemp(path);
	assert_true(descriptor >= 0);
	close(descriptor);
	for (size_t i = 0; i < sizeof headed / sizeof *headed; i++) {
		const struct tw_read_options options = {.format = "xtrace"};
		struct tw_rewrite_result result;
		struct tw_reader *reader;
		struct found found;
		uint8_t repaired[128];
		print_message("# %s\n", headed[i].name);
		assert_int_equal(tw_open_memory(&reader, "stream", headed[i].bytes, headed[i].size, &options), 0);
		assert_int_equal(tw_repair(reader, path, &result), headed[i].repaired ? 0 : TW_ERR_EMPTY);
		tw_close(reader);
		if (!headed[i].repaired)
			continue;
		FILE *file = fopen(path, "rb");
		assert_non_null(file);
		size_t size = fread(repaired, 1, sizeof repaired, file);
		fclose(file);
		assert_int_equal(size, headed[i].repaired);
		check_stream(repaired, size, &found);
		assert_string_equal(found.text, "");
	}
	unlink(path);
}

/* What cannot be written leaves the reader as it was: nothing was read. */
static void test_written_elsewhere(void **state)
{
	(void)state;
	static const uint8_t bytes[] = {PCINST(PC, NOP), NOPS};
	static const struct {
		const char *category, *path;
		int status;
	} refused[] = {
	    {"c", "/dev/null/no-place", TW_ERR_UNSUPPORTED},
	    {NULL, "/dev/null/no-place", TW_ERR_SYSTEM},
	    {NULL, "-", TW_ERR_VALUE},
	};
	char folder[] = "/tmp/xtrace_damage_XXXXXX", path[64];
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/xtrace.1.8.hint9.xinsndata.bin", folder);
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, sizeof bytes, file), sizeof bytes);
	assert_int_equal(fclose(file), 0);
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		const struct tw_read_options options = {.format = "xtrace", .category = refused[i].category};
		struct tw_rewrite_result result;
		struct tw_reader *reader;
		struct tw_batch batch;
		assert_int_equal(tw_open(&reader, folder, &options), 0);
		assert_int_equal(tw_transcode(reader, refused[i].path, NULL, &result), refused[i].status);
		assert_int_equal(tw_repair(reader, refused[i].path, &result), refused[i].status);
		assert_true(tw_read(reader, &batch) >= 0);
		tw_close(reader);
	}
	unlink(path);
	rmdir(folder);
}

SUITE(xtrace_damage)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_damage),
	    cmocka_unit_test(test_lost_events),
	    cmocka_unit_test(test_checked),
	    cmocka_unit_test(test_repaired_header),
	    cmocka_unit_test(test_written_elsewhere),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
