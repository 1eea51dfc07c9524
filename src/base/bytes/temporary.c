/* temporary.c - files without a name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *tw_temporary_place(const char *directory)
{
	return directory ? directory : "/tmp";
}

/* File systems that have no O_TMPFILE get a file that is removed at once. */
int tw_temporary_open(const char *directory)
{
	const char *folder = tw_temporary_place(directory);
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
	if (fd >= 0)
		return fd;
	char *path = NULL;
	if (asprintf(&path, "%s/trackway.XXXXXX", folder) < 0)
		return -1;
	fd = mkostemp(path, O_CLOEXEC);
	int error = errno;
	if (fd >= 0)
		unlink(path);
	free(path);
	errno = error;
	return fd;
}
