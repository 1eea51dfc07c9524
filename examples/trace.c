/* trace.c - a program that writes a trace of itself: cc trace.c $(pkg-config --cflags --libs trackway-trace)
 * TRACKWAY_TRACE=out-%p.fxt ./a.out; trackway stat out-*.fxt */
#include <pthread.h>
#include <stdio.h>

#include <trackway/trace.h>

static int fibonacci(int n)
{
	TW_TRACE_DURATION("work", "fibonacci", TW_I32("n", n));
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static void *run(void *context)
{
	const int *n = (const int *)context;
	tw_trace_thread_name("worker");
	TW_TRACE_FLOW_END("work", "hand over", (uint64_t)*n);
	TW_TRACE_COUNTER("work", "result", 0, TW_I32("value", fibonacci(*n)));
	return NULL;
}

int main(void)
{
	static int numbers[] = {8, 10, 12};
	enum { THREADS = sizeof numbers / sizeof *numbers };
	pthread_t threads[THREADS];
	TW_TRACE_DURATION("work", "main");
	for (int i = 0; i < THREADS; i++) {
		TW_TRACE_FLOW_BEGIN("work", "hand over", (uint64_t)numbers[i]);
		if (pthread_create(&threads[i], NULL, run, &numbers[i]) != 0)
			return 1;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	TW_TRACE_INSTANT("work", "done", TW_SCOPE_PROCESS, TW_TEXT("how", "well"));
	return 0;
}
