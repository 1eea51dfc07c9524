/* calling.h - which core calls. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_SYSTEM_CALLING_H
#define COLLECT_SYSTEM_CALLING_H

enum { CORES_MOST = 512 };

/* To be called before any core runs. */
void calling_setup(void);

/* The core that calls the plugin. vcpu: the number that QEMU calls it with. */
unsigned calling_core(unsigned vcpu);

#endif
