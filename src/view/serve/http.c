/* http.c - libmicrohttpd between a browser and the answers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/load.h"
#include "view/serve/strangers.h"
#include "view/serve/view.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Most connections are for pages that have shown the cookie. Seconds without a byte end a connection. */
enum { CONNECTIONS = 4 * VIEW_STRANGERS, TIMEOUT = 60, TIMEOUT_OF_STRANGERS = 5 };
/* Files that are open at once: the server's own, connections of a browser, and what its questions read and write. */
enum { FILES = 12 };
enum { CONNECTION_MEMORY = 96 << 10, STACK = 2 << 20 };

/* The functions, of the library once it is loaded. */
struct library {
	struct MHD_Daemon *(*start)(unsigned flags, uint16_t port, MHD_AcceptPolicyCallback accept,
	                            void *accept_context, MHD_AccessHandlerCallback handle, void *handle_context, ...);
	void (*stop)(struct MHD_Daemon *daemon);
	struct MHD_Response *(*response)(size_t size, void *bytes, enum MHD_ResponseMemoryMode mode);
	enum MHD_Result (*header)(struct MHD_Response *response, const char *name, const char *value);
	enum MHD_Result (*queue)(struct MHD_Connection *connection, unsigned status, struct MHD_Response *response);
	void (*destroy)(struct MHD_Response *response);
	const union MHD_ConnectionInfo *(*about)(struct MHD_Connection *connection, enum MHD_ConnectionInfoType type,
	                                         ...);
	enum MHD_Result (*set)(struct MHD_Connection *connection, enum MHD_CONNECTION_OPTION option, ...);
	int (*each)(struct MHD_Connection *connection, enum MHD_ValueKind kind, MHD_KeyValueIterator take,
	            void *context);
};

TW_DLOPEN_NOTE("libmicrohttpd.so.12", "view", "A timeline in the browser", "recommended")

struct view_http {
	struct library library;
	struct MHD_Daemon *daemon;
	struct view_strangers strangers;
};

static const struct tw_loaded functions[] = {
    {"MHD_start_daemon", offsetof(struct library, start)},
    {"MHD_stop_daemon", offsetof(struct library, stop)},
    {"MHD_create_response_from_buffer", offsetof(struct library, response)},
    {"MHD_add_response_header", offsetof(struct library, header)},
    {"MHD_queue_response", offsetof(struct library, queue)},
    {"MHD_destroy_response", offsetof(struct library, destroy)},
    {"MHD_get_connection_info", offsetof(struct library, about)},
    {"MHD_set_connection_option", offsetof(struct library, set)},
    {"MHD_get_connection_values", offsetof(struct library, each)},
};

/* ---- Answers. ---- */

#define NS_PER_MS 1e6

static int64_t used_by_thread(void)
{
	struct timespec used;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

static const struct {
	const char *name, *value;
} headers[] = {
    {"Cache-Control", "no-store"},      {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"}, {"Cross-Origin-Resource-Policy", "same-origin"},
    {"X-Frame-Options", "DENY"},
};

static const char policy[] = "default-src 'none'; script-src 'self'; style-src 'self'; "
			     "connect-src 'self'; img-src 'self' data: blob:; frame-ancestors 'none'; base-uri 'none'; "
			     "form-action 'none'";

static void add_headers(const struct view *view, struct MHD_Response *response, const struct view_answer *answer)
{
	const struct library *library = &view->server.http->library;
	char cookie[128], taken[96];
	for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
		library->header(response, headers[i].name, headers[i].value);
	library->header(response, "Content-Type", answer->type);
	snprintf(taken, sizeof taken, "answer;dur=%.3f, cpu;dur=%.3f", (double)answer->took / NS_PER_MS,
	         (double)answer->used / NS_PER_MS);
	library->header(response, "Server-Timing", taken);
	if (answer->page)
		library->header(response, "Content-Security-Policy", policy);
	if (answer->ends)
		library->header(response, "Connection", "close");
	if (!answer->enters)
		return;
	snprintf(cookie, sizeof cookie, "trackway-%u=%s; HttpOnly; SameSite=Strict; Path=/", view->server.port,
	         view->server.token);
	library->header(response, "Set-Cookie", cookie);
	library->header(response, "Location", "/");
}

static enum MHD_Result queue(struct view *view, struct MHD_Connection *connection, struct view_answer *answer)
{
	const struct library *library = &view->server.http->library;
	size_t size = answer->fixed ? answer->fixed_size : answer->body.length;
	void *bytes = answer->fixed ? (void *)(uintptr_t)answer->fixed : answer->body.bytes;
	enum MHD_ResponseMemoryMode mode = answer->fixed || !bytes ? MHD_RESPMEM_PERSISTENT : MHD_RESPMEM_MUST_FREE;
	struct MHD_Response *response = library->response(size, bytes ? bytes : (void *)(uintptr_t) "", mode);
	if (!response)
		return MHD_NO;
	if (mode == MHD_RESPMEM_MUST_FREE)
		answer->body = (struct tw_text){0};
	add_headers(view, response, answer);
	enum MHD_Result result = library->queue(connection, answer->status, response);
	library->destroy(response);
	return result;
}

/* What is kept of a request until it has come whole. */
struct asked {
	char *address; /* as it came: the library decodes the other one */
	uintptr_t end; /* of what the library takes for the address */
	bool begun;
};

/* Parameters are taken apart elsewhere: the library has no room for 2,000. The bytes are its own, and it decodes them
 * in place. */
static void join_parameters(char *address)
{
	for (char *at = address; (at = strchr(at, '&'));)
		*at = '+';
}

static void *note_address(void *context, const char *address, struct MHD_Connection *connection)
{
	struct asked *asked = calloc(1, sizeof *asked);
	(void)context, (void)connection;
	if (asked) {
		asked->address = strdup(address);
		asked->end = (uintptr_t)address + strlen(address) + 1;
	}
	join_parameters((char *)(uintptr_t)address);
	return asked;
}

static void forget_address(void *context, struct MHD_Connection *connection, void **kept,
                           enum MHD_RequestTerminationCode why)
{
	struct asked *asked = *kept;
	(void)context, (void)connection, (void)why;
	if (asked)
		free(asked->address);
	free(asked);
	*kept = NULL;
}

/* ---- Requests. ---- */

/* Headers that decide, by where they go; 0: those that tell of a body. */
static const struct {
	const char *name;
	size_t member;
} told[] = {
    {"Host", offsetof(struct view_request, host)},
    {"Origin", offsetof(struct view_request, origin)},
    {"Cookie", offsetof(struct view_request, cookie)},
    {"Sec-Fetch-Site", offsetof(struct view_request, fetch_site)},
    {"Content-Length", 0},
    {"Transfer-Encoding", 0},
};

/* The library ends what it tells at a zero byte, and more may stand behind that: all of a request was sent as one. */
static bool is_hidden(uintptr_t end, uintptr_t next, size_t line_end)
{
	const uintptr_t between = next - end;
	return end && between > line_end && between < CONNECTION_MEMORY;
}

/* The headers of a request, one after the other. */
struct header_list {
	struct view_request *request;
	uintptr_t end; /* of the last value and its zero byte; 0: there was none */
};

static enum MHD_Result take_header(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct header_list *list = context;
	struct view_request *request = list->request;
	(void)kind;
	if (is_hidden(list->end, (uintptr_t)name, strlen("\n")))
		request->fault = "a header has a zero byte, or goes on in another line";
	if (strpbrk(name, " \t"))
		request->fault = "a blank is before the colon of a header";
	list->end = value ? (uintptr_t)value + strlen(value) + 1 : 0;
	for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
		if (!value || strcasecmp(name, told[i].name) != 0)
			continue;
		const char **member = (const char **)(void *)((char *)request + told[i].member);
		if (!told[i].member)
			request->fault = strcmp(value, "0") == 0 ? request->fault : "a question has no body";
		else if (*member)
			request->fault = "a header that decides is there twice";
		else
			*member = value;
	}
	return MHD_YES;
}

static void take_request(const struct library *library, struct MHD_Connection *connection, const struct asked *asked,
                         const char *version, struct view_request *request)
{
	const union MHD_ConnectionInfo *about = library->about(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	request->socket = about ? about->connect_fd : 0;
	request->address = asked && asked->address ? asked->address : "";
	struct header_list list = {.request = request};
	library->each(connection, MHD_HEADER_KIND, take_header, &list);
	about = library->about(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
	if (about && is_hidden(list.end, (uintptr_t)request->method + about->header_size, strlen("\n\r\n")))
		request->fault = "a header has a zero byte, or goes on in another line";
	if (asked && is_hidden(asked->end, (uintptr_t)version, 0))
		request->fault = "the address has a zero byte";
}

/* Who has shown the cookie may be silent for longer. */
static void welcome(struct view_http *http, struct MHD_Connection *connection, int socket)
{
	view_strangers_remove(&http->strangers, socket);
	http->library.set(connection, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)TIMEOUT);
}

static enum MHD_Result answer(struct view *view, struct MHD_Connection *connection, struct view_request *request)
{
	struct view_http *http = view->server.http;
	struct view_answer answer;
	const int64_t begun = view_now(), used = used_by_thread();
	const bool admitted = view_admit(view, request, &answer);
	if (admitted) {
		welcome(http, connection, request->socket);
		view_answer_admitted(view, request, &answer);
	}
	answer.took = view_now() - begun;
	answer.used = used_by_thread() - used;
	answer.ends = !admitted;
	enum MHD_Result result = queue(view, connection, &answer);
	view_answer_free(&answer);
	return result;
}

/* Is called for a request once its headers are there, and once more behind it. An answer to the first would end the
 * connection: only what is no question gets one. */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *body, size_t *body_size, void **kept)
{
	struct view *view = context;
	struct asked *asked = *kept;
	struct view_request request = {.method = method};
	const bool again = asked && asked->begun;
	(void)url, (void)body;
	*body_size = 0;
	if (asked)
		asked->begun = true;
	take_request(&view->server.http->library, connection, asked, version, &request);
	if (view_is_question(method) && !request.fault && !again)
		return MHD_YES;
	enum MHD_Result result = answer(view, connection, &request);
	view_request_free(&request);
	return result;
}

/* A socket is closed after this has been told. */
static void count(void *context, struct MHD_Connection *connection, void **kept,
                  enum MHD_ConnectionNotificationCode what)
{
	struct view_http *http = context;
	const union MHD_ConnectionInfo *about = http->library.about(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	(void)kept;
	if (!about)
		return;
	if (what == MHD_CONNECTION_NOTIFY_STARTED)
		view_strangers_add(&http->strangers, about->connect_fd);
	else
		view_strangers_remove(&http->strangers, about->connect_fd);
}

/* ---- The socket. ---- */

/* Returns a socket that listens on this machine alone, or -1 and errno. */
static int listen_at(unsigned port, unsigned *chosen)
{
	struct sockaddr_in place = {.sin_family = AF_INET,
	                            .sin_port = htons((uint16_t)port),
	                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof place;
	const int yes = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
	    bind(fd, (const struct sockaddr *)&place, size) == 0 && listen(fd, CONNECTIONS) == 0 &&
	    getsockname(fd, (struct sockaddr *)&place, &size) == 0) {
		*chosen = ntohs(place.sin_port);
		return fd;
	}
	int error = errno;
	close(fd);
	errno = error;
	return -1;
}

/* How many more files can be open at once, of as many as are wanted. */
static size_t count_free(size_t wanted)
{
	struct rlimit limit = {0};
	size_t count = 0;
	(void)getrlimit(RLIMIT_NOFILE, &limit);
	for (rlim_t fd = 0; fd < limit.rlim_cur && fd < INT_MAX && count < wanted; fd++)
		count += fcntl((int)fd, F_GETFD) < 0;
	return count;
}

static int fail(struct view *view, int status, const char *words)
{
	snprintf(view->error, sizeof view->error, "%s", words);
	return status;
}

int view_http_start(struct view *view, unsigned port)
{
	struct view_http *http = view->server.http = calloc(1, sizeof *http);
	if (!http)
		return fail(view, TW_ERR_MEMORY, "out of memory");
	pthread_mutex_init(&http->strangers.lock, NULL);
	const char *missing =
	    tw_load("libmicrohttpd.so.12", &http->library, functions, sizeof functions / sizeof *functions);
	if (missing) {
		snprintf(view->error, sizeof view->error,
		         "libmicrohttpd is needed, Debian's package libmicrohttpd12: %.200s", missing);
		return TW_ERR_UNSUPPORTED;
	}
	const size_t needed = FILES + view->options.count, free_files = count_free(needed);
	if (free_files < needed) {
		snprintf(view->error, sizeof view->error, "%s: %zu can be opened, and %zu are needed (ulimit -n)",
		         strerror(EMFILE), free_files, needed);
		return TW_ERR_SYSTEM;
	}
	int error = view_questions_watch(&view->questions);
	if (error)
		return fail(view, TW_ERR_SYSTEM, strerror(error));
	int fd = listen_at(port, &view->server.port);
	if (fd < 0)
		return fail(view, TW_ERR_SYSTEM, strerror(errno));
	/* A thread for each connection: an answer that takes long keeps nobody else waiting. */
	http->daemon =
	    http->library.start(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_THREAD_PER_CONNECTION, 0, NULL,
	                        NULL, handle, view, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_THREAD_STACK_SIZE,
	                        (size_t)STACK, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
	                        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_OF_STRANGERS,
	                        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
	                        MHD_OPTION_NOTIFY_CONNECTION, count, http, MHD_OPTION_URI_LOG_CALLBACK, note_address,
	                        NULL, MHD_OPTION_NOTIFY_COMPLETED, forget_address, NULL, MHD_OPTION_END);
	if (http->daemon)
		return 0;
	close(fd);
	return fail(view, TW_ERR_SYSTEM, "the server does not start");
}

void view_http_stop(struct view *view)
{
	view_questions_stop(&view->questions); /* the server waits for all answers */
	struct view_http *http = view->server.http;
	if (!http)
		return;
	if (http->daemon)
		http->library.stop(http->daemon);
	pthread_mutex_destroy(&http->strangers.lock);
	free(http);
	view->server.http = NULL;
}
