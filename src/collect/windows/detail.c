/* detail.c - how much QEMU calls for. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/windows/detail.h"

#include "collect/qemu/qemu.h"
#include "collect/qemu/qemu72.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

static struct {
	uint64_t id;
	void (*register_calls)(uint64_t id);
	qemu_flush flush; /* QEMU 7.2 */
	qemu_reset reset; /* newer ones */
	bool switches;    /* there is a way to have QEMU forget; otherwise all blocks have all calls */
} detail;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of who writes these */
static _Atomic bool full = true;
static _Atomic bool settled = true; /* QEMU has forgotten what it translated before `full` was set */
static int wanting;                 /* threads */

/* QEMU 7.2's flush writes to the memory of all processors, and that of one whose thread ends is freed meanwhile: so
 * that each waits for the other. */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool flushing; /* or about to */
static int leaving;   /* threads */
static pthread_key_t left;

static void thread_has_left(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&lock);
	leaving--;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

void detail_setup(uint64_t id, void (*register_calls)(uint64_t id), bool from_start)
{
	detail.id = id;
	detail.register_calls = register_calls;
	*(void **)&detail.reset = dlsym(RTLD_DEFAULT, "qemu_plugin_reset");
	if (qemu_plugin_version == 1) /* 7.2: a reset leaves a lock taken */
		*(void **)&detail.flush = dlsym(RTLD_DEFAULT, "tb_flush");
	detail.switches = qemu_plugin_version == 1 ? detail.flush != NULL : detail.reset != NULL;
	if (detail.flush && pthread_key_create(&left, thread_has_left) != 0)
		detail.switches = false;
	atomic_store(&full, from_start || !detail.switches);
}

bool detail_full(void)
{
	return atomic_load(&full);
}

static void begin_again(uint64_t id)
{
	detail_flushed();
	detail.register_calls(id);
}

/* Takes effect before the next block of this thread. A flush may be done at once: without the lock. */
static void forget(void)
{
	if (!detail.flush) {
		detail.reset(detail.id, begin_again);
		return;
	}
	pthread_mutex_lock(&lock);
	while (leaving > 0)
		pthread_cond_wait(&changed, &lock);
	flushing = true;
	pthread_mutex_unlock(&lock);
	detail.flush(*qemu72_processor());
}

/* Returns whether QEMU is to forget. */
static bool set(bool to)
{
	if (atomic_exchange(&full, to) != to)
		atomic_store(&settled, false);
	return !atomic_load(&settled);
}

void detail_want(void)
{
	if (!detail.switches)
		return;
	pthread_mutex_lock(&lock);
	wanting++;
	bool forgets = set(true);
	pthread_mutex_unlock(&lock);
	if (forgets)
		forget();
}

void detail_release(void)
{
	if (!detail.switches)
		return;
	pthread_mutex_lock(&lock);
	bool forgets = --wanting == 0 && set(false);
	pthread_mutex_unlock(&lock);
	if (forgets)
		forget();
}

void detail_renew(void)
{
	if (detail.switches)
		forget();
}

void detail_leave(void)
{
	if (!detail.flush || !detail.switches)
		return;
	pthread_mutex_lock(&lock);
	while (flushing)
		pthread_cond_wait(&changed, &lock);
	if (pthread_setspecific(left, &left) == 0)
		leaving++;
	pthread_mutex_unlock(&lock);
}

void detail_begin_child(bool wants)
{
	pthread_mutex_init(&lock, NULL);
	pthread_cond_init(&changed, NULL);
	flushing = false;
	leaving = 0;
	wanting = wants;
	if (!detail.switches || wants)
		return;
	atomic_store(&full, false);
	atomic_store(&settled, false);
}

void detail_flushed(void)
{
	atomic_store(&settled, atomic_load(&full));
	pthread_mutex_lock(&lock);
	flushing = false;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}
