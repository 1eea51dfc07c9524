/* qemu4.c - stands in for a QEMU of plugin interface 4: it has the interface's functions, no more, and plays one block.
 *
 * usage: qemu4 --version | -cpu MODEL -plugin FILE,fd=N PROGRAM
 *
 * The block: ldr x1, [x0]; str x1, [x0, #8]; csel x2, x1, x0, eq; ldadd x1, x3, [x0]; mrs x4, tpidr_el0; blr x5 to a block of
 * one svc, in front of which stands ld1d {z31.d}, p0/z, [x0] where MODEL is max: then vectors have 256 bits. Registers and
 * memory are those of the tables here. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* ---- GLib's arrays. ---- */

struct bytes {
	uint8_t *data;
	unsigned size;
};

struct array {
	char *data;
	unsigned count;
};

EXPORT struct bytes *g_byte_array_new(void);
EXPORT struct bytes *g_byte_array_set_size(struct bytes *bytes, unsigned size);

struct bytes *g_byte_array_new(void)
{
	struct bytes *bytes = calloc(1, sizeof *bytes);
	bytes->data = calloc(1, 4096);
	return bytes;
}

struct bytes *g_byte_array_set_size(struct bytes *bytes, unsigned size)
{
	bytes->size = size;
	return bytes;
}

static int append(struct bytes *to, const void *from, unsigned size)
{
	memcpy(to->data + to->size, from, size);
	to->size += size;
	return (int)size;
}

/* ---- The processor. ---- */

enum { MEMORY = 0x10000, CODE = 0x400000, CALLED = 0x500000, NAMES = 31 + 5 + 32 + 18, CALLS = 16, VECTOR = 32 };

struct insn {
	uint32_t opcode;
	void (*executed[4])(unsigned, void *);
	void *executed_data[4];
	unsigned count;
	void (*accessed)(unsigned, uint32_t, uint64_t, void *);
	void *accessed_data;
};

struct translated_block {
	uint64_t pc;
	struct insn insns[8];
	size_t count;
	void (*executed)(unsigned, void *);
	void *data;
};

struct described {
	void *handle;
	const char *name, *feature;
};

static uint64_t x[32], sp = 0x7000, tpidr = 0x1234, memory[4] = {41, 0, 43, 44}, value;
static uint32_t cpsr = 0x60000000, fpsr = 1, fpcr = 2;
static bool scalable;
static uint64_t granules = VECTOR / 8;
static uint8_t vectors[32][VECTOR], predicates[17][8] = {{0x01, 0x00, 0x01, 0x00}, [16] = {0xff}};
static char names[NAMES][12];
static struct described described[NAMES];

static void describe(unsigned *count, const char *name, void *place)
{
	snprintf(names[*count], sizeof names[*count], "%s", name);
	described[*count] = (struct described){place, names[*count], "org.gnu.gdb.aarch64"};
	++*count;
}

/* P0 to P15, FFR, VG. */
static void describe_scalable(unsigned *count)
{
	char name[12];
	for (unsigned i = 0; i < 16; i++) {
		snprintf(name, sizeof name, "p%u", i);
		describe(count, name, predicates[i]);
	}
	describe(count, "ffr", predicates[16]);
	describe(count, "vg", &granules);
}

EXPORT struct array *qemu_plugin_get_registers(void);
struct array *qemu_plugin_get_registers(void)
{
	static struct array all;
	unsigned count = 0;
	char name[12];
	for (unsigned i = 0; i < 31; i++) {
		snprintf(name, sizeof name, "x%u", i);
		describe(&count, name, &x[i]);
	}
	describe(&count, "sp", &sp);
	describe(&count, "cpsr", &cpsr);
	describe(&count, "fpsr", &fpsr);
	describe(&count, "fpcr", &fpcr);
	describe(&count, "TPIDR_EL0", &tpidr);
	for (unsigned i = 0; i < 32; i++) {
		snprintf(name, sizeof name, scalable ? "z%u" : "v%u", i);
		describe(&count, name, vectors[i]);
	}
	if (scalable)
		describe_scalable(&count);
	all = (struct array){(char *)described, count};
	return &all;
}

EXPORT int qemu_plugin_read_register(void *handle, struct bytes *to);
int qemu_plugin_read_register(void *handle, struct bytes *to)
{
	bool is_word = handle == &cpsr || handle == &fpsr || handle == &fpcr;
	bool is_vector = (char *)handle >= (char *)vectors && (char *)handle < (char *)vectors + sizeof vectors;
	return append(to, handle, is_word ? 4 : !is_vector ? 8 : scalable ? VECTOR : 16);
}

struct mem_value {
	int kind;
	union {
		uint64_t word;
		uint64_t pair[2];
	} as;
};

EXPORT struct mem_value qemu_plugin_mem_get_value(uint32_t info);
struct mem_value qemu_plugin_mem_get_value(uint32_t info)
{
	(void)info;
	return (struct mem_value){.kind = 3, .as.word = value};
}

EXPORT bool qemu_plugin_read_memory_vaddr(uint64_t address, struct bytes *to, size_t size);
bool qemu_plugin_read_memory_vaddr(uint64_t address, struct bytes *to, size_t size)
{
	if (address < MEMORY || address + size > MEMORY + sizeof memory)
		return false;
	g_byte_array_set_size(to, 0);
	append(to, (uint8_t *)memory + (address - MEMORY), (unsigned)size);
	return true;
}

/* ---- Translation. ---- */

static void (*translated)(uint64_t, struct translated_block *);
static void (*ended)(uint64_t, void *);

#define STORE_CALL(name, type, place)                                                                                  \
	EXPORT void name(uint64_t id, type call);                                                                      \
	void name(uint64_t id, type call)                                                                              \
	{                                                                                                              \
		(void)id;                                                                                              \
		place;                                                                                                 \
	}
typedef void (*translated_call)(uint64_t, struct translated_block *);
typedef void (*other_call)(uint64_t, unsigned);
STORE_CALL(qemu_plugin_register_vcpu_tb_trans_cb, translated_call, translated = call)
STORE_CALL(qemu_plugin_register_flush_cb, other_call, (void)call)
STORE_CALL(qemu_plugin_register_vcpu_exit_cb, other_call, (void)call)

EXPORT void qemu_plugin_register_atexit_cb(uint64_t id, void (*call)(uint64_t, void *), void *data);
void qemu_plugin_register_atexit_cb(uint64_t id, void (*call)(uint64_t, void *), void *data)
{
	(void)id;
	(void)data;
	ended = call;
}

EXPORT void qemu_plugin_register_vcpu_tb_exec_cb(struct translated_block *block, void (*call)(unsigned, void *),
                                                 int flags, void *data);
void qemu_plugin_register_vcpu_tb_exec_cb(struct translated_block *block, void (*call)(unsigned, void *), int flags,
                                          void *data)
{
	(void)flags;
	block->executed = call;
	block->data = data;
}

EXPORT void qemu_plugin_register_vcpu_insn_exec_cb(struct insn *insn, void (*call)(unsigned, void *), int flags,
                                                   void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct insn *insn, void (*call)(unsigned, void *), int flags, void *data)
{
	if (flags != 1)
		exit(3); /* registers cannot be read without it */
	insn->executed[insn->count] = call;
	insn->executed_data[insn->count++] = data;
}

EXPORT void qemu_plugin_register_vcpu_mem_cb(struct insn *insn, void (*call)(unsigned, uint32_t, uint64_t, void *),
                                             int flags, int access, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct insn *insn, void (*call)(unsigned, uint32_t, uint64_t, void *), int flags,
                                      int access, void *data)
{
	(void)flags;
	(void)access;
	insn->accessed = call;
	insn->accessed_data = data;
}

EXPORT size_t qemu_plugin_tb_n_insns(const struct translated_block *block);
size_t qemu_plugin_tb_n_insns(const struct translated_block *block)
{
	return block->count;
}

EXPORT uint64_t qemu_plugin_tb_vaddr(const struct translated_block *block);
uint64_t qemu_plugin_tb_vaddr(const struct translated_block *block)
{
	return block->pc;
}

EXPORT struct insn *qemu_plugin_tb_get_insn(struct translated_block *block, size_t i);
struct insn *qemu_plugin_tb_get_insn(struct translated_block *block, size_t i)
{
	return &block->insns[i];
}

EXPORT size_t qemu_plugin_insn_data(const struct insn *insn, void *to, size_t size);
size_t qemu_plugin_insn_data(const struct insn *insn, void *to, size_t size)
{
	memcpy(to, &insn->opcode, size < 4 ? size : 4);
	return 4;
}

EXPORT void *qemu_plugin_insn_haddr(const struct insn *insn);
void *qemu_plugin_insn_haddr(const struct insn *insn)
{
	return (void *)(uintptr_t)&insn->opcode; /* so the program's code is this one's data */
}

EXPORT unsigned qemu_plugin_mem_size_shift(uint32_t info);
unsigned qemu_plugin_mem_size_shift(uint32_t info)
{
	return info;
}

EXPORT void qemu_plugin_outs(const char *text);
void qemu_plugin_outs(const char *text)
{
	fputs(text, stderr);
}

/* ---- The play. ---- */

static struct translated_block first = {.pc = CODE,
                                        .count = 6,
                                        .insns = {{.opcode = 0xf9400001},
                                                  {.opcode = 0xf9000401},
                                                  {.opcode = 0x9a800022},
                                                  {.opcode = 0xf8210003},
                                                  {.opcode = 0xd53bd044},
                                                  {.opcode = 0xd63f00a0}}};
static struct translated_block second = {.pc = CALLED, .count = 1, .insns = {{.opcode = 0xd4000001}}};

/* The calls before an instruction. */
static void begin(struct translated_block *block, size_t i)
{
	for (unsigned k = 0; k < block->insns[i].count; k++)
		block->insns[i].executed[k](0, block->insns[i].executed_data[k]);
}

static void touch(struct insn *insn, uint64_t address, uint64_t word)
{
	value = word;
	if (insn->accessed)
		insn->accessed(0, 3, address, insn->accessed_data);
}

static void play(void)
{
	x[0] = MEMORY;
	x[5] = CALLED;
	vectors[31][15] = 0xee;
	first.executed(0, first.data);
	begin(&first, 0);
	x[1] = memory[0];
	touch(&first.insns[0], MEMORY, memory[0]);
	begin(&first, 1);
	memory[1] = x[1];
	touch(&first.insns[1], MEMORY + 8, memory[1]);
	begin(&first, 2);
	x[2] = x[1];
	begin(&first, 3);
	x[3] = memory[0];
	memory[0] += x[1];
	begin(&first, 4);
	x[4] = tpidr;
	begin(&first, 5);
	x[30] = CODE + 24;
	second.executed(0, second.data);
	x[8] = 94;
	begin(&second, 0);
	if (!scalable)
		return;
	memcpy(vectors[31], &memory[0], 8);
	memcpy(vectors[31] + 16, &memory[2], 8);
	begin(&second, 1);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--version") == 0)
		return puts("qemu-aarch64 version 9.2.0") < 0;
	char *path = argc > 4 && strcmp(argv[3], "-plugin") == 0 ? argv[4] : NULL;
	char *comma = path ? strchr(path, ',') : NULL, *arguments[] = {comma ? comma + 1 : NULL};
	if (!comma)
		return fprintf(stderr, "qemu4: wants -cpu MODEL -plugin FILE,fd=N\n"), 2;
	*comma = '\0';
	void *plugin = dlopen(path, RTLD_NOW);
	if (!plugin)
		return fprintf(stderr, "qemu4: %s\n", dlerror()), 2;
	scalable = strncmp(argv[2], "max", 3) == 0;
	if (scalable)
		second = (struct translated_block){.pc = CALLED,
		                                   .count = 2,
		                                   .insns = {{.opcode = 0xa5e0a01f}, {.opcode = 0xd4000001}}};
	int (*install)(uint64_t, const void *, int, char **);
	*(void **)&install = dlsym(plugin, "qemu_plugin_install");
	const int *version = dlsym(plugin, "qemu_plugin_version");
	if (!install || !version || *version != 4)
		return fprintf(stderr, "qemu4: the plugin is not for interface 4\n"), 2;
	if (install(1, NULL, 1, arguments))
		return fprintf(stderr, "qemu4: the plugin refuses\n"), 2;
	translated(1, &first);
	translated(1, &second);
	play();
	ended(1, NULL);
	return 0;
}
