/* providers.c - programs that run and can be asked: found by their sockets. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "manage/manage.h"
#include "trace/control.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A name that is the number of a process; 0: it is none. */
static pid_t process_of(const char *name)
{
	char *end;
	long number = strtol(name, &end, 10);
	return *end == 0 && number > 0 && number <= INT_MAX && name[0] != '+' ? (pid_t)number : 0;
}

uid_t manage_user_of(pid_t process)
{
	struct stat status;
	char path[64];
	snprintf(path, sizeof path, "/proc/%ld", (long)process);
	return process && stat(path, &status) == 0 ? status.st_uid : geteuid();
}

/* What stands behind the name of a process in its state: " S PARENT ..."; "": it is not there. */
static const char *state_of(pid_t process, char text[static 512])
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%ld/stat", (long)process);
	FILE *file = fopen(path, "re");
	const size_t size = file ? fread(text, 1, 511, file) : 0;
	if (file)
		fclose(file);
	text[size] = 0;
	const char *name_end = strrchr(text, ')');
	return name_end && name_end[1] == ' ' ? name_end + 1 : "";
}

pid_t manage_parent_of(pid_t process)
{
	char text[512];
	const char *state = state_of(process, text);
	return strlen(state) > 3 ? (pid_t)strtol(state + 3, NULL, 10) : 0;
}

bool manage_is_running(pid_t process)
{
	char text[512];
	const char *state = state_of(process, text);
	return *state && !strchr("ZX", state[1]);
}

/* A socket of some path may be a program's of this user, if it is in such a directory, and not in that one. */
static pid_t provider_of(const char *path, const char *looked_at, uid_t user)
{
	struct stat status;
	const char *name = strrchr(path, '/'), *folder = name ? memrchr(path, '/', (size_t)(name - path)) : NULL;
	const size_t length = strlen(looked_at);
	if (!folder || *path != '/' || strncmp(folder, "/trackway", 9) != 0)
		return 0;
	if ((size_t)(name - path) == length && strncmp(path, looked_at, length) == 0)
		return 0;
	return lstat(path, &status) == 0 && S_ISSOCK(status.st_mode) && status.st_uid == user ? process_of(name + 1)
	                                                                                      : 0;
}

/* Whether a line of the kernel's list is of a socket that listens: its connections have the same path. */
static bool listens(const char *line)
{
	enum { FLAGS = 3, ACCEPTS = 1 << 16 }; /* the field, and __SO_ACCEPTCON */
	for (int i = 0; i < FLAGS; i++) {
		line += strcspn(line, " ");
		line += strspn(line, " ");
	}
	return (strtoul(line, NULL, 16) & ACCEPTS) != 0;
}

/* Programs with another XDG_RUNTIME_DIR or TMPDIR: the kernel lists all sockets, by a path at the end of a line. */
static void find_others(pid_t attach, const char *looked_at, manage_found_fn *found, void *context)
{
	char line[PATH_MAX];
	const uid_t user = manage_user_of(attach);
	FILE *list = fopen("/proc/net/unix", "re");
	while (list && fgets(line, sizeof line, list)) {
		line[strcspn(line, "\n")] = 0;
		const char *path = listens(line) ? strchr(line, '/') : NULL;
		pid_t process = path ? provider_of(path, looked_at, user) : 0;
		if (process && process == attach)
			found(context, process, path);
	}
	if (list)
		fclose(list);
}

void manage_find(pid_t attach, manage_found_fn *found, void *context)
{
	char directory[PATH_MAX], path[PATH_MAX + 300];
	if (control_directory(directory, sizeof directory, manage_user_of(attach)) < 0)
		return;
	if (attach) /* asked for by its number; all others are told apart by their directories */
		find_others(attach, directory, found, context);
	DIR *open = opendir(directory);
	for (struct dirent *entry; open && (entry = readdir(open));) {
		pid_t process = process_of(entry->d_name);
		if (!process || (attach && process != attach))
			continue;
		snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
		found(context, process, path);
	}
	if (open)
		closedir(open);
}

/* The socket of a program that has just begun refuses, too, until the program listens. */
int manage_connect(pid_t process, const char *path)
{
	int talk = control_connect(path);
	if (talk < 0 && errno == ECONNREFUSED && kill(process, 0) < 0 && errno == ESRCH)
		unlink(path);
	return talk;
}

/* Connects, and takes the greeting. */
static int greet(pid_t process, const char *path)
{
	char text[CONTROL_TEXT];
	int fd, talk = manage_connect(process, path);
	if (talk < 0)
		return -1;
	ssize_t size = control_receive(talk, text, &fd);
	if (fd >= 0)
		close(fd);
	if (size > 0 && control_after(text, "hello"))
		return talk;
	close(talk);
	return -1;
}

/* Asks a question. Returns the length of the answer, 0 where there is none. */
static ssize_t ask(pid_t process, const char *path, const char *question, char answer[static CONTROL_TEXT], int *fd)
{
	int talk = greet(process, path);
	*fd = -1;
	if (talk < 0)
		return 0;
	ssize_t size = control_send(talk, question, -1) == 0 ? control_receive(talk, answer, fd) : 0;
	close(talk);
	return size > 0 ? size : 0;
}

struct manage_listing {
	manage_status_fn *take;
	void *context;
	size_t count;
};

static void list_one(void *context, pid_t process, const char *path)
{
	struct manage_listing *listing = context;
	char answer[CONTROL_TEXT];
	int fd;
	ssize_t size = ask(process, path, "status", answer, &fd);
	if (fd >= 0)
		close(fd);
	const char *status = size > 0 ? control_after(answer, "status") : NULL;
	if (!status)
		return;
	listing->count++;
	listing->take(listing->context, process, status);
}

size_t manage_list(pid_t attach, manage_status_fn *take, void *context)
{
	struct manage_listing listing = {.take = take, .context = context};
	manage_find(attach, list_one, &listing);
	return listing.count;
}

/* ---- Snapshots. ---- */

static void take_image(void *context, pid_t process, const char *path)
{
	struct manage_result *result = context;
	char answer[CONTROL_TEXT];
	int fd;
	ssize_t size = ask(process, path, "image", answer, &fd);
	if (fd < 0)
		return;
	if (size > 0 && result->count < MANAGE_MOST &&
	    tw_grow(&result->providers, &result->room, result->count + 1, sizeof *result->providers))
		result->providers[result->count++] =
		    (struct manage_provider){.process = process, .talk = -1, .image = fd, .started = true};
	else
		close(fd);
}

int manage_snapshot(const struct manage_wish *wish, struct manage_result *result)
{
	*result = (struct manage_result){.sched_image = -1};
	manage_find(wish->attach, take_image, result);
	if (result->count == 0)
		return manage_fail(result, "no program that records is running");
	return manage_write(result, wish);
}
