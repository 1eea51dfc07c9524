/* core.c - a core of a whole machine: an instruction's tokens are written when the next one tells that it is done. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system/core.h"

#include "collect/machine.h"
#include "collect/qemu/qemu.h"
#include "collect/scalable/registers.h"
#include "collect/system/calling.h"
#include "collect/system/parts.h"
#include "collect/system/steps.h"
#include "collect/windows/detail.h"
#include "xtrace/format/opcode.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

static struct guest_core *cores[CORES_MOST];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what opens a core */

/* ---- From one instruction to the next. ---- */

static bool may_branch(const struct system_insn *insn)
{
	struct xtrace_operation operation;
	xtrace_operation(insn->opcode, &operation);
	return operation.flow != XTRACE_NEXT;
}

/* Whether the instruction before `next` was executed: an exception may have come instead, whose handler is to come back
 * to it; or QEMU begins it once more. */
static bool is_done(const struct guest_core *core, const struct system_insn *next, unsigned level)
{
	const struct system_insn *insn = &core->step.insn;
	if (next->pc == insn->pc + 4 || may_branch(insn))
		return true;
	return next->pc != insn->pc && system_register(&core->machine, core_links[level]) != insn->pc;
}

static void complete(struct guest_core *core, const struct system_insn *next)
{
	struct core_step *step = &core->step;
	if (!step->is_written)
		core_put_insn(core);
	core->needs_pc = may_branch(&step->insn);
	if (!step->target)
		step->target = next->pc;
	if (core_kinds[step->insn.op.kind].after)
		core_kinds[step->insn.op.kind].after(core);
}

/* What was executed before `next`. */
static void settle(struct guest_core *core, const struct system_insn *next)
{
	unsigned level = next->is_first ? system_level(&core->machine) : core->level;
	if (core->step.is_there) {
		bool done = is_done(core, next, level);
		if (done)
			complete(core, next);
		else if (core->stream.last_count == core->stream.count) /* what the last snapshot stands before */
			core->needs_snapshot = true;
		if (level != core->level) {
			core->needs_pc = true;
			if (core->stream.count) /* a stream begins with an instruction */
				core_put_registers(core);
		}
	}
	core->step.is_there = false;
	core->level = level;
}

/* A slice can begin where a program is executed: in the kernel a snapshot waits for that, a hundredth of the distance,
 * which `check` lets pass. */
static bool is_due(const struct guest_core *core)
{
	enum { PATIENCE = 100 };
	uint64_t patience = core->level ? core_board->options.interval / PATIENCE : 0;
	return core->needs_snapshot || core->stream.count >= core->stream.next_snapshot + patience;
}

static void take_snapshot(void *whose)
{
	struct guest_core *core = whose;
	stream_snapshot(&core->stream, core_board, &core->machine);
	core->needs_snapshot = false;
	core->needs_pc = true;
}

static void begin(struct guest_core *core, const struct system_insn *insn)
{
	struct core_step *step = &core->step;
	if (is_due(core))
		take_snapshot(core);
	step->insn = *insn;
	step->is_there = true;
	step->is_written = false;
	step->accessed = 0;
	step->target = 0;
	step->has_order = false;
	if (core_kinds[insn->op.kind].before)
		core_kinds[insn->op.kind].before(core);
}

/* ---- Beginning and end. ---- */

static unsigned count_cores(void)
{
	static const char *const names[] = {"qemu_plugin_num_vcpus", "qemu_plugin_n_vcpus"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		qemu_count count;
		*(void **)&count = dlsym(RTLD_DEFAULT, names[i]);
		if (count)
			return (unsigned)count();
	}
	return CORES_MOST;
}

static struct guest_core *make(unsigned cpu)
{
	struct guest_core *core = calloc(1, sizeof *core);
	if (!core || !machine_open(&core->machine) || !scalable_open(&core->machine) ||
	    !system_registers_open(&core->machine)) {
		atomic_store(&core_board->refused, COLLECT_NO_REGISTERS);
		free(core);
		return NULL;
	}
	atomic_store(&core_board->refused, COLLECT_BEGAN);
	core->number = cpu;
	return core;
}

/* The calling core. NULL when it cannot be recorded. */
static struct guest_core *find(unsigned vcpu)
{
	unsigned cpu = calling_core(vcpu);
	if (cpu >= CORES_MOST)
		return NULL;
	if (cores[cpu] || atomic_load(&core_board->refused) == COLLECT_NO_REGISTERS)
		return cores[cpu];
	pthread_mutex_lock(&lock);
	cores[cpu] = make(cpu);
	pthread_mutex_unlock(&lock);
	return cores[cpu];
}

/* A core is recorded from here on. Windows have all calls wanted themselves: a core that sleeps would want them long
 * after. */
static void go_live(struct guest_core *core)
{
	core->level = system_level(&core->machine);
	core->needs_snapshot = core->needs_pc = true;
	core->is_live = true;
	core->call = core->task = 0; /* another one may be executed */
	if (!parts.has_windows)
		detail_want();
	if (core->stream.slot) {
		if (core->stream.count) /* there is a gap */
			core_put_registers(core);
		return;
	}
	atomic_store(&core_several, count_cores() > 1);
	stream_open_core(&core->stream, core_board, core->number, (int)core->number == atomic_load(&parts.main),
	                 atomic_load(&core_several));
}

static void stop(struct guest_core *core)
{
	core->is_live = core->step.is_there = false;
	stream_flush(&core->stream, core_board);
	if (!parts.has_windows)
		detail_release();
}

static void mark(struct guest_core *core)
{
	bool begins = parts_mark(core->number);
	if (core->is_live) /* also where another core's mark was the last one */
		stop(core);
	if (begins && !parts.has_windows)
		go_live(core);
	else if (begins)
		detail_renew();
}

void core_setup(struct collect_board *shared)
{
	core_board = shared;
	calling_setup();
	parts_setup(shared);
}

/* ---- Windows. ---- */

static void begin_window(void *whose)
{
	struct guest_core *core = whose;
	atomic_fetch_add(&parts.open, 1);
	if (!core->is_live)
		go_live(core);
}

static void end_window(void *whose)
{
	(void)whose;
	atomic_fetch_sub(&parts.open, 1);
}

static bool has_step(const struct guest_core *core)
{
	return parts.has_windows && parts_count() && windows_have_step(&core->part, &core->stream);
}

/* A slice can begin where a program is executed: in the kernel a window waits for that. */
static bool waits(struct guest_core *core)
{
	uint64_t count = core->part.passed + core->stream.count;
	return plan_may_wait(&core->part.plan, &core_board->windows, count) && system_level(&core->machine) > 0;
}

/* Before an instruction, when all before it is written. full: it has all calls, and what comes behind it. */
static void follow(struct guest_core *core, bool full)
{
	const struct windowed windowed = {.part = &core->part,
	                                  .stream = &core->stream,
	                                  .begin = begin_window,
	                                  .end = end_window,
	                                  .snapshot = take_snapshot,
	                                  .whose = core};
	if (!core->is_planned)
		core->part.plan = plan_of_core(&core_board->windows, core->number, (int)core->number == parts.main);
	core->is_planned = true;
	if (has_step(core))
		windows_follow(&windowed, core_board, full && !waits(core));
}

/* ---- QEMU's calls. ---- */

void core_passed(unsigned cpu, void *data)
{
	const struct system_passed *block = data;
	const struct system_insn next = {.pc = block->pc, .is_first = true};
	struct guest_core *core = find(cpu);
	if (!core)
		return;
	if (core->is_live) { /* no calls of its instructions came since recording ended */
		settle(core, &next);
		stop(core);
	}
	if (!parts_count())
		return;
	if (has_step(core))
		follow(core, false);
	core->part.passed += block->count;
}

bool core_wants_accesses(const struct system_insn *insn)
{
	return core_kinds[insn->op.kind].accesses;
}

void core_executed(unsigned cpu, void *data)
{
	const struct system_insn *insn = data;
	struct guest_core *core = find(cpu);
	if (!core)
		return;
	if (core->is_live)
		settle(core, insn);
	if (insn->op.kind == OP_MARK && core_board->options.from_hint) {
		mark(core);
		return;
	}
	if (has_step(core))
		follow(core, true);
	if (!parts_record()) {
		if (core->is_live)
			stop(core);
		core->part.passed += parts_count();
		return;
	}
	if (!core->is_live)
		go_live(core);
	begin(core, insn);
}

/* Reads memory; a device is not read again, which would change it: zeros. */
static void read_accessed(const struct guest_core *core, uint32_t info, uint64_t address, uint8_t *bytes, unsigned size)
{
	if (machine_is_device(info, address) || !machine_read(&core->machine, address, bytes, size))
		memset(bytes, 0, size);
}

void core_accessed(unsigned cpu, uint32_t info, uint64_t address, void *data)
{
	unsigned number = calling_core(cpu);
	struct guest_core *core = number < CORES_MOST ? cores[number] : NULL;
	unsigned size = 1u << qemu_plugin_mem_size_shift(info);
	struct core_step *step = core ? &core->step : NULL;
	(void)data; /* not used: of an instruction that is begun again `data` is not that of the step */
	if (!step || !step->is_there || !core_kinds[step->insn.op.kind].accesses)
		return;
	core_take_order(step);
	if (step->insn.op.kind != OP_ACCESS || size > (unsigned)CORE_ACCESS_MAX - step->accessed)
		return;
	if (step->accessed == 0)
		step->address = address;
	if (machine_has_values())
		machine_accessed(info, address, step->value + step->accessed, size);
	else if (!core_takes_register(&step->insn.op, step->accessed / step->insn.op.size))
		read_accessed(core, info, address, step->value + step->accessed, size);
	step->accessed = (uint8_t)(step->accessed + size);
}
