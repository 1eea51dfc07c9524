/* registers.c - system registers: by the plugin interface, or as QEMU 7.2 tells them to debuggers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system/registers.h"

#include "base/bytes/bytes.h"
#include "collect/qemu/qemu.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { STATE = 33, PARTS_MOST = 16 };

static const char *const names[] = {
#define X(name) [SYSTEM_##name] = #name,
    COLLECT_SYSTEM_REGISTER_LIST(X)
#undef X
};

static struct {
	/* Interface version 4. */
	qemu_read_register read;
	void *handles[SYSTEM_REGISTERS], *state;
	/* QEMU 7.2: numbers in a part of the debugger's registers, -1 for none. */
	qemu_gdb_read core, read_part;
	int numbers[SYSTEM_REGISTERS];
	bool known, usable;
} found;

static int register_of(const char *name, size_t length)
{
	for (int i = 0; i < SYSTEM_REGISTERS; i++)
		if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
			return i;
	return -1;
}

static bool is_usable(void)
{
	static const enum system_register needed[] = {SYSTEM_TTBR0_EL1, SYSTEM_ELR_EL1, SYSTEM_TPIDR_EL0};
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (!found.handles[needed[i]] && found.numbers[needed[i]] < 0)
			return false;
	return true;
}

/* ---- Interface version 4. ---- */

static bool find_named(void)
{
	qemu_registers registers;
	*(void **)&registers = dlsym(RTLD_DEFAULT, "qemu_plugin_get_registers");
	*(void **)&found.read = dlsym(RTLD_DEFAULT, "qemu_plugin_read_register");
	const struct qemu_array *array = registers && found.read ? registers() : NULL;
	const struct qemu_register *all = array ? (const void *)array->data : NULL;
	for (unsigned i = 0; array && i < array->count; i++) {
		int which = register_of(all[i].name, strlen(all[i].name));
		if (which >= 0)
			found.handles[which] = all[i].handle;
		if (strcmp(all[i].name, "cpsr") == 0)
			found.state = all[i].handle;
	}
	return found.state && is_usable();
}

static uint64_t first_word(const struct guest *machine)
{
	uint8_t bytes[8] = {0};
	if (machine->scratch->size)
		memcpy(bytes, machine->scratch->data, machine->scratch->size < 8 ? machine->scratch->size : 8);
	return tw_load64(bytes, false);
}

static uint64_t read_named(const struct guest *machine, void *handle)
{
	machine->scratch->size = 0;
	found.read(handle, machine->scratch);
	return first_word(machine);
}

/* ---- QEMU 7.2. ---- */

/* A copy of memory that may not be there. */
static bool peek(const void *from, void *to, size_t size)
{
	struct iovec own = {to, size}, other = {(void *)(uintptr_t)from, size};
	return process_vm_readv(getpid(), &own, 1, &other, 1, 0) == (ssize_t)size;
}

static const void *pointer_at(const uint8_t *place)
{
	const void *pointer;
	memcpy(&pointer, place, sizeof pointer);
	return pointer;
}

/* The parts are a list that the processor points to; one of the first is known by its function, which with SVE is
 * another. */
static bool find_list(const struct guest *machine, struct qemu_gdb_part *part)
{
	enum { SEARCHED = 0x4000 };
	qemu_gdb_read floating, scalable;
	*(void **)&floating = dlsym(RTLD_DEFAULT, "aarch64_fpu_gdb_get_reg");
	*(void **)&scalable = dlsym(RTLD_DEFAULT, "arm_gdb_get_svereg");
	for (size_t at = 0; at < SEARCHED; at += sizeof(void *))
		if (peek(pointer_at(machine->cpu + at), part, sizeof *part) && part->read &&
		    (part->read == floating || part->read == scalable))
			return true;
	return false;
}

static bool find_part(const struct guest *machine, const char *xml)
{
	struct qemu_gdb_part part;
	char name[32];
	bool is_there = find_list(machine, &part);
	for (int i = 0; is_there && i < PARTS_MOST; i++) {
		size_t size = strlen(xml) + 1;
		if (size <= sizeof name && peek(part.xml, name, size) && memcmp(name, xml, size) == 0) {
			found.read_part = part.read;
			return true;
		}
		is_there = part.next && peek(part.next, &part, sizeof part);
	}
	return false;
}

/* <reg name="TTBR0_EL1" bitsize="64" .../>: its number is how many stand before it. */
static void take_numbers(const char *xml)
{
	static const char before[] = "<reg name=\"";
	for (int i = 0; (xml = strstr(xml, before)); i++) {
		xml += sizeof before - 1;
		int which = register_of(xml, strcspn(xml, "\""));
		if (which >= 0)
			found.numbers[which] = i;
	}
}

static bool find_numbered(const struct guest *machine)
{
	static const char part[] = "system-registers.xml";
	qemu_gdb_xml xml;
	*(void **)&xml = dlsym(RTLD_DEFAULT, "arm_gdb_get_dynamic_xml");
	const char *text = xml ? xml((void *)(uintptr_t)machine->cpu, part) : NULL;
	if (!text || !find_part(machine, part))
		return false;
	take_numbers(text);
	return is_usable();
}

/* The environment, which the functions take, begins with the 16 registers of AArch32. */
static uint64_t read_numbered(const struct guest *machine, int number)
{
	enum { REGISTERS_AT = 64 };
	const uint8_t *environment = (const uint8_t *)machine->x - REGISTERS_AT;
	machine->scratch->size = 0;
	found.read_part((void *)(uintptr_t)environment, machine->scratch, number);
	return first_word(machine);
}

/* ---- Both. ---- */

/* QEMU 7.2 keeps PSTATE, but for the flags and DAIF, behind X0 to X30, SP and PC. */
unsigned system_level(const struct guest *machine)
{
	uint64_t state = machine->x ? machine->x[STATE] : read_named(machine, found.state);
	return (unsigned)tw_bits(state, 2, 3);
}

static uint64_t whole_state(const struct guest *machine)
{
	if (!machine->x)
		return read_named(machine, found.state);
	machine->scratch->size = 0;
	found.core((void *)(uintptr_t)machine->cpu, machine->scratch, STATE);
	return first_word(machine);
}

/* The level is where it is read: what the debugger is told agrees. */
static bool states_level(const struct guest *machine)
{
	*(void **)&found.core = dlsym(RTLD_DEFAULT, "aarch64_cpu_gdb_read_register");
	return found.core && system_level(machine) == tw_bits(whole_state(machine), 2, 3);
}

bool system_registers_open(const struct guest *machine)
{
	if (found.known)
		return found.usable;
	for (int i = 0; i < SYSTEM_REGISTERS; i++)
		found.numbers[i] = -1;
	found.usable = machine->x ? find_numbered(machine) && states_level(machine) : find_named();
	found.known = true;
	return found.usable;
}

uint64_t system_register(const struct guest *machine, enum system_register which)
{
	if (!machine->x)
		return found.handles[which] ? read_named(machine, found.handles[which]) : 0;
	return found.numbers[which] >= 0 ? read_numbered(machine, found.numbers[which]) : 0;
}

void system_snapshot(const struct guest *machine, struct tw_xtrace_snapshot *snapshot)
{
	enum { DAIF = 0x3c0 };
	snapshot->tpidr_el0 = system_register(machine, SYSTEM_TPIDR_EL0);
	snapshot->tpidrro_el0 = system_register(machine, SYSTEM_TPIDRRO_EL0);
	snapshot->ttbr0_el1 = system_register(machine, SYSTEM_TTBR0_EL1);
	snapshot->elr_el1 = system_register(machine, SYSTEM_ELR_EL1);
	snapshot->spsr_el1 = system_register(machine, SYSTEM_SPSR_EL1);
	snapshot->esr_el1 = system_register(machine, SYSTEM_ESR_EL1);
	snapshot->tpidr_el1 = system_register(machine, SYSTEM_TPIDR_EL1);
	snapshot->daif = whole_state(machine) & DAIF;
}
