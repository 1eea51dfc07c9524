/* http.c - questions to a server over HTTP, by libcurl.
 *
 * Source: ClickHouse's document "HTTP Interface". The query of an INSERT stands in the address and its block in the
 * body, with gzip; other queries are the body. User and password are headers: they are in no log of addresses.
 * With "Expect: 100-continue" no byte of a block is sent before a thread of the server has it in hand: what waits in
 * a queue when a loader is killed is no block. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "load/http.h"

#include "base/bytes/compress.h"
#include "base/load.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TW_DLOPEN_NOTE("libcurl.so.4", "load", "Traces into a server of ClickHouse", "suggested")

/* A question takes at most `--timeout` for each of what may be silent, which are the connection, the wait for the body,
 * the work and the answer, and beside it what a slow line takes: a server that drips is not waited for. */
enum { CONNECT_SECONDS = 10, URL_ROOM = 1 << 12, SILENCES = 4, SLOWEST = 64 << 10 /* bytes a second */ };

/* The functions, of the library once it is loaded. */
struct curl_functions {
	CURL *(*init)(void);
	void (*cleanup)(CURL *curl);
	void (*reset)(CURL *curl);
	CURLcode (*setopt)(CURL *curl, CURLoption option, ...);
	CURLcode (*perform)(CURL *curl);
	CURLcode (*info)(CURL *curl, CURLINFO info, ...);
	char *(*escape)(CURL *curl, const char *text, int length);
	void (*release)(void *text);
	struct curl_slist *(*append)(struct curl_slist *list, const char *text);
	void (*free_list)(struct curl_slist *list);
};

static const struct tw_loaded functions[] = {
    {"curl_easy_init", offsetof(struct curl_functions, init)},
    {"curl_easy_cleanup", offsetof(struct curl_functions, cleanup)},
    {"curl_easy_reset", offsetof(struct curl_functions, reset)},
    {"curl_easy_setopt", offsetof(struct curl_functions, setopt)},
    {"curl_easy_perform", offsetof(struct curl_functions, perform)},
    {"curl_easy_getinfo", offsetof(struct curl_functions, info)},
    {"curl_easy_escape", offsetof(struct curl_functions, escape)},
    {"curl_free", offsetof(struct curl_functions, release)},
    {"curl_slist_append", offsetof(struct curl_functions, append)},
    {"curl_slist_free_all", offsetof(struct curl_functions, free_list)},
};

struct load_http {
	struct curl_functions library;
	const struct load_address *address;
	CURL *curl;
	long timeout, most; /* seconds: without a byte, and for all of a question */
	struct tw_text answer, packed, url;
	bool long_answer; /* it has more than is taken */
	unsigned code;
	char error[LOAD_LINE + 2 * LOAD_NAME], why[CURL_ERROR_SIZE];
};

/* ---- The body. ---- */

static void put_packed(void *context, const char *bytes, size_t size)
{
	struct tw_text *packed = context;
	if (size && !tw_text_add(packed, bytes, size))
		packed->length = 0;
}

/* One member of gzip (RFC 1952). False when there is no memory. */
static bool pack(struct tw_text *packed, const void *bytes, size_t size)
{
	const struct tw_packer *packer = tw_packer_of("block.gz");
	const struct tw_pack_sink sink = {put_packed, packed};
	struct tw_pack *pack = tw_pack_new(packer, TW_PACK_LESS);
	struct tw_packed block = {0}, total = {0};
	packed->length = 0;
	bool fine = pack && tw_pack_block(pack, bytes, size, true, &block);
	if (fine) {
		tw_pack_put_head(packer, &sink);
		tw_pack_put(&block, &total, &sink);
		tw_pack_put_tail(packer, &total, &sink);
	}
	tw_text_free(&block.text);
	tw_pack_free(pack);
	return fine && packed->length;
}

/* Takes a piece of the answer; an answer that goes on beyond the most is given up. */
static size_t take_answer(char *bytes, size_t one, size_t size, void *context)
{
	struct load_http *http = context;
	(void)one;
	http->long_answer |= size > LOAD_ANSWER_MOST - http->answer.length;
	return !http->long_answer && (!size || tw_text_add(&http->answer, bytes, size)) ? size : 0;
}

/* ---- The address. ---- */

static bool add(struct tw_text *text, const char *more)
{
	return tw_text_add(text, more, strlen(more));
}

static bool add_value(struct load_http *http, const char *name, const char *value)
{
	char *escaped = http->library.escape(http->curl, value, 0);
	bool fine = escaped && add(&http->url, name) && add(&http->url, escaped);
	http->library.release(escaped);
	return fine;
}

static bool make_url(struct load_http *http, unsigned host, const struct load_question *question)
{
	http->url.length = 0;
	bool fine = add(&http->url, "http://") && add(&http->url, http->address->hosts[host]) &&
	            add(&http->url, "/?default_format=TabSeparated");
	if (!question->outside)
		fine = fine && add_value(http, "&database=", http->address->database);
	if (question->id)
		fine = fine && add_value(http, "&query_id=", question->id);
	if (question->body)
		fine = fine && add_value(http, "&query=", question->query);
	return fine && (!question->settings || add(&http->url, question->settings));
}

/* ---- Headers. ---- */

static bool add_header(struct load_http *http, struct curl_slist **list, const char *name, const char *value)
{
	char text[2 * LOAD_NAME];
	snprintf(text, sizeof text, "%s: %s", name, value);
	struct curl_slist *longer = http->library.append(*list, text);
	*list = longer ? longer : *list;
	return longer;
}

static bool make_headers(struct load_http *http, const struct load_question *question, struct curl_slist **list)
{
	const struct load_address *address = http->address;
	bool fine = add_header(http, list, "User-Agent", "trackway");
	if (*address->user)
		fine &= add_header(http, list, "X-ClickHouse-User", address->user) &&
		        add_header(http, list, "X-ClickHouse-Key", address->password);
	if (question->body)
		fine &= add_header(http, list, "Content-Encoding", "gzip") &&
		        add_header(http, list, "Expect", "100-continue");
	else
		fine &= add_header(http, list, "Expect", "");
	return fine;
}

/* ---- Asking. ---- */

static void set_options(struct load_http *http, const void *body, size_t size, struct curl_slist *headers)
{
	http->most = http->timeout * SILENCES + (long)(size / SLOWEST);
	const struct curl_functions *library = &http->library;
	library->reset(http->curl);
	library->setopt(http->curl, CURLOPT_URL, http->url.bytes);
	library->setopt(http->curl, CURLOPT_NOSIGNAL, 1L);
	library->setopt(http->curl, CURLOPT_PROXY, "");
	library->setopt(http->curl, CURLOPT_PROTOCOLS_STR, "http");
	library->setopt(http->curl, CURLOPT_POSTFIELDS, body);
	library->setopt(http->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
	library->setopt(http->curl, CURLOPT_HTTPHEADER, headers);
	library->setopt(http->curl, CURLOPT_WRITEFUNCTION, take_answer);
	library->setopt(http->curl, CURLOPT_WRITEDATA, http);
	library->setopt(http->curl, CURLOPT_ERRORBUFFER, http->why);
	library->setopt(http->curl, CURLOPT_CONNECTTIMEOUT,
	                http->timeout < CONNECT_SECONDS ? http->timeout : CONNECT_SECONDS);
	library->setopt(http->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	library->setopt(http->curl, CURLOPT_LOW_SPEED_TIME, http->timeout);
	library->setopt(http->curl, CURLOPT_TIMEOUT, http->most);
	library->setopt(http->curl, CURLOPT_EXPECT_100_TIMEOUT_MS, http->timeout * 1000);
}

/* Whether all the time is over that a question may take: bytes came, but no end. */
static bool took_all(const struct load_http *http)
{
	double seconds = 0;
	http->library.info(http->curl, CURLINFO_TOTAL_TIME, &seconds);
	return seconds >= (double)http->most - 1;
}

static enum load_result unreachable(struct load_http *http, unsigned host, CURLcode code)
{
	if (http->long_answer)
		snprintf(http->error, sizeof http->error, "%s: an answer has more than %d MiB",
		         http->address->hosts[host], LOAD_ANSWER_MOST >> 20);
	else if (code == CURLE_OPERATION_TIMEDOUT && took_all(http))
		snprintf(http->error, sizeof http->error, "%s: no end of the answer within %ld s",
		         http->address->hosts[host], http->most);
	else if (code == CURLE_OPERATION_TIMEDOUT)
		snprintf(http->error, sizeof http->error, "%s: no answer within %ld s", http->address->hosts[host],
		         http->timeout);
	else
		snprintf(http->error, sizeof http->error, "%s: %.200s", http->address->hosts[host],
		         *http->why ? http->why : "no answer");
	return LOAD_UNREACHABLE;
}

static enum load_result fail_memory(struct load_http *http)
{
	snprintf(http->error, sizeof http->error, "out of memory");
	return LOAD_UNREACHABLE;
}

static enum load_result look_at(struct load_http *http, unsigned host, CURLcode code)
{
	enum { FINE = 200 };
	char line[LOAD_LINE];
	long status = 0;
	http->library.info(http->curl, CURLINFO_RESPONSE_CODE, &status);
	if (code != CURLE_OK && (status == 0 || status == FINE || http->long_answer))
		return unreachable(http, host, code);
	if (status == FINE)
		return LOAD_ANSWERED;
	http->code = load_error_line(http->answer.bytes ? http->answer.bytes : "", http->answer.length, line);
	if (*line)
		snprintf(http->error, sizeof http->error, "%s: %.300s", http->address->hosts[host], line);
	else
		snprintf(http->error, sizeof http->error, "%s: HTTP status %ld", http->address->hosts[host], status);
	return LOAD_REFUSED;
}

enum load_result load_http_ask(struct load_http *http, unsigned host, const struct load_question *question)
{
	struct curl_slist *headers = NULL;
	http->answer.length = 0;
	http->long_answer = false;
	http->code = 0;
	*http->why = '\0';
	bool fine = make_url(http, host, question) && make_headers(http, question, &headers) &&
	            (!question->body || pack(&http->packed, question->body, question->size));
	enum load_result result = LOAD_UNREACHABLE;
	if (fine) {
		const void *body = question->body ? http->packed.bytes : question->query;
		set_options(http, body, question->body ? http->packed.length : strlen(question->query), headers);
		result = look_at(http, host, http->library.perform(http->curl));
	} else {
		result = fail_memory(http);
	}
	http->library.free_list(headers);
	return result;
}

/* ---- The handle. ---- */

struct load_http *load_http_new(const struct load_address *address, unsigned timeout, const char **wrong)
{
	struct load_http *http = calloc(1, sizeof *http);
	*wrong = "out of memory";
	if (!http)
		return NULL;
	*http = (struct load_http){.address = address, .timeout = (long)timeout};
	*wrong = tw_load("libcurl.so.4", &http->library, functions, sizeof functions / sizeof *functions);
	if (*wrong) {
		free(http);
		return NULL;
	}
	http->curl = http->library.init();
	if (http->curl)
		return http;
	*wrong = "libcurl: out of memory";
	free(http);
	return NULL;
}

void load_http_free(struct load_http *http)
{
	if (!http)
		return;
	http->library.cleanup(http->curl);
	tw_text_free(&http->answer);
	tw_text_free(&http->packed);
	tw_text_free(&http->url);
	free(http);
}

const struct tw_text *load_http_answer(const struct load_http *http)
{
	return &http->answer;
}

const char *load_http_error(const struct load_http *http)
{
	return http->error;
}

unsigned load_http_code(const struct load_http *http)
{
	return http->code;
}
