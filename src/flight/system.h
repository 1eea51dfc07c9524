/* system.h - system calls that leave errno and vector registers alone, and copying without libc. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLIGHT_SYSTEM_H
#define FLIGHT_SYSTEM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

/* Returns what the kernel does: an errno as a negative number. */
static inline long flight_call(long number, long a, long b, long c, long d)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d;
	long result;
	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
	                 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
#else
#error "the flight recorder knows x86-64 and AArch64"
#endif
}

static inline void flight_copy(void *to, const void *from, size_t size)
{
#if defined(__x86_64__)
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
#else
	for (size_t i = 0; i < size; i++)
		((volatile uint8_t *)to)[i] = ((const uint8_t *)from)[i];
#endif
}

static inline void flight_clear(void *to, size_t size)
{
#if defined(__x86_64__)
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(0) : "memory");
#else
	for (size_t i = 0; i < size; i++)
		((volatile uint8_t *)to)[i] = 0;
#endif
}

#endif
