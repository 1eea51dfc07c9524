/* path.c - new files, named by a pattern. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/log/path.h"

#include "flight/system.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

enum { DIGITS = 10, MOST = FLIGHT_PATH - 2 * DIGITS, FILES = 1000 };

/* Without libc's, which is not for signal handlers. */
static size_t put_number(char *to, uint32_t value)
{
	char digits[DIGITS];
	size_t count = 0;
	do
		digits[DIGITS - ++count] = (char)('0' + value % 10);
	while (value /= 10);
	memcpy(to, digits + DIGITS - count, count);
	return count;
}

/* A name, and where the ending of its last part begins. */
struct path_name {
	char text[FLIGHT_PATH];
	size_t length, ending;
};

static void expand(struct path_name *name, const char *pattern, uint32_t pid)
{
	name->length = name->ending = 0;
	for (const char *at = pattern; *at && name->length < MOST; at++) {
		if (at[0] == '%' && at[1] == 'p') {
			name->length += put_number(name->text + name->length, pid);
			at++;
			continue;
		}
		if (*at == '/')
			name->ending = 0;
		else if (*at == '.')
			name->ending = name->length;
		name->text[name->length++] = *at;
	}
	name->ending = name->ending ? name->ending : name->length;
	name->text[name->length] = '\0';
}

static void put_name(const struct path_name *name, uint32_t number, char path[static FLIGHT_PATH])
{
	size_t length = name->ending;
	memcpy(path, name->text, length);
	if (number) {
		path[length++] = '-';
		length += put_number(path + length, number);
	}
	memcpy(path + length, name->text + name->ending, name->length - name->ending + 1);
}

int flight_make_file(const char *pattern, uint32_t pid, char path[static FLIGHT_PATH])
{
	struct path_name name;
	expand(&name, pattern, pid);
	for (uint32_t number = 0; number < FILES; number++) {
		put_name(&name, number, path);
		int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

const char *flight_program_path(char path[static FLIGHT_PATH])
{
	const long length = flight_call(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)path, FLIGHT_PATH - 1);
	const char *called = (const char *)getauxval(AT_EXECFN);
	path[length > 0 ? length : 0] = '\0';
	return length > 0 ? path : called ? called : path;
}
