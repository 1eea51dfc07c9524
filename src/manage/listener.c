/* listener.c - where programs find a manager: its socket, and the link to it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "manage/manage.h"
#include "trace/control.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Sockets of managers that were killed. */
static void remove_stale(const char *directory)
{
	static const char prefix[] = "manager-";
	char path[PATH_MAX];
	DIR *open = opendir(directory);
	for (struct dirent *entry; open && (entry = readdir(open));) {
		if (strncmp(entry->d_name, prefix, sizeof prefix - 1) != 0)
			continue;
		long process = strtol(entry->d_name + sizeof prefix - 1, NULL, 10);
		if (process > 0 && kill((pid_t)process, 0) < 0 && errno == ESRCH &&
		    snprintf(path, sizeof path, "%s/%s", directory, entry->d_name) < (int)sizeof path)
			unlink(path);
	}
	if (open)
		closedir(open);
}

/* In the directory of the user whose programs are to find it; in his name, where root records them. */
static int listen_in_directory(struct manage_listener *listener, struct manage_result *result, uid_t user)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char directory[sizeof listener->path];
	if (control_directory(directory, sizeof directory, user) < 0)
		return manage_fail(result, "the directory of sockets has too long a name");
	mkdir(directory, 0700);
	if (!control_private(directory))
		return manage_fail(result, "%s: is not a directory of this user alone (mode 0700)", directory);
	int length = snprintf(address.sun_path, sizeof address.sun_path, "%s/manager-%ld", directory, (long)getpid());
	if (length < 0 || (size_t)length >= sizeof address.sun_path)
		return manage_fail(result, "the directory of sockets has too long a name");
	remove_stale(directory);
	unlink(address.sun_path);
	listener->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (listener->fd < 0 || fchmod(listener->fd, 0600) < 0 ||
	    bind(listener->fd, (const struct sockaddr *)&address, sizeof address) < 0 ||
	    listen(listener->fd, SOMAXCONN) < 0)
		return manage_fail(result, "%s: %s", address.sun_path, strerror(errno));
	strcpy(listener->path, address.sun_path);
	return 0;
}

/* A link where all programs that start find this manager; the last one has it. */
static void gatherer_link(const struct manage_listener *listener, char path[static PATH_MAX])
{
	const char *slash = strrchr(listener->path, '/');
	snprintf(path, PATH_MAX, "%.*s/%s", slash ? (int)(slash - listener->path) : 0, listener->path,
	         CONTROL_GATHERER);
}

int manage_listen(struct manage_listener *listener, const struct manage_wish *wish, struct manage_result *result)
{
	char path[PATH_MAX];
	const uid_t own = geteuid(), user = manage_user_of(wish->attach);
	if (user != own && seteuid(user) < 0)
		return manage_fail(result, "process %ld is another user's", (long)wish->attach);
	listener->user = user;
	int status = listen_in_directory(listener, result, user);
	if (status == 0 && !wish->words) {
		gatherer_link(listener, path);
		unlink(path);
		if (symlink(listener->path, path) < 0)
			*path = 0; /* programs that start are found a little later */
	}
	if (user != own && seteuid(own) < 0)
		return manage_fail(result, "%s", strerror(errno));
	return status;
}

void manage_listen_end(struct manage_listener *listener)
{
	char path[PATH_MAX], whose[PATH_MAX];
	if (listener->fd >= 0)
		close(listener->fd);
	const uid_t own = geteuid();
	if (!*listener->path || (listener->user != own && seteuid(listener->user) < 0))
		return;
	gatherer_link(listener, path);
	ssize_t length = readlink(path, whose, sizeof whose - 1);
	whose[length > 0 ? length : 0] = 0;
	if (strcmp(whose, listener->path) == 0)
		unlink(path);
	unlink(listener->path);
	if (listener->user != own && seteuid(own) < 0)
		*listener->path = 0; /* the archive is written in the name of the user */
}
