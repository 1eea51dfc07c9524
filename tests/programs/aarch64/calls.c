/* calls.c - system calls that succeed and fail, each in its own way. */
/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

int main(void)
{
	static char text[] = "abc";
	const struct iovec parts[] = {{text, 1}, {text + 1, 2}, {text, 0}};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	char *memory = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	open("/no/such/file", O_WRONLY | O_CREAT | O_TRUNC, 0644);
	for (int i = 0; i < 3; i++)
		close(-1);
	ssize_t sum = read(null, memory, 100) + write(null, text, 3) + writev(null, parts, 3);
	lseek(null, -5, SEEK_SET);
	munmap(memory, 1 << 16);
	mprotect(memory, 4096, PROT_READ | PROT_EXEC);
	return sum == 6 ? 0 : 1;
}
