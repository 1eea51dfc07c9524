/* steps.c - sizes of frames: of compiled code by its first instructions, of Mono's own by the unwinder of libgcc. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "monoprofiler/steps.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* ---- The table. ---- */

static struct mono_step *place_of(const struct mono_steps *steps, uint64_t ip)
{
	size_t i = (size_t)(ip * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (steps->room - 1);
	while (steps->table[i].ip && steps->table[i].ip != ip)
		i = (i + 1) & (steps->room - 1);
	return &steps->table[i];
}

struct mono_step *mono_step_find(const struct mono_steps *steps, uint64_t ip)
{
	struct mono_step *step = steps->room ? place_of(steps, ip) : NULL;
	return step && step->ip ? step : NULL;
}

static bool grow(struct mono_steps *steps)
{
	enum { LEAST = 1 << 9 };
	struct mono_steps more = {.count = steps->count, .room = steps->room ? 2 * steps->room : LEAST};
	more.table = calloc(more.room, sizeof *more.table);
	if (!more.table)
		return false;
	for (size_t i = 0; i < steps->room; i++)
		if (steps->table[i].ip)
			*place_of(&more, steps->table[i].ip) = steps->table[i];
	free(steps->table);
	*steps = more;
	return true;
}

struct mono_step *mono_step_make(struct mono_steps *steps, uint64_t ip, struct mono_method *method, uint64_t size)
{
	struct mono_step *step = mono_step_find(steps, ip);
	if (step || ip == 0)
		return step;
	if (2 * steps->count >= steps->room && !grow(steps))
		return NULL;
	step = place_of(steps, ip);
	*step = (struct mono_step){ip, method, size};
	steps->count++;
	return step;
}

void mono_steps_clear(struct mono_steps *steps)
{
	free(steps->table);
	*steps = (struct mono_steps){0};
}

/* ---- Compiled code. Source: mono_arch_emit_prolog() of Mono 6.8's mini-amd64.c. ---- */

struct code {
	const uint8_t *at;
	size_t left;
};

static bool take(struct code *code, const char *bytes, size_t size)
{
	if (code->left < size || memcmp(code->at, bytes, size) != 0)
		return false;
	code->at += size;
	code->left -= size;
	return true;
}
#define TAKE(code, bytes) take(code, bytes, sizeof(bytes) - 1)

/* What is subtracted from the stack pointer; 0: nothing. */
static uint64_t take_subtraction(struct code *code)
{
	uint32_t large = 0;
	if (TAKE(code, "\x48\x83\xec") && code->left) { /* sub rsp, imm8 */
		const uint8_t small = *code->at++;
		code->left--;
		return small < 0x80 ? small : 0;
	}
	if (TAKE(code, "\x48\x81\xec") && code->left >= sizeof large) { /* sub rsp, imm32 */
		memcpy(&large, code->at, sizeof large);
		code->at += sizeof large;
		code->left -= sizeof large;
	}
	return large;
}

uint64_t mono_frame_size(const uint8_t *bytes, size_t size)
{
	enum { WORD = 8, PAGE = 0x1000 };
	struct code code = {bytes, size};
	uint64_t frame = WORD, more;
	if (TAKE(&code, "\x55")) { /* push rbp */
		frame += WORD;
		if (!TAKE(&code, "\x48\x8b\xec")) /* mov rbp, rsp */
			return 0;
	}
	do { /* page by page, each of them touched: test [rsp], rsp */
		more = take_subtraction(&code);
		frame += more;
	} while (more == PAGE && TAKE(&code, "\x48\x85\x24\x24"));
	return more ? frame : 0;
}

/* ---- Mono's own. ---- */

/* Of libgcc, which Mono has loaded. */
struct unwinding;
static struct {
	int (*backtrace)(int (*take)(struct unwinding *frame, void *context), void *context);
	uintptr_t (*ip)(struct unwinding *frame);
	uintptr_t (*cfa)(struct unwinding *frame);
} unwinder;

static void find_unwinder(void)
{
	*(void **)&unwinder.backtrace = dlsym(RTLD_DEFAULT, "_Unwind_Backtrace");
	*(void **)&unwinder.ip = dlsym(RTLD_DEFAULT, "_Unwind_GetIP");
	*(void **)&unwinder.cfa = dlsym(RTLD_DEFAULT, "_Unwind_GetCFA");
}

struct natives {
	struct mono_steps *steps;
	uint64_t ip, sp; /* of the frame before */
};

static int take_native(struct unwinding *frame, void *context)
{
	struct natives *natives = context;
	const uint64_t ip = unwinder.ip(frame), sp = unwinder.cfa(frame);
	if (natives->ip && sp > natives->sp)
		mono_step_make(natives->steps, natives->ip, NULL, sp - natives->sp);
	natives->ip = ip;
	natives->sp = sp;
	return 0;
}

void mono_steps_of_natives(struct mono_steps *steps)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct natives natives = {steps, 0, 0};
	pthread_once(&once, find_unwinder);
	if (unwinder.backtrace && unwinder.ip && unwinder.cfa)
		unwinder.backtrace(take_native, &natives);
}
