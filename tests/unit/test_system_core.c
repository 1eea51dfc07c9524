/* test_system_core.c - the plugin's way from QEMU's calls to the files of cores, with machines of random registers in
 * QEMU's place.
 *
 * QEMU has no sanitizers, and a plugin with them cannot be loaded into it: here it has them. Two cores take turns in
 * executing any instructions. Exceptions come instead of them, or between them; QEMU begins some once more. The files
 * have to tell each instruction that was executed while the machine was recorded, and no other. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/flush.h"
#include "collect/system/core.h"
#include "collect/system/registers.h"
#include "collect/windows/detail.h"
#include "xtrace/format/opcode.h"

#include "random_machine.h"
#include "suite.h"

enum { CORES = 2, DEPTH = 8, STEPS = 30000, INTERVAL = 500 };

static const uint64_t vectors = 0xffff800010200800, user = 0x400000, kernel = 0xffff800010100000;
static const uint32_t mark = 0xd503213f, nop = 0xd503201f, exception_return = 0xd69f03e0;

/* ---- In QEMU's place. ---- */

struct processor {
	unsigned number, level, depth;
	uint64_t pc, link;
	struct {
		uint64_t pc;
		unsigned level;
	} saved[DEPTH];
	unsigned begun_level; /* of what was begun last */
	bool has_change;      /* the level was another since the last that was executed, or there is a gap */
};

static struct processor processors[CORES], *now;
static bool has_values;
static unsigned wanted;

static void scramble(void)
{
	x[any(TW_XTRACE_REGISTERS)] = any(4) ? any(1 << 16) : seed;
	x[0] = any(8) ? x[0] : kernel + 64ull * any(8); /* a task */
	x[8] = any(300);
}

bool machine_has_values(void)
{
	return has_values;
}

bool machine_is_device(uint32_t info, uint64_t address)
{
	(void)info;
	return address % 8 == 7;
}

void machine_accessed(uint32_t info, uint64_t address, uint8_t *bytes, unsigned size)
{
	memset(bytes, (int)(info + address), size);
}

/* Vectors of system calls have as many parts as registers say. */
bool machine_read(const struct guest *machine, uint64_t address, void *bytes, size_t size)
{
	(void)machine;
	memset(bytes, (int)address, size);
	return any(4) != 0;
}

bool system_registers_open(const struct guest *machine)
{
	(void)machine;
	return true;
}

unsigned system_level(const struct guest *machine)
{
	(void)machine;
	return now->level;
}

uint64_t system_register(const struct guest *machine, enum system_register which)
{
	(void)machine;
	if (which == SYSTEM_SPSR_EL1)
		return now->depth ? now->saved[now->depth - 1].level << 2 : 0;
	return which == SYSTEM_ELR_EL1 ? now->link : seed;
}

void system_snapshot(const struct guest *machine, struct tw_xtrace_snapshot *snapshot)
{
	(void)machine;
	snapshot->elr_el1 = now->link;
}

/* Once for each core that is recorded; or for windows. */
void detail_want(void)
{
	require(++wanted <= CORES, "what is wanted");
}

void detail_release(void)
{
	require(wanted-- > 0, "what is released was wanted");
}

void detail_renew(void)
{
}

/* ---- Playing. ---- */

/* An instruction that was executed while the machine was recorded. */
struct executed {
	uint64_t pc;
	uint32_t opcode;
	uint8_t level;
	bool has_change; /* before it */
};

/* The steps of a core, which the child tells the parent. */
struct steps {
	size_t count;
	bool is_main; /* it is the core of the first mark */
	struct executed items[STEPS];
};

static bool recorded, was_recorded;

static const uint32_t opcodes[] = {
    0xd4000001, /* svc #0 */
    0xd5184100, /* msr sp_el0, x0 */
    0xd5182001, /* msr ttbr0_el1, x1 */
    0xd51bd040, /* msr tpidr_el0, x0 */
    0xd53bd040, /* mrs x0, tpidr_el0 */
    0xd53b2400, /* mrs x0, rndr */
    0xd53b00e3, /* mrs x3, dczid_el0 */
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
    0xc8bffc40, /* cas xzr, x0, [x2] */
    0xb820003f, /* stadd w0, [x1] */
    0xd63f00a0, /* blr x5 */
    0xd65f03c0, /* ret */
    0xe5804021, /* str z1, [x1] */
    0xa5e0a01f, /* ld1d {z31.d}, p0/z, [x0] */
    0xc440c460, /* ld1d {z0.d}, p1/z, [x3, z0.d] */
    0xa460e020, /* ld4b {z0.b-z3.b}, p0/z, [x1] */
};

/* marks: of so many, one is a mark; 0: none. */
static uint32_t any_opcode(unsigned marks)
{
	if (marks && any(marks) == 0)
		return mark;
	if (now->depth && now->level && any(8) == 0)
		return exception_return;
	uint32_t opcode = any(2) ? opcodes[any(sizeof opcodes / sizeof *opcodes)] : (uint32_t)(seed >> 20);
	return opcode == exception_return || opcode == mark ? nop : opcode;
}

/* Up to as many bytes as it has, or more; in parts as QEMU may tell them. */
static void play_accesses(struct system_insn *insn)
{
	unsigned shift = any(5), most = any(8) ? insn->op.total : 80;
	for (unsigned done = 0; done < most; done += 1u << shift)
		core_accessed(now->number, shift, x[any(31)] + done, insn);
}

static void take_exception(uint64_t back, unsigned vector)
{
	now->link = back;
	now->saved[now->depth].pc = back;
	now->saved[now->depth++].level = now->level;
	now->pc = vectors + (now->level ? 0x200 : 0x400) + vector;
	now->level = 1;
}

/* No interrupt comes behind the first instruction of a handler, as the processor forbids it. */
static void go_on(const struct system_insn *insn)
{
	struct xtrace_operation operation;
	xtrace_operation(insn->opcode, &operation);
	if (insn->opcode == exception_return) {
		now->depth--;
		now->pc = now->saved[now->depth].pc;
		now->level = now->saved[now->depth].level;
	} else {
		now->pc += 4;
		if (operation.flow != XTRACE_NEXT && insn->op.kind != OP_SVC)
			now->pc = (now->level ? kernel : user) + 4ull * any(1 << 12);
	}
	if (insn->op.kind == OP_SVC && now->depth < DEPTH)
		take_exception(now->pc, 0);
	else if (now->depth < DEPTH && insn->pc % 0x80 && any(50) == 0)
		take_exception(now->pc, 0x80);
}

/* ---- Windows: by the instructions of the first core, all cores. ---- */

static const struct collect_window asked[] = {
    {.from = 700, .length = 1000, .thread = UINT32_MAX, .phase = UINT32_MAX},
    {.from = 3000, .length = 300, .thread = 0, .phase = 2, .weight = 0.25},
    {.from = 6000, .length = 100, .thread = 0, .phase = 1, .weight = 0.75},
};
enum { WINDOWS = sizeof asked / sizeof *asked };

static bool has_windows;
static uint64_t passed, until; /* by the first core: not recorded; where the window ends */

/* Where a window really begins, for the parent. */
struct begun {
	unsigned count;
	uint64_t at[WINDOWS], recorded[WINDOWS]; /* recorded: before, of these */
};

/* In the kernel it waits for a program, a hundredth of its length at most. */
static void follow_windows(const struct steps *steps, struct begun *begun)
{
	uint64_t count = steps->count + passed;
	if (recorded && count >= until)
		recorded = false;
	const struct collect_window *next = begun->count < WINDOWS ? &asked[begun->count] : NULL;
	if (recorded || !next || count < next->from || !wanted)
		return;
	if (now->level && count - next->from < next->length / 100)
		return;
	recorded = true;
	until = count + next->length + 1;
	begun->at[begun->count] = count;
	begun->recorded[begun->count++] = steps->count;
}

/* A block of one instruction, or the beginning of one, without calls. */
static void pass(const struct system_insn *insn)
{
	struct system_passed block = {insn->pc, 1};
	now->has_change = true;
	core_passed(now->number, &block);
	passed += now->number == 0;
	scramble();
	go_on(insn);
}

static void execute(struct steps *steps, struct begun *begun, struct system_insn *insn)
{
	if (has_windows && now->number == 0)
		follow_windows(steps, begun);
	core_executed(now->number, insn);
	recorded = insn->opcode == mark ? !recorded : recorded;
	passed += !recorded && now->number == 0;
}

static void add_step(struct steps *steps, const struct system_insn *insn, unsigned level)
{
	steps->items[steps->count++] = (struct executed){insn->pc, insn->opcode, (uint8_t)level, now->has_change};
	now->has_change = false;
}

/* QEMU sets ELR_EL1 when an exception comes, and the kernel before it returns. */
static void play(struct steps *steps, struct begun *begun, uint32_t opcode, bool is_first)
{
	unsigned level = now->level;
	struct system_insn insn = {now->pc, opcode, is_first, opcode_of(opcode)};
	struct xtrace_operation operation;
	xtrace_operation(opcode, &operation);
	if (opcode == exception_return)
		now->link = now->saved[now->depth - 1].pc;
	if (has_windows && !wanted) {
		pass(&insn);
		return;
	}
	execute(steps, begun, &insn);
	steps->is_main = steps->is_main || (recorded && !was_recorded);
	was_recorded = was_recorded || recorded;
	now->has_change = now->has_change || !recorded || opcode == mark || level != now->begun_level;
	now->begun_level = level;
	while (operation.flow == XTRACE_NEXT && opcode != mark && any(steps->count ? 60 : 2) == 0) {
		if (any(2) && core_wants_accesses(&insn))
			play_accesses(&insn);
		if (any(2) && now->depth < DEPTH) {
			take_exception(now->pc, 0);
			return;
		}
		execute(steps, begun, &insn);
	}
	if (core_wants_accesses(&insn))
		play_accesses(&insn);
	scramble();
	if (recorded && opcode != mark)
		add_step(steps, &insn, level);
	go_on(&insn);
}

/* In a process of its own, which its memory goes with. */
static void play_all(struct collect_board *board, struct steps *steps, struct begun *begun)
{
	uint64_t before[CORES];
	unsigned levels[CORES] = {0};
	core_setup(board);
	has_windows = board->windows.count;
	recorded = !board->options.from_hint && !has_windows;
	was_recorded = steps[0].is_main = !board->options.from_hint;
	for (unsigned i = 0; i < CORES; i++) {
		processors[i] = (struct processor){.number = i, .pc = user};
		before[i] = 0;
	}
	for (unsigned i = 0; i < STEPS; i++) {
		unsigned core = any(CORES);
		now = &processors[core];
		bool is_first = now->pc != before[core] + 4 || now->level != levels[core] || any(10) == 0;
		before[core] = now->pc;
		levels[core] = now->level;
		play(&steps[core], begun, any_opcode(board->options.from_hint ? (steps[core].count ? 300 : 3) : 0),
		     is_first);
	}
	for (unsigned i = 0; i < CORES; i++) { /* what is executed last is told by what comes behind it */
		struct system_insn insn = {processors[i].pc, nop, true, opcode_of(nop)};
		now = &processors[i];
		core_executed(i, &insn);
	}
	_exit(0);
}

/* ---- What is in the files. ---- */

static uint8_t *read_file(const char *folder, const struct tw_xtrace_name *name, size_t *size, bool keeps)
{
	char path[PATH_MAX], text[TW_XTRACE_NAME_SIZE];
	tw_xtrace_name_format(name, text);
	snprintf(path, sizeof path, "%s/%s", folder, text);
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	*size = (size_t)ftell(file);
	rewind(file);
	uint8_t *bytes = malloc(*size + 1);
	assert_int_equal(fread(bytes, 1, *size, file), *size);
	fclose(file);
	if (!keeps)
		unlink(path);
	return bytes;
}

/* Each is where an instruction begins, or behind the last, with as many before it as it says. Where the machine was not
 * recorded between, registers come before the instruction. */
static size_t check_snapshots(const uint8_t *bytes, size_t size, size_t at, uint64_t index, uint64_t count,
                              uint64_t kernels)
{
	static const struct tw_xtrace_layout layout = {.header_size = HEADER, .has_za = true, .vector_bits = 128};
	struct tw_xtrace_snapshot snapshot;
	if (at >= size || tw_xtrace_snapshot_decode(bytes + at, &layout, &snapshot) != 0 || snapshot.index > index)
		return at;
	assert_int_equal(snapshot.index, index);
	assert_int_equal(snapshot.count, count);
	assert_int_equal(snapshot.user_count, count - kernels);
	return at + SNAPSHOT;
}

static void check_core(const char *folder, unsigned core, const struct steps *steps)
{
	struct tw_xtrace_name name = {.timestamp = "1", .number = core, .hint = steps->is_main ? 9 : 13};
	size_t size, snapshots, next = HEADER, i = 0;
	uint8_t *bytes = read_file(folder, &name, &size, false);
	name.snapshots = true;
	uint8_t *states = read_file(folder, &name, &snapshots, false);
	bool has_registers = false;
	uint64_t pc = 0, kernels = 0;
	for (size_t at = 0; at < size;) {
		struct tw_xtrace_token token;
		assert_int_equal(tw_xtrace_decode(bytes + at, size - at, &token), 1);
		bool is_insn = token.kind == TW_XTRACE_INST || token.kind == TW_XTRACE_PCINST;
		has_registers = has_registers || token.kind == TW_XTRACE_ALLGPR;
		if (is_insn) {
			assert_true(i < steps->count);
			const struct executed *is = &steps->items[i], *was = i ? is - 1 : NULL;
			pc = token.kind == TW_XTRACE_PCINST ? token.pc : pc + 4;
			assert_int_equal(pc, is->pc);
			assert_int_equal(token.opcode, is->opcode);
			assert_int_equal(token.level, is->level);
			assert_int_equal(has_registers, was && is->has_change);
			next = check_snapshots(states, snapshots, next, at, i, kernels);
			kernels += is->level > 0;
			has_registers = false;
			i++;
		}
		at += token.size;
	}
	assert_int_equal(i, steps->count);
	assert_true(snapshots - next <= SNAPSHOT); /* one before an instruction that was not executed */
	free(bytes);
	free(states);
}

/* The list has each window where it began, with the snapshot that stands there. */
static void check_windows(const struct collect_board *board, const struct begun *begun)
{
	static const struct tw_xtrace_layout layout = {.header_size = HEADER, .has_za = true, .vector_bits = 128};
	struct tw_xtrace_name name = {.timestamp = "1", .number = 0, .hint = 9, .snapshots = true};
	char path[PATH_MAX + 32], line[128], wanted_line[128], column[16];
	size_t size;
	snprintf(path, sizeof path, "%s/xtrace.1.windows", board->directory);
	FILE *list = fopen(path, "r");
	assert_non_null(list);
	unlink(path);
	uint8_t *states = read_file(board->directory, &name, &size, true);
	for (unsigned i = 0; i < WINDOWS; i++) {
		struct tw_xtrace_snapshot snapshot;
		assert_non_null(fgets(line, sizeof line, list));
		assert_int_equal(sscanf(line, "%*s 0 %*s %*s %*s %*s %15s", column), 1);
		unsigned long number = strtoul(column, NULL, 10);
		int length =
		    snprintf(wanted_line, sizeof wanted_line, "%u\t0\t%lu\t%lu\t", i, begun->at[i], asked[i].length);
		assert_memory_equal(line, wanted_line, (size_t)length);
		assert_int_equal(tw_xtrace_snapshot_decode(states + HEADER + (size_t)number * SNAPSHOT, &layout,
		                                           &snapshot),
		                 0);
		assert_int_equal(snapshot.count, begun->recorded[i]);
	}
	assert_null(fgets(line, sizeof line, list));
	fclose(list);
	free(states);
}

static void run(unsigned number, bool marks, bool windows)
{
	char folder[] = "/tmp/test_system_core.XXXXXX";
	int fd, status;
	struct collect_board *board = collect_board_make(&fd);
	size_t room = CORES * sizeof(struct steps) + sizeof(struct begun);
	struct steps *steps = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_non_null(board);
	assert_true(steps != MAP_FAILED && mkdtemp(folder));
	struct begun *begun = (void *)(steps + CORES);
	snprintf(board->directory, sizeof board->directory, "%s", folder);
	strcpy(board->timestamp, "1");
	board->options.interval = INTERVAL;
	board->options.from_hint = marks;
	board->windows.count = windows ? WINDOWS : 0;
	memcpy(board->windows.items, asked, sizeof asked);
	seed = number;
	has_values = number % 2;
	pid_t child = fork();
	if (child == 0)
		play_all(board, steps, begun);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_int_equal(collect_flush(board), 0);
	assert_true(steps[0].count > (windows ? 1400 : STEPS / 8) && steps[1].count > (windows ? 1000 : STEPS / 8));
	if (windows)
		check_windows(board, begun);
	for (unsigned i = 0; i < CORES; i++)
		check_core(folder, i, &steps[i]);
	assert_int_equal(rmdir(folder), 0);
	munmap(steps, room);
	collect_board_free(board, fd);
}

/* ---- The tests. ---- */

static void tells_what_was_executed(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++)
		run(i, false, false);
}

static void tells_what_is_between_marks(void **state)
{
	(void)state;
	for (unsigned i = 4; i < 8; i++)
		run(i, true, false);
}

static void tells_what_is_in_windows(void **state)
{
	(void)state;
	for (unsigned i = 8; i < 12; i++)
		run(i, false, true);
}

SUITE(system_core)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tells_what_was_executed),
	    cmocka_unit_test(tells_what_is_between_marks),
	    cmocka_unit_test(tells_what_is_in_windows),
	};
	return cmocka_run_group_tests_name("system_core", tests, NULL, NULL);
}
