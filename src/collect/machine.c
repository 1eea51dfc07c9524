/* machine.c - the guest's registers and memory: by the plugin interface, or as QEMU 7.2 keeps them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/machine.h"

#include "base/bytes/bytes.h"
#include "collect/board.h"
#include "collect/qemu/qemu.h"
#include "collect/qemu/qemu72.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/uio.h>
#include <unistd.h>

/* The interface's functions, NULL where they are not there. */
static struct {
	qemu_registers registers;
	qemu_read_register read_register;
	qemu_value_of value_of;
	qemu_read_memory read_memory;
	qemu_insn_place insn_place;
	void *insn_bytes; /* of two types: see below */
	struct qemu_bytes *(*bytes_new)(void);
	struct qemu_bytes *(*bytes_resize)(struct qemu_bytes *bytes, unsigned size);
	const uintptr_t *guest_base; /* NULL for a whole machine */
	qemu_debug_access debug_access;
	qemu_place_of place_of;
	qemu_is_device is_device;
	bool ready;
} qemu;

/* Names of registers in version 4, and where their handles are. */
enum { SP = 31, PSTATE, FPSR, FPCR, TPIDR, VECTORS, HANDLES = VECTORS + MACHINE_VG + 1 };
static void *handles[HANDLES];

static void *symbol(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}

/* A plugin says which version it wants before it is asked for anything: 1 is refused by those that have 4, and the
 * reverse. */
__attribute__((constructor)) static void choose_version(void)
{
	qemu_plugin_version = symbol("qemu_plugin_mem_get_value") ? 4 : 1;
}

int qemu_plugin_version;

int machine_setup(void)
{
	*(void **)&qemu.bytes_new = symbol("g_byte_array_new");
	*(void **)&qemu.bytes_resize = symbol("g_byte_array_set_size");
	*(void **)&qemu.registers = symbol("qemu_plugin_get_registers");
	*(void **)&qemu.read_register = symbol("qemu_plugin_read_register");
	*(void **)&qemu.value_of = symbol("qemu_plugin_mem_get_value");
	*(void **)&qemu.read_memory = symbol("qemu_plugin_read_memory_vaddr");
	*(void **)&qemu.insn_place = symbol("qemu_plugin_insn_haddr");
	qemu.insn_bytes = symbol("qemu_plugin_insn_data");
	qemu.guest_base = symbol("guest_base");
	*(void **)&qemu.place_of = symbol("qemu_plugin_get_hwaddr");
	*(void **)&qemu.is_device = symbol("qemu_plugin_hwaddr_is_io");
	*(void **)&qemu.debug_access = symbol("cpu_memory_rw_debug");
	if (!qemu.bytes_new || !qemu.bytes_resize || !qemu.insn_bytes)
		return COLLECT_NO_REGISTERS;
	if (qemu_plugin_version == 4)
		return qemu.registers && qemu.read_register && qemu.read_memory ? 0 : COLLECT_NO_REGISTERS;
	return (qemu.guest_base || qemu.debug_access) && qemu72_setup() ? 0 : COLLECT_NO_REGISTERS;
}

/* ---- Version 4: registers have names. ---- */

/* A letter and a number. */
static int numbered(const char *name)
{
	static const struct {
		char letter;
		unsigned count, first;
	} sets[] = {{'x', SP, 0}, {'v', 32, VECTORS}, {'z', 32, VECTORS + MACHINE_Z0}, {'p', 16, VECTORS + MACHINE_P0}};
	char *end;
	if (!name[0] || !name[1])
		return -1;
	unsigned long number = strtoul(name + 1, &end, 10);
	for (size_t i = 0; !*end && i < sizeof sets / sizeof *sets; i++)
		if (sets[i].letter == name[0] && number < sets[i].count)
			return (int)(sets[i].first + number);
	return -1;
}

static int number_of(const char *name)
{
	static const char *const others[HANDLES] = {
	    [SP] = "sp",
	    [PSTATE] = "cpsr",
	    [FPSR] = "fpsr",
	    [FPCR] = "fpcr",
	    [TPIDR] = "TPIDR_EL0",
	    [VECTORS + MACHINE_FFR] = "ffr",
	    [VECTORS + MACHINE_VG] = "vg",
	};
	for (int i = 0; i < HANDLES; i++)
		if (others[i] && strcasecmp(name, others[i]) == 0)
			return i;
	return numbered(name);
}

static bool take_handles(void)
{
	struct qemu_array *array = qemu.registers();
	const struct qemu_register *all = array ? (const void *)array->data : NULL;
	for (unsigned i = 0; array && i < array->count; i++) {
		int number = number_of(all[i].name);
		if (number >= 0)
			handles[number] = all[i].handle;
	}
	for (int i = 0; i < TPIDR; i++)
		if (!handles[i])
			return false;
	return true;
}

/* The first bytes of a register; zeros where there is none. Returns how many it has. */
static size_t read_named(const struct guest *machine, int number, void *to, size_t size)
{
	memset(to, 0, size);
	if (!handles[number])
		return 0;
	qemu.bytes_resize(machine->scratch, 0);
	qemu.read_register(handles[number], machine->scratch);
	memcpy(to, machine->scratch->data, machine->scratch->size < size ? machine->scratch->size : size);
	return machine->scratch->size;
}

static uint64_t named(const struct guest *machine, int number)
{
	uint8_t bytes[8];
	read_named(machine, number, bytes, sizeof bytes);
	return tw_load64(bytes, false);
}

size_t machine_named(const struct guest *machine, unsigned named, void *to, size_t size)
{
	return read_named(machine, VECTORS + (int)named, to, size);
}

/* ---- Both. ---- */

bool machine_open(struct guest *machine)
{
	*machine = (struct guest){.scratch = qemu.bytes_new()};
	if (qemu_plugin_version == 4) {
		qemu.ready = qemu.ready || take_handles();
		return qemu.ready;
	}
	return qemu72_open(machine);
}

uint64_t machine_register(const struct guest *machine, unsigned number)
{
	return machine->x ? machine->x[number] : named(machine, (int)number);
}

uint64_t machine_flags(const struct guest *machine)
{
	return machine->x ? qemu72_flags(machine) : named(machine, PSTATE) & 0xf0000000;
}

void machine_vector(const struct guest *machine, unsigned number, uint8_t bytes[MACHINE_VECTOR])
{
	if (machine->x)
		qemu72_vector(machine, number, bytes);
	else
		read_named(machine, VECTORS + (int)number, bytes, MACHINE_VECTOR);
}

void machine_snapshot(const struct guest *machine, struct tw_xtrace_snapshot *snapshot, uint8_t z[32 * MACHINE_VECTOR])
{
	for (unsigned i = 0; i < TW_XTRACE_REGISTERS; i++)
		snapshot->x[i] = machine_register(machine, i);
	for (unsigned i = 0; i < 32; i++)
		machine_vector(machine, i, z + i * MACHINE_VECTOR);
	snapshot->z = z;
	snapshot->nzcv = machine_flags(machine);
	snapshot->vector_bits = 8 * MACHINE_VECTOR;
	if (machine->x) {
		qemu72_system(machine, snapshot);
		return;
	}
	snapshot->fpcr = named(machine, FPCR) & UINT32_MAX;
	snapshot->fpsr = named(machine, FPSR) & UINT32_MAX;
	snapshot->tpidr_el0 = named(machine, TPIDR);
}

void machine_before_tpidr(const struct guest *machine)
{
	if (machine->x)
		qemu72_before_tpidr(machine);
}

void machine_after_tpidr(const struct guest *machine, uint64_t value)
{
	if (machine->x)
		qemu72_after_tpidr(machine, value);
}

/* By sizes that are known: this is called for every access. */
static void copy_few(uint8_t *to, const uint8_t *from, unsigned size)
{
	switch (size) {
	case 4:
		memcpy(to, from, 4);
		return;
	case 8:
		memcpy(to, from, 8);
		return;
	case 1:
		*to = *from;
		return;
	default:
		memcpy(to, from, size);
	}
}

bool machine_has_values(void)
{
	return qemu.value_of != NULL;
}

bool machine_is_device(uint32_t info, uint64_t address)
{
	const struct qemu_place *place = qemu.place_of && qemu.is_device ? qemu.place_of(info, address) : NULL;
	return !place || qemu.is_device(place);
}

void machine_accessed(uint32_t info, uint64_t address, uint8_t *bytes, unsigned size)
{
	if (!qemu.value_of) {
		copy_few(bytes, (const void *)(*qemu.guest_base + (uintptr_t)address), size);
		return;
	}
	struct qemu_value value = qemu.value_of(info);
	memcpy(bytes, value.as.bytes, size < sizeof value.as.bytes ? size : sizeof value.as.bytes);
}

/* The kernel copies: where nothing is mapped it fails, and no signal comes. */
static bool copy_own(uintptr_t from, void *bytes, size_t size)
{
	struct iovec to = {bytes, size}, source = {(void *)from, size};
	return process_vm_readv(getpid(), &to, 1, &source, 1, 0) == (ssize_t)size;
}

bool machine_read(const struct guest *machine, uint64_t address, void *bytes, size_t size)
{
	if (!qemu.value_of && !qemu.guest_base)
		return qemu.debug_access((void *)(uintptr_t)machine->cpu, address, bytes, size, false) == 0;
	if (!qemu.read_memory || !qemu.value_of)
		return copy_own(*qemu.guest_base + (uintptr_t)address, bytes, size);
	if (!qemu.read_memory(address, machine->scratch, size) || machine->scratch->size != size)
		return false;
	memcpy(bytes, machine->scratch->data, size);
	return true;
}

uint32_t machine_opcode(const struct qemu_plugin_insn *insn)
{
	uint8_t bytes[4] = {0};
	qemu_insn_bytes bytes_of;
	qemu_insn_copy copy;
	*(void **)&bytes_of = qemu.insn_bytes;
	*(void **)&copy = qemu.insn_bytes;
	if (qemu_plugin_version == 4)
		copy(insn, bytes, sizeof bytes);
	else
		memcpy(bytes, bytes_of(insn), sizeof bytes);
	return tw_load32(bytes, false);
}

uintptr_t machine_code(const struct qemu_plugin_insn *insn)
{
	return qemu.insn_place ? (uintptr_t)qemu.insn_place(insn) : 0;
}
