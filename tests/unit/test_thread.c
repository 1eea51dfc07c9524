/* test_thread.c - the plugin's way from QEMU's calls to files, with a machine of random registers in QEMU's place.
 *
 * QEMU has no sanitizers, and a plugin with them cannot be loaded into it: here it has them. Blocks of any instructions
 * are executed as QEMU does it, whole or up to an exception; a child process does it, and ends in good order, or is
 * killed, or has no room. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/flush.h"
#include "collect/qemu/qemu72.h"
#include "collect/stream.h"
#include "collect/system/registers.h"
#include "collect/thread.h"

#include "random_machine.h"
#include "suite.h"

enum { LONGEST = 40, MOST = 1 << 24 /* bytes of a file */ };

/* ---- In QEMU's place. ---- */

static void scramble(void)
{
	x[any(TW_XTRACE_REGISTERS)] = any(4) ? any(1 << 16) : seed;
	x[8] = any(90); /* no exit */
}

void machine_before_tpidr(const struct guest *machine)
{
	(void)machine;
}

void machine_after_tpidr(const struct guest *machine, uint64_t value)
{
	(void)machine;
	(void)value;
}

void machine_accessed(uint32_t info, uint64_t address, uint8_t *bytes, unsigned size)
{
	memset(bytes, (int)(info + address), size);
}

/* Vectors of system calls have up to 3 parts, or as many as registers say. */
bool machine_read(const struct guest *machine, uint64_t address, void *bytes, size_t size)
{
	(void)machine;
	memset(bytes, (int)address, size);
	if (size >= 16)
		memset((uint8_t *)bytes + 8, 0, 8);
	return any(4) != 0;
}

int qemu_plugin_version = 4;

void **qemu72_processor(void)
{
	return NULL;
}

/* No whole machine is played. */
void system_snapshot(const struct guest *machine, struct tw_xtrace_snapshot *snapshot)
{
	(void)machine;
	(void)snapshot;
}

/* ---- Playing. ---- */

static const uint32_t opcodes[] = {
    0xd503213f, /* hint #9 */
    0xd4000001, /* svc #0 */
    0xd53bd040, /* mrs x0, tpidr_el0 */
    0xd53b2400, /* mrs x0, rndr */
    0xd53b00e3, /* mrs x3, dczid_el0 */
    0xd51bd040, /* msr tpidr_el0, x0 */
    0x9a820020, /* csel x0, x1, x2, eq */
    0xd50b7420, /* dc zva, x0 */
    0xf9400420, /* ldr x0, [x1, #8] */
    0x38401c3f, /* ldrb wzr, [x1, #1]! */
    0xad000440, /* stp q0, q1, [x2] */
    0x4c400020, /* ld4 {v0.16b-v3.16b}, [x1] */
    0x0d005820, /* st1 {v0.h}[3], [x1] */
    0xc87f8820, /* ldaxp x0, x2, [x1] */
    0xc8027c20, /* stxr w2, x0, [x1] */
    0x88238820, /* stlxp w3, w0, w2, [x1] */
    0x48207c82, /* casp x0, x1, x2, x3, [x4] */
    0xb820003f, /* stadd w0, [x1] */
    0xd63f00a0, /* blr x5 */
    0xd4200000, /* brk #0 */
};

static uint32_t any_opcode(void)
{
	return any(2) ? opcodes[any(sizeof opcodes / sizeof *opcodes)] : (uint32_t)(seed >> 20);
}

/* Up to as many bytes as it has, or more; in parts as QEMU may tell them. */
static void play_accesses(struct insn *insn)
{
	unsigned shift = any(5), most = any(8) ? insn->op.total : 80;
	for (unsigned done = 0; done < most; done += 1u << shift)
		thread_accessed(0, shift, x[any(31)], insn);
}

/* Returns false where an exception comes. */
static bool play_insn(struct translated_block *block, size_t i)
{
	struct insn *insn = &block->insns[i];
	if (i && insn[-1].after)
		thread_after(0, insn - 1);
	if (thread_wants_before(insn))
		thread_before(0, insn);
	scramble();
	if (any(200) == 0)
		return false;
	if (thread_wants_accesses(insn))
		play_accesses(insn);
	return any(200) != 0;
}

static void play_block(uint64_t pc, bool marks)
{
	uint32_t words[LONGEST];
	size_t count = 1 + any(LONGEST);
	for (size_t i = 0; i < count; i++)
		words[i] = any_opcode();
	struct translated_block *block = block_make(pc, words, count, marks);
	require(block != NULL, "a block");
	for (size_t i = 0; i < count; i++)
		block->insns[i].after = thread_wants_after(&block->insns[i]);
	thread_block(0, block);
	for (size_t i = 0; i < count && play_insn(block, i); i++)
		;
}

/* The system call that begins a thread. */
static void play_clone(void)
{
	static const uint32_t call = 0xd4000001;
	struct translated_block *block = block_make(0x300000, &call, 1, false);
	require(block != NULL, "a block");
	thread_block(0, block);
	x[8] = 220;
	x[0] = 0x3d0f00;
	thread_before(0, block->insns);
}

struct play {
	unsigned seed, blocks;
	bool marks, killed, forks;
	rlim_t room; /* bytes that a file may have; 0: any */
};

/* In a process of its own, which its memory goes with. */
static void play_all(struct collect_board *board, const struct play *play)
{
	seed = play->seed;
	thread_setup(board, false);
	signal(SIGXFSZ, SIG_IGN);
	if (play->room)
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){play->room, play->room});
	for (unsigned i = 0; i < play->blocks; i++) {
		play_block(0x400000 + 4ull * any(1 << 16), play->marks);
		if (i == play->blocks / 2 && play->seed % 2)
			play_clone();
		if (i == play->blocks / 2 && play->forks && fork() == 0)
			seed++;
		if (any(500) == 0)
			block_forget();
	}
	if (!play->killed)
		thread_end();
	_exit(0);
}

/* ---- What is in the files. ---- */

static uint8_t *read_file(const char *folder, const char *name, size_t *size)
{
	char path[PATH_MAX];
	struct stat status;
	snprintf(path, sizeof path, "%s/%s", folder, name);
	int fd = open(path, O_RDONLY);
	assert_true(fd >= 0 && fstat(fd, &status) == 0 && status.st_size < MOST);
	*size = (size_t)status.st_size;
	uint8_t *bytes = malloc(*size + 1);
	assert_int_equal(read(fd, bytes, *size), *size);
	close(fd);
	unlink(path);
	return bytes;
}

/* Whole tokens from the first byte to the last; each snapshot is where an instruction begins, after as many as it
 * says. */
static void check_files(const char *folder, const struct tw_xtrace_name *name)
{
	static const struct tw_xtrace_layout layout = {.header_size = HEADER, .has_za = true, .vector_bits = 128};
	struct tw_xtrace_name both[2] = {*name, *name};
	char text[TW_XTRACE_NAME_SIZE];
	size_t sizes[2], next = HEADER;
	uint8_t *bytes[2];
	for (int i = 0; i < 2; i++) {
		both[i].snapshots = i == 1;
		tw_xtrace_name_format(&both[i], text);
		bytes[i] = read_file(folder, text, &sizes[i]);
	}
	assert_true(sizes[1] == 0 || (sizes[1] >= HEADER && (sizes[1] - HEADER) % SNAPSHOT == 0));
	uint64_t count = 0;
	struct tw_xtrace_snapshot snapshot;
	for (size_t at = 0; at < sizes[0];) {
		struct tw_xtrace_token token;
		assert_int_equal(tw_xtrace_decode(bytes[0] + at, sizes[0] - at, &token), 1);
		bool is_insn = token.kind == TW_XTRACE_INST || token.kind == TW_XTRACE_PCINST;
		if (is_insn && next < sizes[1]) {
			assert_int_equal(tw_xtrace_snapshot_decode(bytes[1] + next, &layout, &snapshot), 0);
			assert_true(snapshot.index >= at);
			assert_true(snapshot.index > at || snapshot.user_count == count);
			next += snapshot.index == at ? SNAPSHOT : 0;
		}
		count += is_insn;
		at += token.size;
	}
	assert_true(next >= sizes[1]);
	free(bytes[0]);
	free(bytes[1]);
}

/* Returns how many threads there are. */
static unsigned check_folder(const char *folder)
{
	unsigned count = 0;
	DIR *all = opendir(folder);
	struct dirent *entry;
	struct tw_xtrace_name names[8];
	while ((entry = readdir(all)) && count < 8)
		count += tw_xtrace_name_parse(entry->d_name, &names[count]) == 0 && !names[count].snapshots;
	closedir(all);
	for (unsigned i = 0; i < count; i++)
		check_files(folder, &names[i]);
	return count;
}

/* The disk is as full for the tool as it was for the plugin. */
static int harvest(struct collect_board *board, const struct play *play)
{
	struct rlimit before;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	rlim_t room = play->room ? play->room : before.rlim_cur;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){room, before.rlim_max}), 0);
	int error = collect_flush(board);
	setrlimit(RLIMIT_FSIZE, &before);
	return error;
}

/* The list of maps tells of each thread whose program it is, where there was room for it. */
static void check_list(const char *folder, size_t threads, bool room)
{
	size_t size, listed = 0;
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/xtrace.1.maps", folder);
	if (!room && access(path, F_OK) < 0)
		return;
	uint8_t *bytes = read_file(folder, "xtrace.1.maps", &size);
	for (size_t i = 0; i + 9 <= size; i++)
		listed += memcmp(bytes + i, "# thread ", 9) == 0;
	free(bytes);
	assert_true(room ? listed == threads : listed <= threads);
}

static void run(const struct play *play, unsigned threads, int error)
{
	char folder[] = "/tmp/test_thread.XXXXXX";
	int fd, status;
	struct collect_board *board = collect_board_make(&fd);
	assert_true(board && mkdtemp(folder));
	snprintf(board->directory, sizeof board->directory, "%s", folder);
	strcpy(board->timestamp, "1");
	board->options.interval = 500;
	board->options.from_hint = play->marks;
	pid_t child = fork();
	if (child == 0) {
		setpgid(0, 0);
		play_all(board, play);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	while (kill(-child, 0) == 0) /* its own child */
		usleep(1000);
	assert_int_equal(harvest(board, play), error);
	check_list(folder, threads, !play->room);
	assert_int_equal(check_folder(folder), threads);
	assert_int_equal(rmdir(folder), 0);
	collect_board_free(board, fd);
}

/* ---- The tests. ---- */

static void writes_whole_tokens(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 6; i++)
		run(&(struct play){.seed = i, .blocks = 4000, .killed = i & 2, .marks = i & 4}, 1, 0);
}

static void begins_in_a_child(void **state)
{
	(void)state;
	run(&(struct play){.seed = 7, .blocks = 3000, .forks = true}, 2, 0);
	run(&(struct play){.seed = 8, .blocks = 3000, .forks = true, .killed = true}, 2, 0);
}

static void ends_where_there_is_no_room(void **state)
{
	static const rlim_t rooms[] = {1, HEADER + SNAPSHOT / 2, 100000, 300001};
	(void)state;
	for (unsigned i = 0; i < sizeof rooms / sizeof *rooms; i++)
		run(&(struct play){.seed = i, .blocks = 6000, .room = rooms[i]}, 1, EFBIG);
}

/* A thread whose number was another's before: both have their files. */
static void opens_no_file_over_another(void **state)
{
	char folder[] = "/tmp/test_thread.XXXXXX", text[TW_XTRACE_NAME_SIZE];
	int fd;
	struct collect_board *board = collect_board_make(&fd);
	struct stream stream;
	(void)state;
	assert_true(board && mkdtemp(folder));
	snprintf(board->directory, sizeof board->directory, "%s", folder);
	strcpy(board->timestamp, "1");
	for (uint32_t i = 0; i < 3; i++) {
		const struct tw_xtrace_token token = {.kind = TW_XTRACE_PCINST, .pc = i, .opcode = i};
		stream_open(&stream, board, false);
		stream_token(&stream, board, &token);
		stream_close(&stream, board);
	}
	assert_int_equal(collect_flush(board), 0);
	for (uint32_t i = 0; i < 3; i++) {
		struct tw_xtrace_name name = {.timestamp = "1",
		                              .number = (uint64_t)gettid() + i * UINT64_C(10000000),
		                              .hint = 9};
		size_t size;
		tw_xtrace_name_format(&name, text);
		uint8_t *bytes = read_file(folder, text, &size);
		assert_true(size == 13 && bytes[1] == i && bytes[9] == i);
		free(bytes);
		name.snapshots = true;
		tw_xtrace_name_format(&name, text);
		free(read_file(folder, text, &size));
		assert_int_equal(size, HEADER);
	}
	check_list(folder, 3, true);
	assert_int_equal(rmdir(folder), 0);
	collect_board_free(board, fd);
}

/* Killed before its files were there, or with one of them: the tool takes what there is away, and nothing went wrong. */
static void leaves_nothing_of_a_thread_that_has_not_begun(void **state)
{
	char folder[] = "/tmp/test_thread.XXXXXX", path[PATH_MAX];
	int fd;
	struct collect_board *board = collect_board_make(&fd);
	(void)state;
	assert_true(board && mkdtemp(folder));
	snprintf(board->directory, sizeof board->directory, "%s", folder);
	for (unsigned i = 0; i < 2; i++) {
		struct tw_xtrace_name name = {.timestamp = "1", .number = i + 1, .hint = 9};
		struct collect_slot *slot = &board->slots[i];
		atomic_store(&slot->state, COLLECT_TAKEN);
		tw_xtrace_name_format(&name, slot->data_name);
		name.snapshots = true;
		tw_xtrace_name_format(&name, slot->snapshot_name);
	}
	atomic_store(&board->used, 3);
	atomic_store(&board->slots[2].state, COLLECT_USED); /* complete: it has no name */
	snprintf(path, sizeof path, "%s/%s", folder, board->slots[1].data_name);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
	assert_int_equal(collect_flush(board), 0);
	assert_int_equal(rmdir(folder), 0);
	collect_board_free(board, fd);
}

SUITE(thread)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(writes_whole_tokens),
	    cmocka_unit_test(begins_in_a_child),
	    cmocka_unit_test(ends_where_there_is_no_room),
	    cmocka_unit_test(opens_no_file_over_another),
	    cmocka_unit_test(leaves_nothing_of_a_thread_that_has_not_begun),
	};
	return cmocka_run_group_tests_name("thread", tests, NULL, NULL);
}
