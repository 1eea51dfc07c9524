/* http.h - questions to a server over HTTP, by libcurl. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOAD_HTTP_H
#define LOAD_HTTP_H

#include "base/memory/memory.h"
#include "load/address.h"
#include "load/answer.h"

struct load_http;

/* What a question asks, and with what. */
struct load_question {
	const char *query;
	const char *id;   /* of the query, for the server's list of running queries; NULL: none */
	const void *body; /* the block of an INSERT; NULL: there is none */
	size_t size;
	bool outside;         /* without the database: it may not exist yet */
	const char *settings; /* "&name=value" */
};

enum load_result {
	LOAD_ANSWERED,
	LOAD_REFUSED,    /* the server says what is wrong */
	LOAD_UNREACHABLE /* or does not say anything; what was asked may have been done */
};

/* Loads the library and makes a connection's state; timeout: seconds without a byte. NULL when there is no memory or no
 * library: *wrong tells which, and lives until the thread loads again. The address must live as long. */
struct load_http *load_http_new(const struct load_address *address, unsigned timeout, const char **wrong);
void load_http_free(struct load_http *http);

/* Asks one of the hosts, by number. Its answer is load_http_answer(); where it is refused load_http_error() is one line
 * and load_http_code() the server's number of the error. */
enum load_result load_http_ask(struct load_http *http, unsigned host, const struct load_question *question);

const struct tw_text *load_http_answer(const struct load_http *http);
const char *load_http_error(const struct load_http *http);
unsigned load_http_code(const struct load_http *http);

#endif
