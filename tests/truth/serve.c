/* serve.c - loaded into a tool before it begins: its main() runs once for each command line that comes in, in a fork. */
// SPDX-License-Identifier: Apache-2.0
//
// Most of what a short command takes is its start: the loader maps ten libraries and relocates. Tests that run thousands
// of commands start the tool once (served.py). Each command has a process of its own, forked before main() has begun.
//
// A word "NAME=VALUE" before the command belongs to its environment. Another library that is loaded, too, may have a
// served_begin(), which is called when that is set.
//
// The environment names the descriptors in SERVE_FDS: "requests,output,errors". A request is one packet, the words of a
// command line, each with a NUL behind it; the answer is the status that waitpid() gives. The command writes to the
// descriptors of output and errors.

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	REQUEST_SIZE = 1 << 16,
	MAX_WORDS = 4096,
};

typedef int main_function(int argc, char **argv, char **environment);
typedef int start_function(main_function *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                           void (*rtld_fini)(void), void *stack_end);

start_function __libc_start_main;

__attribute__((weak)) void served_begin(void);

static main_function *tool_main;
static int requests, output, errors;
static char request[REQUEST_SIZE];
static char *words[MAX_WORDS + 1];

static int split(size_t size)
{
	int count = 0;

	for (size_t at = 0; at < size && count < MAX_WORDS; at++)
		if (at == 0 || request[at - 1] == '\0')
			words[count++] = request + at;
	words[count] = NULL;
	return count;
}

/* How many words come before the command. */
static int take_environment(void)
{
	int count = 0;

	while (words[count] && words[count][0] != '/' && strchr(words[count], '='))
		putenv(words[count++]);
	if (served_begin)
		served_begin();
	return count;
}

static int run(int count)
{
	if (dup2(output, STDOUT_FILENO) < 0 || dup2(errors, STDERR_FILENO) < 0)
		_exit(127);
	close(requests);
	close(output);
	close(errors);
	int first = take_environment();
	return tool_main(count - first, words + first, environ);
}

/* Returns in the children, with the status of a command, and when there are no more requests. */
static int serve(int argc, char **argv, char **environment)
{
	(void)argc;
	(void)argv;
	(void)environment;
	for (;;) {
		ssize_t size = recv(requests, request, sizeof(request) - 1, 0);
		int status;

		if (size <= 0)
			return size < 0;
		request[size] = '\0';
		pid_t child = fork();
		if (child == 0)
			return run(split((size_t)size));
		if (child < 0 || waitpid(child, &status, 0) < 0 || send(requests, &status, sizeof(status), 0) < 0)
			return 1;
	}
}

int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end)
{
	start_function *start;
	const char *descriptors = getenv("SERVE_FDS");

	if (descriptors && sscanf(descriptors, "%d,%d,%d", &requests, &output, &errors) == 3) {
		tool_main = main;
		main = serve;
	}
	*(void **)&start = dlsym(RTLD_NEXT, "__libc_start_main");
	// What the tool starts is none.
	unsetenv("LD_PRELOAD");
	unsetenv("SERVE_FDS");
	return start(main, argc, argv, init, fini, rtld_fini, stack_end);
}
