/* server.c - what is asked of a server, and what it has. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "load/server.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the server says is wrong, for who knows its numbers: ErrorCodes.cpp of ClickHouse. */
static const struct {
	unsigned code;
	const char *meaning;
} meanings[] = {
    {192, "the login is refused"},
    {193, "the login is refused"},
    {194, "the login is refused"},
    {497, "the login is refused"},
    {516, "the login is refused"},
    {243, "the server's disk is full"},
    {159, "the server took too long"},
    {160, "the server took too long"},
    {241, "the server's memory is short"},
    {242, "the table is read-only"},
    {164, "the server's user may only read"},
};

static const char *meaning_of(unsigned code, const char *error)
{
	for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
		if (meanings[i].code == code)
			return meanings[i].meaning;
	return strstr(error, "No space left on device") ? "the server's disk is full" : NULL;
}

static int fail(struct load_server *server, enum load_result result)
{
	const char *error = load_http_error(server->http);
	const char *meaning = result == LOAD_REFUSED ? meaning_of(load_http_code(server->http), error) : NULL;
	snprintf(server->error, sizeof server->error, "%s%s%.*s%s", meaning ? meaning : "", meaning ? " (" : "",
	         LOAD_LINE, error, meaning ? ")" : "");
	return -1;
}

int load_server_send(struct load_server *server, const struct load_question *question)
{
	enum load_result result = load_http_ask(server->http, server->host, question);
	if (result != LOAD_ANSWERED)
		return fail(server, result);
	*server->error = '\0';
	return 0;
}

int load_server_ask(struct load_server *server, const char *format, ...)
{
	char *query = NULL;
	va_list arguments;
	va_start(arguments, format);
	int length = vasprintf(&query, format, arguments);
	va_end(arguments);
	if (length < 0) {
		snprintf(server->error, sizeof server->error, "out of memory");
		return -1;
	}
	const struct load_question question = {.query = query, .outside = strncmp(query, "CREATE DATABASE", 15) == 0};
	int status = load_server_send(server, &question);
	free(query);
	return status;
}

int load_server_nonsense(struct load_server *server)
{
	snprintf(server->error, sizeof server->error, "%s: the answer is not what was asked for",
	         server->wish->address->hosts[server->host]);
	return -1;
}

unsigned load_server_row(struct load_server *server, size_t *at, unsigned least, struct load_cell cells[LOAD_CELLS])
{
	const struct tw_text *answer = load_http_answer(server->http);
	unsigned count = answer->length ? load_next_row(answer->bytes, answer->length, at, cells) : 0;
	if (count == 0 || count >= least)
		return count;
	load_server_nonsense(server);
	return 0;
}

/* What each server is asked first: only a ClickHouse gives this answer. */
static const char question_of_all[] = "SELECT 'ClickHouse'";

static int judge_answer(struct load_server *server)
{
	static const char expected[] = "ClickHouse\n";
	const struct tw_text *answer = load_http_answer(server->http);
	if (answer->length == sizeof expected - 1 && memcmp(answer->bytes, expected, answer->length) == 0)
		return 0;
	snprintf(server->error, sizeof server->error,
	         "%s: what answers is no ClickHouse: name the port of its HTTP interface, 8123 as a rule",
	         server->wish->address->hosts[server->host]);
	return -1;
}

int load_server_open(struct load_server *server, const struct load_wish *wish, unsigned first, unsigned host_count)
{
	const char *wrong;
	*server = (struct load_server){.wish = wish};
	server->http = load_http_new(wish->address, wish->timeout, &wrong);
	if (!server->http) {
		snprintf(server->error, sizeof server->error, "libcurl is needed, Debian's package libcurl4: %.300s",
		         wrong);
		return -1;
	}
	for (unsigned i = 0; i < host_count; i++) {
		const struct load_question question = {.query = question_of_all, .outside = true};
		server->host = first + i;
		enum load_result result = load_http_ask(server->http, server->host, &question);
		if (result == LOAD_ANSWERED)
			return judge_answer(server);
		fail(server, result);
		if (result == LOAD_REFUSED)
			return -1;
	}
	return LOAD_NO_HOST;
}

void load_server_close(struct load_server *server)
{
	load_http_free(server->http);
	server->http = NULL;
}
