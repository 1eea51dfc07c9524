/* walks.c - the registers of each frame that Mono's walk comes by. They are on its own stack, always as far from what
 * it calls: that place is found once, by what has stood there for each frame of a walk. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "monoprofiler/walks.h"

#define ID(pointer) ((uint64_t)(uintptr_t)(pointer))

uint64_t mono_stack_end(void)
{
	static _Thread_local uint64_t end __attribute__((tls_model("initial-exec")));
	pthread_attr_t attributes;
	void *lowest = NULL;
	size_t size = 0;
	if (end || pthread_getattr_np(pthread_self(), &attributes) != 0)
		return end;
	if (pthread_attr_getstack(&attributes, &lowest, &size) == 0)
		end = ID(lowest) + size;
	pthread_attr_destroy(&attributes);
	return end;
}

#if defined(__x86_64__)

/* Source: MonoContext of Mono 6.8's mini-amd64.h. */
enum { RSP = 4, RIP = 16, WORD = sizeof(uint64_t) };

static _Atomic uint32_t known; /* words from the frame to the registers; 0: not yet */

/* Mono has the address before a call's end. */
static uint64_t sp_at(const struct mono_walk *walk, const uint64_t *registers, uint64_t ip)
{
	const uint64_t sp = registers[RSP];
	return registers[RIP] == ip - 1 && sp % WORD == 0 && sp > ID(registers) && sp < walk->end &&
	               *(const uint64_t *)(uintptr_t)(sp - WORD) == ip
	           ? sp
	           : 0;
}

void mono_walk_begin(struct mono_walk *walk)
{
	*walk = (struct mono_walk){.end = mono_stack_end()};
	for (size_t i = 1; i < MONO_WALK_WORDS; i++)
		walk->places[i / 64] |= UINT64_C(1) << i % 64;
}

uint64_t mono_walk_sp(struct mono_walk *walk, const uint64_t *own, uint64_t ip)
{
	const uint32_t place = atomic_load_explicit(&known, memory_order_relaxed);
	if (ID(own) >= walk->end || walk->end - ID(own) < (MONO_WALK_WORDS + RIP + 1) * WORD)
		return 0;
	if (place)
		return sp_at(walk, own + place, ip);
	walk->frames += ip != walk->ip;
	walk->ip = ip;
	for (size_t i = 1; i < MONO_WALK_WORDS; i++)
		if (walk->places[i / 64] >> i % 64 & 1 && !sp_at(walk, own + i, ip))
			walk->places[i / 64] &= ~(UINT64_C(1) << i % 64);
	return 0;
}

void mono_walk_end(const struct mono_walk *walk)
{
	enum { LEAST = 4 };
	if (walk->frames < LEAST || atomic_load_explicit(&known, memory_order_relaxed))
		return;
	for (uint32_t i = 1; i < MONO_WALK_WORDS; i++)
		if (walk->places[i / 64] >> i % 64 & 1) {
			atomic_store_explicit(&known, i, memory_order_relaxed);
			return;
		}
}

#else

void mono_walk_begin(struct mono_walk *walk)
{
	*walk = (struct mono_walk){0};
}

uint64_t mono_walk_sp(struct mono_walk *walk, const uint64_t *own, uint64_t ip)
{
	return 0;
}

void mono_walk_end(const struct mono_walk *walk)
{
}

#endif
