/* server.h - what is asked of a server, and what it has. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOAD_SERVER_H
#define LOAD_SERVER_H

#include "export/clickhouse/schema.h"
#include "load/http.h"
#include "load/load.h"

/* A connection to one of the hosts of an address. All zero to begin. */
struct load_server {
	const struct load_wish *wish;
	struct load_http *http;
	unsigned host;
	char error[LOAD_ERROR];
};

enum { LOAD_NO_HOST = -2 };

/* Finds a host that answers, from number `first` on; host_count of them are looked at. Returns 0, -1 with `error`, or
 * LOAD_NO_HOST in the same way. */
int load_server_open(struct load_server *server, const struct load_wish *wish, unsigned first, unsigned host_count);
void load_server_close(struct load_server *server);

/* Asks. Returns 0, or -1 with `error`. */
int load_server_send(struct load_server *server, const struct load_question *question);

/* Asks; LOAD_ANSWERED is 0, anything else -1 with `error`. format: of snprintf(), without the FORMAT. */
int load_server_ask(struct load_server *server, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The next row of the answer, as load_next_row(); one of fewer than `least` cells is an error. */
unsigned load_server_row(struct load_server *server, size_t *at, unsigned least, struct load_cell cells[LOAD_CELLS]);

/* Says that an answer is not what was asked for. Returns -1. */
int load_server_nonsense(struct load_server *server);

#endif
