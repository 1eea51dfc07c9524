/* server.c - a server that is recorded all the time; what was around a slow request is kept:
 *     cc server.c $(pkg-config --cflags --libs trackway-trace) -o server
 *     trackway record --to fxt --mode circular --buffer-size 4M --stop-on "slow request" --after 1s -o slow.fxt -- ./server 7777
 *     printf '5\n200\n' | nc -N localhost 7777
 * A request is a line: how many milliseconds it takes; "quit" ends the server. */
#define _DEFAULT_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <trackway/trace.h>

enum { WORKERS = 4, SLOW_MS = 100, NS_OF_MS = 1000000 };

static int listener, open_connections;

static void work(unsigned ms)
{
	struct timespec time;
	TW_TRACE_DURATION("server", "work", TW_U32("ms", ms));
	time.tv_sec = (time_t)(ms / 1000);
	time.tv_nsec = (long)(ms % 1000) * NS_OF_MS;
	nanosleep(&time, NULL);
}

static int answer(int connection, const char *line)
{
	unsigned ms = (unsigned)strtoul(line, NULL, 10);
	TW_TRACE_DURATION("server", "request", TW_TEXT("line", line));
	work(ms);
	if (ms >= SLOW_MS) /* whoever records is told */
		TW_TRACE_ALERT("server", "slow request");
	return dprintf(connection, "done\n");
}

static void count(int more)
{
	int open = __atomic_add_fetch(&open_connections, more, __ATOMIC_RELAXED);
	TW_TRACE_COUNTER("server", "connections", 0, TW_I32("open", open));
	(void)open; /* with TW_NTRACE */
}

/* A connection is an operation of its own. */
static void serve(int connection)
{
	char line[64];
	FILE *lines = fdopen(connection, "r");
	if (!lines)
		return;
	TW_TRACE_ASYNC_BEGIN("server", "connection", (uint64_t)connection);
	count(1);
	while (fgets(line, sizeof line, lines)) {
		if (strcmp(line, "quit\n") == 0)
			exit(0);
		if (answer(connection, line) < 0)
			break;
	}
	count(-1);
	TW_TRACE_ASYNC_END("server", "connection", (uint64_t)connection);
	fclose(lines);
}

static void *run(void *context)
{
	tw_trace_thread_name("worker");
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		if (fd < 0)
			return context;
		serve(fd);
	}
}

static int listen_at(const char *port)
{
	struct sockaddr_in address;
	socklen_t size = sizeof address;
	memset(&address, 0, sizeof address);
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	address.sin_port = htons((uint16_t)strtoul(port, NULL, 10));
	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (listener < 0 || bind(listener, (const struct sockaddr *)&address, size) < 0 || listen(listener, 16) < 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &size) < 0)
		return -1;
	printf("port %u\n", (unsigned)ntohs(address.sin_port)); /* of port 0 the system makes one */
	return fflush(stdout);
}

int main(int argc, char **argv)
{
	pthread_t threads[WORKERS];
	if (listen_at(argc > 1 ? argv[1] : "7777") != 0) {
		perror("server");
		return 1;
	}
	for (int i = 0; i < WORKERS; i++)
		if (pthread_create(&threads[i], NULL, run, NULL) != 0)
			return 1;
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
