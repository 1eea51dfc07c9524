/* early_fork.c - forks before the library's helper thread has begun: says whether the fork waited for it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef void *run_fn(void *context);
typedef int create_fn(pthread_t *thread, const pthread_attr_t *attributes, run_fn *run, void *context);

static struct {
	run_fn *run;
	void *context;
} helper;
static atomic_bool begun;

/* A fifth of a second late, by when the program has forked. */
static void *begin(void *context)
{
	(void)context;
	nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
	atomic_store(&begun, true);
	return helper.run(helper.context);
}

/* In the place of the C library's, and of AddressSanitizer's, which it calls. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, run_fn *run, void *context)
{
	create_fn *create = (create_fn *)dlsym(RTLD_NEXT, "pthread_create");
	if (helper.run)
		return create(thread, attributes, run, context);
	helper.run = run;
	helper.context = context;
	return create(thread, attributes, begin, NULL);
}

int main(void)
{
	const bool late = helper.run && !atomic_load(&begun);
	const pid_t child = fork();
	const bool waited = atomic_load(&begun);
	int status = 1;
	if (child == 0)
		_exit(0);
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		return 1;
	puts(!late ? "begun before" : waited ? "waited" : "did not wait");
	return 0;
}
