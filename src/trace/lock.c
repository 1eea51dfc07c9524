/* lock.c - the recording that there is, its lock, and what the system gives to all parts of the recorder. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/session.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What every event looks at begins a cache line, so that nothing of the program that is often written stands in it. */
uint32_t tw_trace_state __attribute__((aligned(TRACE_LINE))) = 2; /* no site has been asked about yet */
struct trace_session trace_session __attribute__((aligned(TRACE_LINE))) = {.image.fd = -1};

static struct trace_session *const session = &trace_session;

/* ---- The lock: a futex (0 free, 1 held, 2 held and waited for). ---- */

static __thread bool locking __attribute__((tls_model("initial-exec")));
static int kept_errno; /* of the program, while the lock is held */

static void futex(int operation, uint32_t value)
{
	syscall(SYS_futex, &session->lock, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

/* A program under ThreadSanitizer may use a library that is not: then its runtime, which sees what memset() and its
 * like touch, is told of the order that the lock makes. NULL without it. */
/* NOLINTBEGIN(bugprone-reserved-identifier): the runtime's names */
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));
/* NOLINTEND(bugprone-reserved-identifier) */

bool trace_under_tsan(void)
{
	return __tsan_acquire != NULL;
}

void trace_order_after(void *address)
{
	if (__tsan_acquire)
		__tsan_acquire(address);
}

void trace_order_before(void *address)
{
	if (__tsan_release)
		__tsan_release(address);
}

bool trace_lock(void)
{
	uint32_t free_lock = 0;
	int error = errno;
	if (locking)
		return false;
	locking = true;
	if (!atomic_compare_exchange_strong(&session->lock, &free_lock, 1))
		while (atomic_exchange(&session->lock, 2) != 0)
			futex(FUTEX_WAIT, 2);
	trace_order_after((void *)&session->lock);
	kept_errno = error;
	return true;
}

void trace_unlock(void)
{
	int error = kept_errno;
	if (session->header)
		atomic_store_explicit(&session->header->now.dropped, atomic_load(&session->losses.dropped),
		                      memory_order_relaxed);
	trace_order_before((void *)&session->lock);
	if (atomic_exchange(&session->lock, 0) == 2)
		futex(FUTEX_WAKE, 1);
	errno = error;
	locking = false;
}

void *trace_map(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

bool trace_barrier(void)
{
	if (!session->barrier)
		session->barrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
	return session->barrier && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void trace_lock_forked(void)
{
	locking = false;
	atomic_store(&session->lock, 0);
	session->barrier = false;
}
