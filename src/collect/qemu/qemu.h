/* qemu.h - what is used of QEMU's plugin interface, and of QEMU 7.2 beside it: no package has a header of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_QEMU_QEMU_H
#define COLLECT_QEMU_QEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Interface version 1, and unchanged to version 4 but where it is said. ---- */

struct qemu_plugin_tb;
struct qemu_plugin_insn;

enum { QEMU_NO_REGISTERS, QEMU_READ_REGISTERS };               /* 7.2 ignores it */
enum { QEMU_ACCESS_LOAD = 1, QEMU_ACCESS_STORE, QEMU_ACCESS }; /* of memory */

typedef void (*qemu_translated)(uint64_t id, struct qemu_plugin_tb *block);
typedef void (*qemu_executed)(unsigned cpu, void *data);
typedef void (*qemu_accessed)(unsigned cpu, uint32_t info, uint64_t address, void *data);
typedef void (*qemu_flushed)(uint64_t id);
typedef void (*qemu_left)(uint64_t id, unsigned cpu);
typedef void (*qemu_ended)(uint64_t id, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, qemu_translated call);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, qemu_executed call, int flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_executed call, int flags, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_accessed call, int flags, int access,
                                      void *data);
void qemu_plugin_register_flush_cb(uint64_t id, qemu_flushed call);
void qemu_plugin_register_vcpu_exit_cb(uint64_t id, qemu_left call); /* by its own thread */
void qemu_plugin_register_atexit_cb(uint64_t id, qemu_ended call, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t i);
unsigned qemu_plugin_mem_size_shift(uint32_t info);

/* What QEMU looks for in a plugin. */
struct qemu_info;
__attribute__((visibility("default"))) extern int qemu_plugin_version;
int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv);

/* What differs: taken from the running QEMU by name. */
typedef const void *(*qemu_insn_bytes)(const struct qemu_plugin_insn *insn); /* up to version 2 */
typedef size_t (*qemu_insn_copy)(const struct qemu_plugin_insn *insn, void *to, size_t size);

typedef void (*qemu_reset)(uint64_t id, void (*done)(uint64_t id)); /* calls are forgotten, as are translations */
typedef int (*qemu_count)(void);

/* Of whole machines. */
struct qemu_place;
typedef const struct qemu_place *(*qemu_place_of)(uint32_t info, uint64_t address);
typedef bool (*qemu_is_device)(const struct qemu_place *place);

/* Nothing depends on it. */
typedef void *(*qemu_insn_place)(const struct qemu_plugin_insn *insn); /* since version 1 */

/* GLib's, whose first members are public. */
struct qemu_bytes {
	uint8_t *data;
	unsigned size;
};
struct qemu_array {
	char *data;
	unsigned count;
};

/* ---- Interface version 4. ---- */

struct qemu_register {
	void *handle;
	const char *name, *feature;
};

struct qemu_value {
	int kind;
	union {
		uint8_t bytes[16]; /* of the host's order, which is little endian wherever this is built */
		uint64_t words[2];
	} as;
};

typedef struct qemu_array *(*qemu_registers)(void);
typedef int (*qemu_read_register)(void *handle, struct qemu_bytes *to);
typedef struct qemu_value (*qemu_value_of)(uint32_t info);
typedef bool (*qemu_read_memory)(uint64_t address, struct qemu_bytes *to, size_t size);

/* ---- QEMU 7.2: functions that the program exports. ---- */

typedef int (*qemu_gdb_read)(void *cpu, struct qemu_bytes *to, int number);
typedef int (*qemu_gdb_write)(void *cpu, const uint8_t *from, int number);
typedef void (*qemu_flush)(void *cpu); /* translations are forgotten before that processor's next block */
typedef const char *(*qemu_gdb_xml)(void *cpu, const char *name);
typedef int (*qemu_debug_access)(void *cpu, uint64_t address, void *bytes, size_t size, bool is_write);

/* A part of the registers that a debugger is told of; `read` takes the environment. */
struct qemu_gdb_part {
	int first, count;
	qemu_gdb_read read;
	qemu_gdb_write write;
	const char *xml; /* its name */
	const struct qemu_gdb_part *next;
};

#endif
