/* random_machine.h - a machine of random registers in QEMU's place, for the tests of the plugin.
 *
 * One file of a program includes it: it defines what the plugin asks QEMU for in every kind of recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_RANDOM_MACHINE_H
#define TESTS_UNIT_RANDOM_MACHINE_H

#include "collect/machine.h"
#include "collect/qemu/qemu.h"
#include "collect/scalable/registers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { HEADER = 24, SNAPSHOT = 1424 };

static uint64_t seed;
static uint64_t x[TW_XTRACE_REGISTERS];

static inline uint32_t any(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(seed >> 33) % below;
}

/* In the child cmocka's checks would go on with the parent's tests. */
static inline void require(bool holds, const char *what)
{
	if (holds)
		return;
	print_error("%s\n", what);
	abort();
}

bool machine_open(struct guest *machine)
{
	*machine = (struct guest){0};
	return true;
}

bool scalable_open(struct guest *machine)
{
	(void)machine;
	return true;
}

uint64_t machine_register(const struct guest *machine, unsigned number)
{
	(void)machine;
	require(number < TW_XTRACE_REGISTERS, "a register");
	return x[number];
}

uint64_t machine_flags(const struct guest *machine)
{
	(void)machine;
	return seed & 0xf0000000;
}

void machine_vector(const struct guest *machine, unsigned number, uint8_t bytes[MACHINE_VECTOR])
{
	(void)machine;
	require(number < 32, "a vector register");
	memset(bytes, (int)number, MACHINE_VECTOR);
}

void machine_snapshot(const struct guest *machine, struct tw_xtrace_snapshot *snapshot, uint8_t z[32 * MACHINE_VECTOR])
{
	(void)machine;
	memcpy(snapshot->x, x, sizeof x);
	memset(z, 1, 32ul * MACHINE_VECTOR);
	snapshot->z = z;
	snapshot->vector_bits = 8 * MACHINE_VECTOR;
}

unsigned scalable_length(const struct guest *machine)
{
	(void)machine;
	return MACHINE_VECTOR;
}

unsigned scalable_longest(const struct guest *machine)
{
	(void)machine;
	return MACHINE_VECTOR;
}

void scalable_vector(const struct guest *machine, unsigned number, uint8_t *bytes, size_t size)
{
	(void)machine;
	require(number < 32 && size <= SCALABLE_VECTOR, "a vector register");
	memset(bytes, (int)number, size);
}

void scalable_predicate(const struct guest *machine, unsigned number, uint8_t *bytes, size_t size)
{
	(void)machine;
	require(number <= SCALABLE_FFR && size <= SCALABLE_PREDICATE, "a predicate register");
	memset(bytes, (int)any(256), size);
}

/* The vectors stay those of machine_snapshot(). */
void scalable_snapshot(const struct guest *machine, unsigned length, struct tw_xtrace_snapshot *snapshot,
                       struct scalable_room *room)
{
	(void)machine;
	(void)length;
	(void)snapshot;
	(void)room;
}

unsigned qemu_plugin_mem_size_shift(uint32_t info)
{
	return info;
}

#endif
