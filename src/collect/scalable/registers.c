/* registers.c - SVE's registers: by the plugin interface, or as QEMU 7.2 keeps them, found by trying. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/scalable/registers.h"

#include "base/bytes/bytes.h"
#include "collect/qemu/qemu.h"
#include "collect/qemu/qemu72.h"

#include <dlfcn.h>
#include <string.h>

enum {
	GDB_Z0, /* of SVE's own numbers */
	GDB_P0 = 34,
	GDB_VG = 51,
	GRANULE = 8 /* bytes that VG counts */
};

/* QEMU 7.2, where the processor has SVE. */
static struct {
	qemu_gdb_read read;
	qemu_gdb_write write;
	size_t predicates; /* from the processor's first byte: P0 to P15, FFR */
} scalable;

bool scalable_setup(void)
{
	if (qemu_plugin_version == 4)
		return true;
	*(void **)&scalable.read = dlsym(RTLD_DEFAULT, "arm_gdb_get_svereg");
	*(void **)&scalable.write = dlsym(RTLD_DEFAULT, "arm_gdb_set_svereg");
	return scalable.read && scalable.write;
}

/* ---- Finding where they are. ---- */

/* Writes something odd to the first 128 bits' predicate and looks for it: there is one place that takes it, and is as
 * before when that is undone. */
static size_t find_predicates(struct guest *machine)
{
	static const uint8_t odd[8] = {0x9d, 0x6b};
	void *environment = qemu72_environment(machine);
	uint8_t old[SCALABLE_PREDICATE] = {0}, wanted[SCALABLE_PREDICATE] = {0};
	size_t found = 0;
	machine->scratch->size = 0;
	scalable.read(environment, machine->scratch, GDB_P0);
	memcpy(old, machine->scratch->data, machine->scratch->size < sizeof old ? machine->scratch->size : sizeof old);
	memcpy(wanted, odd, sizeof odd);
	scalable.write(environment, wanted, GDB_P0);
	for (size_t at = qemu72_vectors(); !found && at + sizeof odd <= QEMU72_WHOLE; at += 8)
		found = memcmp(machine->cpu + at, odd, sizeof odd) == 0 ? at : 0;
	scalable.write(environment, old, GDB_P0);
	return found && memcmp(machine->cpu + found, old, sizeof odd) == 0 ? found : 0;
}

bool scalable_open(struct guest *machine)
{
	if (scalable.read && !scalable.predicates)
		scalable.predicates = find_predicates(machine);
	return !scalable.read || scalable.predicates;
}

/* ---- Reading them. ---- */

/* The first bytes of one that QEMU tells, and zeros. Returns how many it has: 0 without SVE. */
static size_t ask(const struct guest *machine, int number, enum machine_named named, uint8_t *to, size_t size)
{
	if (!machine->x)
		return machine_named(machine, named, to, size);
	memset(to, 0, size);
	if (!scalable.read)
		return 0;
	machine->scratch->size = 0;
	scalable.read(qemu72_environment(machine), machine->scratch, number);
	memcpy(to, machine->scratch->data, machine->scratch->size < size ? machine->scratch->size : size);
	return machine->scratch->size;
}

unsigned scalable_length(const struct guest *machine)
{
	uint8_t granules[8];
	bool is_there = ask(machine, GDB_VG, MACHINE_VG, granules, sizeof granules) != 0;
	return is_there ? (unsigned)tw_load64(granules, false) * GRANULE : MACHINE_VECTOR;
}

unsigned scalable_longest(const struct guest *machine)
{
	uint8_t first[MACHINE_VECTOR];
	size_t size = ask(machine, GDB_Z0, MACHINE_Z0, first, sizeof first);
	return size ? (unsigned)size : MACHINE_VECTOR;
}

void scalable_vector(const struct guest *machine, unsigned number, uint8_t *bytes, size_t size)
{
	if (!machine->x)
		machine_named(machine, MACHINE_Z0 + number, bytes, size);
	else
		memcpy(bytes, machine->cpu + qemu72_vectors() + (size_t)number * SCALABLE_VECTOR, size);
}

void scalable_predicate(const struct guest *machine, unsigned number, uint8_t *bytes, size_t size)
{
	if (!machine->x)
		machine_named(machine, MACHINE_P0 + number, bytes, size);
	else
		memcpy(bytes, machine->cpu + scalable.predicates + (size_t)number * SCALABLE_PREDICATE, size);
}

void scalable_snapshot(const struct guest *machine, unsigned length, struct tw_xtrace_snapshot *snapshot,
                       struct scalable_room *room)
{
	const size_t step = length / 8 > 16 ? 32 : 16; /* of predicates: a multiple of 16 bytes */
	uint8_t granules[8];
	if (!ask(machine, GDB_VG, MACHINE_VG, granules, sizeof granules))
		return;
	memset(room, 0, sizeof *room);
	for (unsigned i = 0; i < 32; i++)
		scalable_vector(machine, i, room->z + (size_t)i * length, length);
	for (unsigned i = 0; i < SCALABLE_FFR; i++)
		scalable_predicate(machine, i, room->p + i * step, length / 8);
	scalable_predicate(machine, SCALABLE_FFR, room->ffr, length / 8);
	snapshot->z = room->z;
	snapshot->p = room->p;
	snapshot->ffr = room->ffr;
	snapshot->vector_bits = 8ull * length;
}
