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

void detail_setup(uint64_t id, void (*register_calls)(uint64_t id), bool from_start)
{
	detail.id = id;
	detail.register_calls = register_calls;
	*(void **)&detail.reset = dlsym(RTLD_DEFAULT, "qemu_plugin_reset");
	if (qemu_plugin_version == 1) /* 7.2: a reset leaves a lock taken */
		*(void **)&detail.flush = dlsym(RTLD_DEFAULT, "tb_flush");
	detail.switches = qemu_plugin_version == 1 ? detail.flush != NULL : detail.reset != NULL;
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

/* Takes effect before the next block of this thread. */
static void forget(void)
{
	if (!detail.flush) {
		detail.reset(detail.id, begin_again);
		return;
	}
	detail.flush(*qemu72_processor());
}

static void set(bool to)
{
	if (!detail.switches)
		return;
	if (atomic_exchange(&full, to) != to)
		atomic_store(&settled, false);
	if (!atomic_load(&settled))
		forget();
}

void detail_want(void)
{
	pthread_mutex_lock(&lock);
	wanting++;
	set(true);
	pthread_mutex_unlock(&lock);
}

void detail_release(void)
{
	pthread_mutex_lock(&lock);
	if (--wanting == 0)
		set(false);
	pthread_mutex_unlock(&lock);
}

void detail_renew(void)
{
	pthread_mutex_lock(&lock);
	if (detail.switches)
		forget();
	pthread_mutex_unlock(&lock);
}

void detail_begin_child(bool wants)
{
	pthread_mutex_init(&lock, NULL);
	wanting = wants;
	if (!detail.switches || wants)
		return;
	atomic_store(&full, false);
	atomic_store(&settled, false);
}

void detail_flushed(void)
{
	atomic_store(&settled, atomic_load(&full));
}
