/* fuzz_uftrace.c - any bytes as the files of a data directory of uftrace. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const names[] = {"info",       "task.txt",     "sid-0123456789abcdef.map",
                                    "prog.sym",   "7.dat",        "8.dat",
                                    "events.txt", "perf-cpu0.dat"};
enum { NAMES = sizeof names / sizeof *names };

static const char *directory(void)
{
	static char path[] = "/tmp/trackway-fuzz-XXXXXX";
	static bool made;
	if (!made)
		fuzz_require(mkdtemp(path) != NULL, "a directory");
	made = true;
	return path;
}

static void write_file(const char *name, const uint8_t *bytes, size_t size)
{
	char path[128];
	snprintf(path, sizeof path, "%s/%s", directory(), name);
	unlink(path);
	FILE *file = size ? fopen(path, "wb") : NULL;
	if (!file)
		return;
	fuzz_require(fwrite(bytes, 1, size, file) == size, "room for a file");
	fclose(file);
}

/* A byte for each file tells how much of the rest it has, in sixteenths of what is left. */
static void write_files(const uint8_t *bytes, size_t size)
{
	const uint8_t *rest = bytes + NAMES;
	size_t left = size - NAMES;
	write_file("prog.dbg", NULL, 0);
	for (size_t i = 0; i < NAMES; i++) {
		size_t part = i + 1 == NAMES ? left : left * (bytes[i] & 15) / 16;
		write_file(names[i], rest, part);
		rest += part;
		left -= part;
	}
}

/* The files that a sane recording has, so that not only headers are tried. */
static void write_sane_files(const uint8_t *bytes, size_t size)
{
	static const char header[40] = "Ftrace!\0\4\0\0\0\50\0\1\2\x63\3";
	static const char specs[] =
	    "argspec:f@arg1/i32,arg2;f@arg1/s;f@arg1/t3:x,fparg1/32,arg2/c\nretauto:f@retval/S\n";
	static const char debug[] = "F: 100 main\nA: @arg1/p%rdi,arg2/e:color\nR: @retval/f80\n";
	static const char tasks[] =
	    "SESS timestamp=1.000000000 pid=7 sid=0123456789abcdef exename=\"/prog\"\nTASK timestamp=1.000000001 tid=7 pid=7\n"
	    "DLOP timestamp=2.000000000 tid=7 sid=0123456789abcdef base=20000 libname=\"./prog\"\nFORK timestamp=3.000000000 pid=8 ppid=7\n";
	char info[sizeof header + sizeof specs];
	static const char map[] = "1000-9000 r-xp 00000000 00:00 0 /prog\n",
			  symbols[] = "0000000000000100 T main\n0000000000000200 T f\n";
	memcpy(info, header, sizeof header);
	memcpy(info + sizeof header, specs, sizeof specs);
	write_file("info", (const uint8_t *)info, sizeof info - 1);
	write_file("prog.dbg", (const uint8_t *)debug, sizeof debug - 1);
	write_file("task.txt", (const uint8_t *)tasks, sizeof tasks - 1);
	write_file("sid-0123456789abcdef.map", (const uint8_t *)map, sizeof map - 1);
	write_file("prog.sym", (const uint8_t *)symbols, sizeof symbols - 1);
	write_file("7.dat", bytes, size / 2);
	write_file("8.dat", bytes + size / 2, size - size / 2);
	write_file("perf-cpu0.dat", bytes + size / 3, size / 3);
}

/* And what the kernel's files have: the last of the bytes say how pages are, or are pages. */
static void write_kernel_files(const uint8_t *bytes, size_t size, unsigned how)
{
	bool header = how & 2;
#define COMMON                                                                                                         \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                                         \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
	static const char sane[] =
	    "PAGE_SIZE: 256\nLONG_SIZE: 8\nENDIAN: LE\nTRACEFS: events/ftrace/funcgraph_entry/format: 223\nID: 11\n" COMMON
	    "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n"
	    "TRACEFS: events/a/b/format: 362\nID: 12\n" COMMON
	    "\tfield:char c[8];\toffset:8;\tsize:8;\tsigned:0;\n\tfield:__data_loc char[] d;\toffset:16;\tsize:4;\tsigned:0;\n"
	    "\tfield:short e;\toffset:20;\tsize:2;\tsigned:1;\n\tfield:int f[2];\toffset:24;\tsize:8;\tsigned:1;\n"
	    "\tfield:pid_t pid;\toffset:40;\tsize:4;\tsigned:1;\n";
#undef COMMON
	static const char symbols[] = "ffffffff81000000 T a\nffffffff81000100 t b\t[c]\n";
	static uint8_t page[256 * 2] = {0, 0xca, 0x9a, 0x3b}; /* one second */
	size_t part = size < 240 ? size : 240, rest = size - part < 240 ? size - part : 240;
	page[8] = (uint8_t)part;
	memset(page + 16, 0, sizeof page - 16);
	memcpy(page + 16, bytes, part);
	memcpy(page + 256, bytes + part, rest);
	write_file("kernel_header", NULL, 0);
	write_file("kernel-cpu0.dat", NULL, 0);
	if (!(how & 1))
		return;
	write_file("kernel_header", header ? bytes : (const uint8_t *)sane, header ? size : sizeof sane - 1);
	write_file("kallsyms", (const uint8_t *)symbols, sizeof symbols - 1);
	write_file("kernel-cpu0.dat", page, sizeof page);
}

static void read_all(const struct tw_read_options *options, bool records)
{
	struct tw_reader *reader;
	struct tw_record record;
	int status = tw_open(&reader, directory(), options);
	if (fuzz_good(reader, status) && records)
		while ((status = tw_read_record(reader, &record)) > 0)
			fuzz_require(record.kind != NULL, "a kind");
	else if (status >= 0)
		fuzz_drain(reader);
	fuzz_good(reader, status);
	tw_close(reader);
}

FUZZ_TARGET(uftrace, const uint8_t *bytes, size_t size)
{
	if (size < 2 + NAMES)
		return 0;
	struct tw_read_options options = fuzz_options(bytes[0]);
	options.provider = NULL;
	if (bytes[1] & 1)
		write_files(bytes + 2, size - 2);
	else
		write_sane_files(bytes + 2, size - 2);
	write_kernel_files(bytes + size / 2, size - size / 2, bytes[1] >> 2);
	read_all(&options, bytes[1] & 2);
	return 0;
}
