/* threads_uftrace.c - three threads, a recursion and a text argument, for uftrace to record. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 3 };

__attribute__((noinline)) static int leaf(int x)
{
	return x * 3 + 1;
}

__attribute__((noinline)) static int recurse(int n)
{
	return n <= 0 ? 0 : 1 + recurse(n - 1);
}

__attribute__((noinline)) static long named(const char *name, double d)
{
	return (long)strlen(name) + (long)d;
}

static void *work(void *argument)
{
	const int *count = argument;
	long sum = 0;
	for (int i = 0; i < *count; i++)
		sum += leaf(i);
	return (void *)sum;
}

int main(int argc, char **argv)
{
	static int counts[THREADS] = {10, 20, 30};
	pthread_t threads[THREADS];
	long sum = recurse(5) + named(argv[argc - 1], 2.5);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, &counts[i]);
	for (int i = 0; i < THREADS; i++) {
		void *result;
		pthread_join(threads[i], &result);
		sum += (long)result;
	}
	printf("%ld\n", sum);
	return 0;
}
