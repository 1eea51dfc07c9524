/* events.c - calls each function of events.S, or of events_aarch64.S, looks whether it came back as it should, and sends
 * events of all sizes.
 *
 * usage: events SIZE...: each SIZE is an event of so many bytes, at the end. Exit status 1: a register or the stack was
 * changed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__aarch64__)
#define CUSTOM(X) X(x0_x1) X(x1_x0) X(x0_x9) X(x10_x1) X(x19_x20) X(x8_x27) X(x18_x30) X(x17_x16)
#define TYPED(X) X(x0_x1_x2) X(x1_x2_x0) X(x2_x0_x1) X(x9_x10_x19) X(x3_x4_x5) X(x0_x2_x1) X(x30_x0_x21)
#define CUSTOM_PLAIN custom_x0_x1
extern uint64_t typed_zero(const void *data);
#else
#define CUSTOM_PLAIN custom_rdi_rsi
#define CUSTOM(X) X(rdi_rsi) X(rsi_rdi) X(rdi_rax) X(rcx_rsi) X(rbx_rbp) X(r8_r15) X(rsi_r12)
#define TYPED(X) X(rdi_rsi_rdx) X(rsi_rdx_rdi) X(rdx_rdi_rsi) X(rax_rcx_rbx) X(r9_r10_r11) X(rdi_rdx_rsi) X(r14_rdi_rbp)
#endif

#define DECLARE_CUSTOM(name) extern uint64_t custom_##name(const void *data, uint64_t size);
#define DECLARE_TYPED(name) extern uint64_t typed_##name(uint64_t type, const void *data, uint64_t size);
CUSTOM(DECLARE_CUSTOM)
TYPED(DECLARE_TYPED)
extern int foreign(void);
extern int wrong(void);

/* The recorder's, in a program without LLVM's runtime. */
extern uint16_t __xray_register_event_type(const char *description) __attribute__((weak));

static int bad;

static void look(const char *name, uint64_t got, const void *data, uint64_t size)
{
	if (got != (uint64_t)data + size) {
		fprintf(stderr, "%s: changed\n", name);
		bad = 1;
	}
}

int main(int count, char **sizes)
{
	uint64_t type = 100;
	static char name[] = "no 0";
	for (int i = 0; __xray_register_event_type && i < 3; i++)
		bad |= __xray_register_event_type(name + i) != i;
	memset(name, 'x', sizeof name - 1); /* it is named as it was */
#define CALL_CUSTOM(name)                                                                                              \
	{                                                                                                              \
		static const char data[] = "custom " #name;                                                            \
		look(data, custom_##name(data, sizeof data - 1), data, sizeof data - 1);                               \
	}
#define CALL_TYPED(name)                                                                                               \
	{                                                                                                              \
		static const char data[] = "typed " #name;                                                             \
		look(data, typed_##name(type, data, sizeof data - 1), data, sizeof data - 1);                          \
		type++;                                                                                                \
	}
	CUSTOM(CALL_CUSTOM)
	TYPED(CALL_TYPED)
#if defined(__aarch64__)
	static const char zero[] = "zero";
	look(zero, typed_zero(zero), zero, sizeof zero - 1);
#endif
	if (foreign() != 1 || wrong() != 1)
		bad = 1;
	for (int i = 1; i < count; i++) {
		const uint64_t size = strtoull(sizes[i], NULL, 10);
		char *data = malloc(size + 1);
		memset(data, 'a' + i, size);
		CUSTOM_PLAIN(data, size);
		free(data);
	}
	return bad;
}
