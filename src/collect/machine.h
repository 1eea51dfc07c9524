/* machine.h - the guest's registers and memory, as far as this QEMU shows them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_MACHINE_H
#define COLLECT_MACHINE_H

#include <trackway/xtrace.h>

/* The processor of one thread. */
struct guest {
	const uint64_t *x;  /* QEMU 7.2: X0 to X30 and SP; NULL: by the interface */
	const uint8_t *cpu; /* QEMU 7.2: the whole processor */
	struct qemu_bytes *scratch;
};

enum { MACHINE_VECTOR = 16, MACHINE_SP = 31 };

/* Finds what this QEMU offers. Returns 0, or enum collect_refusal. */
int machine_setup(void);

/* To be called in the thread, at the beginning of a block. Returns whether the registers can be read. */
bool machine_open(struct guest *machine);

/* X0 to X30, SP as the last. What they are before the instruction that calls back. */
uint64_t machine_register(const struct guest *machine, unsigned number);

/* Registers that interface version 4 alone names: Z0 to Z31, P0 to P15 and FFR, VG. */
enum machine_named { MACHINE_Z0, MACHINE_P0 = 32, MACHINE_FFR = MACHINE_P0 + 16, MACHINE_VG };

/* The first bytes of one of them, and zeros. Returns how many bytes it has: 0 where there is none. */
size_t machine_named(const struct guest *machine, unsigned named, void *to, size_t size);

/* NZCV as in PSTATE. */
uint64_t machine_flags(const struct guest *machine);

/* The 16 bytes of V0 to V31. */
void machine_vector(const struct guest *machine, unsigned number, uint8_t bytes[MACHINE_VECTOR]);

/* All registers; z has room for the 32 vectors and stays with the caller. */
void machine_snapshot(const struct guest *machine, struct tw_xtrace_snapshot *snapshot, uint8_t z[32 * MACHINE_VECTOR]);

/* Follows MSR TPIDR_EL0, which QEMU 7.2 does not show: to be called before, and when it is done. */
void machine_before_tpidr(const struct guest *machine);
void machine_after_tpidr(const struct guest *machine, uint64_t value);

/* Whether this QEMU tells what was accessed. */
bool machine_has_values(void);

/* Of a whole machine: whether an access that was just made was not of memory, or is not known to have been. */
bool machine_is_device(uint32_t info, uint64_t address);

/* The bytes of an access that was just made; of programs, or where QEMU tells values. */
void machine_accessed(uint32_t info, uint64_t address, uint8_t *bytes, unsigned size);

/* Memory that may not be there. */
bool machine_read(const struct guest *machine, uint64_t address, void *bytes, size_t size);

/* The bytes of an instruction, as a word. */
struct qemu_plugin_insn;
uint32_t machine_opcode(const struct qemu_plugin_insn *insn);

/* Where the instruction lies in this process; 0: not known. */
uintptr_t machine_code(const struct qemu_plugin_insn *insn);

#endif
