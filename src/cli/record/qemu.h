/* qemu.h - QEMU, as the program that runs what is recorded. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_RECORD_QEMU_H
#define CLI_RECORD_QEMU_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct tw_qemu {
	char program[PATH_MAX], plugin[PATH_MAX];
	const char *cpu, *sysroot; /* sysroot: NULL for none */
	bool of_machine;           /* it runs a whole machine, not a program */
};

/* Finds the program and the plugin; NULL names are looked for. Returns 0, or TW_EXIT_FAILED after saying what is
 * missing. */
int tw_qemu_find(struct tw_qemu *qemu, const char *program, const char *plugin);

/* Runs a program to its end, and what it leaves running. board: descriptor for the plugin. *status: as of wait().
 * Signals for us end the program. Returns 0, or TW_EXIT_FAILED after saying why it could not be run. */
int tw_qemu_run(const struct tw_qemu *qemu, int board, char **words, size_t count, int *status);

#endif
