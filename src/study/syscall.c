/* syscall.c - a system call as text, as strace shows it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "study/syscall.h"

#include "base/memory/order.h"
#include "study/syscall_list.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ERRORS = 4095, NAME = 32 };

static const struct listed_call {
	uint16_t number;
	const char *name, *arguments;
} calls[] = {
#define X(number, name, arguments) {number, name, arguments},
    STUDY_SYSCALL_LIST(X)
#undef X
};

static int by_number(const void *number, const void *call)
{
	return tw_compare(*(const uint64_t *)number, ((const struct listed_call *)call)->number);
}

static const struct listed_call *find(uint64_t number)
{
	return bsearch(&number, calls, sizeof calls / sizeof *calls, sizeof *calls, by_number);
}

const char *study_syscall_name(uint64_t number, char text[NAME])
{
	const struct listed_call *call = find(number);
	if (call)
		return call->name;
	snprintf(text, NAME, "syscall_%" PRIu64, number);
	return text;
}

/* ---- Text. ---- */

struct call_text {
	char *text;
	size_t length, room;
};

static void put(struct call_text *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct call_text *line, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(line->text + line->length, line->room - line->length, format, arguments);
	va_end(arguments);
	line->length += length > 0 ? (size_t)length : 0;
	line->length = line->length < line->room ? line->length : line->room - 1;
}

/* Words for bits; all of the mask must be the value. The last has no name. */
struct flag {
	uint32_t mask, value;
	const char *name;
};

/* Linux on AArch64, asm/fcntl.h and asm-generic/fcntl.h. */
static const struct flag open_flags[] = {
    {3, 0, "O_RDONLY"},
    {3, 1, "O_WRONLY"},
    {3, 2, "O_RDWR"},
    {0100, 0100, "O_CREAT"},
    {0200, 0200, "O_EXCL"},
    {0400, 0400, "O_NOCTTY"},
    {01000, 01000, "O_TRUNC"},
    {02000, 02000, "O_APPEND"},
    {04000, 04000, "O_NONBLOCK"},
    {04010000, 04010000, "O_SYNC"},
    {010000, 010000, "O_DSYNC"},
    {020040000, 020040000, "O_TMPFILE"},
    {040000, 040000, "O_DIRECTORY"},
    {0100000, 0100000, "O_NOFOLLOW"},
    {0200000, 0200000, "O_DIRECT"},
    {0400000, 0400000, "O_LARGEFILE"},
    {01000000, 01000000, "O_NOATIME"},
    {02000000, 02000000, "O_CLOEXEC"},
    {010000000, 010000000, "O_PATH"},
    {0, 0, NULL},
};

/* asm-generic/mman-common.h. */
static const struct flag protections[] = {
    {7, 0, "PROT_NONE"}, {1, 1, "PROT_READ"}, {2, 2, "PROT_WRITE"}, {4, 4, "PROT_EXEC"}, {0, 0, NULL},
};

static const struct flag map_flags[] = {
    {3, 1, "MAP_SHARED"},
    {3, 2, "MAP_PRIVATE"},
    {3, 3, "MAP_SHARED_VALIDATE"},
    {0x10, 0x10, "MAP_FIXED"},
    {0x20, 0x20, "MAP_ANONYMOUS"},
    {0x100, 0x100, "MAP_GROWSDOWN"},
    {0x800, 0x800, "MAP_DENYWRITE"},
    {0x4000, 0x4000, "MAP_NORESERVE"},
    {0x8000, 0x8000, "MAP_POPULATE"},
    {0x20000, 0x20000, "MAP_STACK"},
    {0x40000, 0x40000, "MAP_HUGETLB"},
    {0, 0, NULL},
};

static void put_flags(struct call_text *line, const struct flag *flags, uint64_t value)
{
	uint64_t left = value;
	const char *between = "";
	for (; flags->name; flags++) {
		bool there = (value & flags->mask) == flags->value && (left & flags->value) == flags->value;
		if (!there)
			continue;
		put(line, "%s%s", between, flags->name);
		between = "|";
		left &= ~(uint64_t)flags->value;
	}
	if (left)
		put(line, "%s0x%" PRIx64, between, left);
}

/* Of AArch64, as of most. */
static void put_signal(struct call_text *line, uint64_t number)
{
	const char *name = number && number < 32 ? sigabbrev_np((int)number) : NULL;
	if (name)
		put(line, "SIG%s", name);
	else
		put(line, "%" PRIu64, number);
}

static void put_address(struct call_text *line, uint64_t value)
{
	put(line, value ? "0x%" PRIx64 : "NULL", value);
}

static void put_vector(struct call_text *line, const struct study_syscall *call, uint64_t address)
{
	if (!call->parts) {
		put_address(line, address);
		return;
	}
	put(line, "[");
	for (uint64_t i = 0; i < call->parts && i < STUDY_PARTS; i++)
		put(line, "%s{iov_base=0x%" PRIx64 ", iov_len=%" PRIu64 "}", i ? ", " : "", call->base[i],
		    call->length[i]);
	put(line, call->parts > STUDY_PARTS ? ", ...]" : "]");
}

/* A directory that a path begins at. */
static void put_folder(struct call_text *line, uint64_t value)
{
	enum { AT_FDCWD_VALUE = -100 };
	if ((int32_t)value == AT_FDCWD_VALUE)
		put(line, "AT_FDCWD");
	else
		put(line, "%" PRId32, (int32_t)value);
}

/* An int, unless it cannot be one. */
static void put_number(struct call_text *line, uint64_t value)
{
	if (value >> 32 == 0 || value >> 31 == UINT64_MAX >> 31)
		put(line, "%" PRId32, (int32_t)value);
	else
		put(line, "%" PRId64, (int64_t)value);
}

static void put_argument(struct call_text *line, const struct study_syscall *call, char kind, uint64_t value)
{
	switch (kind) {
	case 'a':
		put_folder(line, value);
		break;
	case 'd':
		put_number(line, value);
		break;
	case 'u':
		put(line, "%" PRIu64, value);
		break;
	case 'o':
		put(line, "%#" PRIo64, value);
		break;
	case 'O':
		put_flags(line, open_flags, value);
		break;
	case 'R':
		put_flags(line, protections, value);
		break;
	case 'M':
		put_flags(line, map_flags, value);
		break;
	case 's':
		put_signal(line, value);
		break;
	case 'v':
		put_vector(line, call, value);
		break;
	case 'p':
		put_address(line, value);
		break;
	default:
		put(line, value ? "0x%" PRIx64 : "%" PRIu64, value);
	}
}

bool study_syscall_failed(const struct study_syscall *call)
{
	return call->returned && call->result > UINT64_MAX - ERRORS;
}

const char *study_error_name(unsigned number, char text[NAME])
{
	const char *name = strerrorname_np((int)number);
	if (name)
		return name;
	snprintf(text, NAME, "errno %u", number);
	return text;
}

static void put_result(struct call_text *line, const struct study_syscall *call)
{
	enum { NUMBERS = 1 << 30, BRK = 214 };
	char name[NAME];
	unsigned error = (unsigned)-call->result;
	if (!call->returned)
		put(line, call->restarted ? "? (made again)" : "?");
	else if (study_syscall_failed(call))
		put(line, "-1 %s (%s)", study_error_name(error, name),
		    strerrordesc_np((int)error) ? strerrordesc_np((int)error) : "unknown error");
	else
		put(line, call->result > NUMBERS || call->number == BRK ? "0x%" PRIx64 : "%" PRIu64, call->result);
}

size_t study_syscall_text(const struct study_syscall *call, char *text, size_t room)
{
	struct call_text line = {.room = room};
	char name[NAME];
	const struct listed_call *known = find(call->number);
	const char *kinds = known && *known->arguments != '?' ? known->arguments : "xxxxxx";
	line.text = text;
	put(&line, "%s(", study_syscall_name(call->number, name));
	for (unsigned i = 0; kinds[i] && i < call->known; i++) {
		put(&line, "%s", i ? ", " : "");
		put_argument(&line, call, kinds[i], call->arguments[i]);
	}
	put(&line, ") = ");
	put_result(&line, call);
	return line.length;
}
