/* qemu72.c - QEMU 7.2: registers by what the program exports, and where they lie by trying. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/qemu/qemu72.h"

#include "base/bytes/bytes.h"
#include "collect/helpers.h"
#include "collect/qemu/qemu.h"

#include <dlfcn.h>
#include <string.h>

enum {
	CORE = 0x8000,        /* where X0 and the flags are, from the processor's first byte */
	WHOLE = QEMU72_WHOLE, /* where the vectors and TPIDR_EL0 are: still inside, by a wide margin */
	REGISTERS_AT = 64,    /* the environment begins with the 16 registers of AArch32 */
	GDB_PC = 32,
	GDB_PSTATE,
	GDB_FPSR = 32, /* of the floating point's own numbers */
	GDB_FPCR
};

/* Where things are, from the processor's first byte; the same for all of them. 0: not found. */
static struct {
	qemu_gdb_read core, floating;
	qemu_gdb_write set_core, set_floating;
	size_t x, vectors, tpidr;
	size_t n, z, c, v;
	bool known;
} layout;

static uint8_t before[WHOLE]; /* the processor at MSR TPIDR_EL0, of the first thread only */

void **qemu72_processor(void)
{
	void **place = dlsym(RTLD_DEFAULT, "thread_cpu");
	return place ? place : dlsym(RTLD_DEFAULT, "current_cpu");
}

bool qemu72_setup(void)
{
	*(void **)&layout.core = dlsym(RTLD_DEFAULT, "aarch64_cpu_gdb_read_register");
	*(void **)&layout.set_core = dlsym(RTLD_DEFAULT, "aarch64_cpu_gdb_write_register");
	*(void **)&layout.floating = dlsym(RTLD_DEFAULT, "aarch64_fpu_gdb_get_reg");
	*(void **)&layout.set_floating = dlsym(RTLD_DEFAULT, "aarch64_fpu_gdb_set_reg");
	int *singlestep = dlsym(RTLD_DEFAULT, "singlestep");
	if (!layout.core || !layout.set_core || !layout.floating || !layout.set_floating || !singlestep ||
	    !qemu72_processor())
		return false;
	if (!helpers_write_back())
		*singlestep = 1; /* blocks of one instruction: slower, but nothing stays in the host's registers */
	return true;
}

/* ---- Finding where they are. ---- */

static uint64_t ask(struct guest *machine, qemu_gdb_read read, const void *from, int number)
{
	uint8_t bytes[8] = {0};
	machine->scratch->size = 0;
	read((void *)(uintptr_t)from, machine->scratch, number);
	memcpy(bytes, machine->scratch->data, machine->scratch->size < 8 ? machine->scratch->size : 8);
	return tw_load64(bytes, false);
}

/* X0 to X30, SP and PC, one after the other. */
static size_t find_registers(struct guest *machine)
{
	uint64_t words[GDB_PC + 1];
	for (int i = 0; i <= GDB_PC; i++)
		words[i] = ask(machine, layout.core, machine->cpu, i);
	for (size_t at = 8; at < CORE; at += 8)
		if (memcmp(machine->cpu + at, words, sizeof words) == 0)
			return at;
	return 0;
}

static void set_flags(const struct guest *machine, uint32_t pstate)
{
	uint8_t bytes[8];
	tw_store64(bytes, pstate, false);
	layout.set_core((void *)(uintptr_t)machine->cpu, bytes, GDB_PSTATE);
}

static uint32_t word_at(const struct guest *machine, size_t at)
{
	uint32_t word;
	memcpy(&word, machine->cpu + at, sizeof word);
	return word;
}

/* Finds the word that is one value with a flag, and another without any. 0: none, or several. */
static size_t find_flag(const struct guest *machine, uint32_t rest, uint32_t flag, uint32_t with, uint32_t without)
{
	size_t found = 0;
	unsigned count = 0;
	for (size_t at = layout.x; at < CORE; at += 4) {
		set_flags(machine, rest | flag);
		bool fits = word_at(machine, at) == with;
		set_flags(machine, rest);
		if (!fits || word_at(machine, at) != without)
			continue;
		found = at;
		count++;
	}
	return count == 1 ? found : 0;
}

/* QEMU keeps N and V as the sign of a word, Z as a word that is 0, C as 0 or 1. N's word is the whole of PSTATE when it
 * is set from one, as is the AArch32 copy: so Z is set with it, which that copy does not show apart. */
static bool find_flags(struct guest *machine)
{
	enum { V = 28, C, Z, N };
	uint32_t pstate = (uint32_t)ask(machine, layout.core, machine->cpu, GDB_PSTATE), rest = pstate & 0x0fffffff;
	layout.c = find_flag(machine, rest, 1u << C, 1, 0);
	layout.v = find_flag(machine, rest, 1u << V, 1u << 31, 0);
	layout.z = find_flag(machine, rest, 1u << Z, 0, 1u << Z);
	layout.n = find_flag(machine, rest, 1u << N, 1u << N | rest, rest);
	set_flags(machine, pstate);
	return layout.c && layout.v && layout.z && layout.n;
}

void *qemu72_environment(const struct guest *machine)
{
	return (void *)(uintptr_t)(machine->cpu + layout.x - REGISTERS_AT);
}

size_t qemu72_vectors(void)
{
	return layout.vectors;
}

/* Sets V0 and V1 to something odd and looks for it. */
static size_t find_vectors(struct guest *machine)
{
	static const uint8_t odd[MACHINE_VECTOR] = {0xb7, 0x1e, 0x51, 0x62, 0x8a, 0xed, 0x2a, 0x6a,
	                                            0xbf, 0x71, 0x58, 0x80, 0x9c, 0xf4, 0xf3, 0xc7};
	void *environment = qemu72_environment(machine);
	uint8_t old[MACHINE_VECTOR];
	size_t found = 0;
	machine->scratch->size = 0;
	layout.floating(environment, machine->scratch, 0);
	if (machine->scratch->size != sizeof old)
		return 0;
	memcpy(old, machine->scratch->data, sizeof old);
	layout.set_floating(environment, odd, 0);
	for (size_t at = layout.x; !found && at + sizeof odd <= WHOLE; at += 8)
		found = memcmp(machine->cpu + at, odd, sizeof odd) == 0 ? at : 0;
	layout.set_floating(environment, old, 0);
	return found;
}

bool qemu72_open(struct guest *machine)
{
	machine->cpu = *qemu72_processor();
	if (!layout.known) {
		layout.x = find_registers(machine);
		layout.known = layout.x && find_flags(machine) && (layout.vectors = find_vectors(machine));
	}
	machine->x = (const void *)(machine->cpu + layout.x);
	return layout.known;
}

/* ---- Reading them. ---- */

uint64_t qemu72_flags(const struct guest *machine)
{
	return (uint64_t)(word_at(machine, layout.n) & 1u << 31) | (uint64_t)(word_at(machine, layout.z) == 0) << 30 |
	       (uint64_t)(word_at(machine, layout.c) & 1) << 29 | (uint64_t)(word_at(machine, layout.v) >> 31) << 28;
}

void qemu72_vector(const struct guest *machine, unsigned number, uint8_t bytes[MACHINE_VECTOR])
{
	enum { STRIDE = 256 }; /* a register has room for SVE's longest */
	memcpy(bytes, machine->cpu + layout.vectors + (size_t)number * STRIDE, MACHINE_VECTOR);
}

void qemu72_system(const struct guest *machine, struct tw_xtrace_snapshot *snapshot)
{
	struct guest own = *machine;
	const void *environment = qemu72_environment(machine);
	snapshot->fpcr = ask(&own, layout.floating, environment, GDB_FPCR);
	snapshot->fpsr = ask(&own, layout.floating, environment, GDB_FPSR);
	if (layout.tpidr)
		memcpy(&snapshot->tpidr_el0, machine->cpu + layout.tpidr, sizeof snapshot->tpidr_el0);
}

/* ---- TPIDR_EL0: the word that MSR changes to its operand. ---- */

void qemu72_before_tpidr(const struct guest *machine)
{
	if (!layout.tpidr)
		memcpy(before, machine->cpu, sizeof before);
}

void qemu72_after_tpidr(const struct guest *machine, uint64_t value)
{
	if (layout.tpidr)
		return;
	for (size_t at = layout.x + 8ul * 33; at + 8 <= WHOLE; at += 8)
		if (memcmp(machine->cpu + at, &value, 8) == 0 && memcmp(before + at, &value, 8) != 0)
			layout.tpidr = at;
}
