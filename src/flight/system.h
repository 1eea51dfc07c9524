/* system.h - system calls that leave errno and vector registers alone, and copying without libc. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLIGHT_SYSTEM_H
#define FLIGHT_SYSTEM_H

#include <stdbool.h>
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

/* Returns NULL where there is no memory. */
static inline void *flight_map(uint64_t size, long protection, long flags, long fd)
{
	long result;
#if defined(__x86_64__)
	register long r10 __asm__("r10") = flags;
	register long r8 __asm__("r8") = fd;
	register long r9 __asm__("r9") = 0;
	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"(SYS_mmap), "D"(0), "S"(size), "d"(protection), "r"(r10), "r"(r8), "r"(r9)
	                 : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = SYS_mmap;
	register long x0 __asm__("x0") = 0;
	register long x1 __asm__("x1") = (long)size;
	register long x2 __asm__("x2") = protection;
	register long x3 __asm__("x3") = flags;
	register long x4 __asm__("x4") = fd;
	register long x5 __asm__("x5") = 0;
	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	result = x0;
#endif
	enum { ERRORS = -4096 };
	return result < 0 && result > ERRORS ? NULL : (void *)result;
}

/* Waits a while for a lock that a thread, which may be gone, has. Returns whether it was taken. */
/* NOLINTNEXTLINE(readability-non-const-parameter): it is stored through by a builtin */
static inline bool flight_lock(uint32_t *busy)
{
	enum { TRIES = 100000 };
	for (unsigned i = 0; i < TRIES; i++) {
		if (!__atomic_exchange_n(busy, 1, __ATOMIC_ACQUIRE))
			return true;
		flight_call(SYS_sched_yield, 0, 0, 0, 0);
	}
	return false;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the same */
static inline void flight_unlock(uint32_t *busy)
{
	__atomic_store_n(busy, 0, __ATOMIC_RELEASE);
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
