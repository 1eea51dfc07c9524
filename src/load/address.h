/* address.h - where a database is: clickhouse://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOAD_ADDRESS_H
#define LOAD_ADDRESS_H

#include <stdbool.h>

enum { LOAD_HOSTS = 8, LOAD_NAME = 128, LOAD_PORT = 8123 };

/* A shard: one server, or several with the same data, of which the first that answers is asked. */
struct load_address {
	char user[LOAD_NAME], password[LOAD_NAME]; /* empty: the server's default user */
	char hosts[LOAD_HOSTS][LOAD_NAME];         /* HOST:PORT each */
	unsigned host_count;
	char database[LOAD_NAME];
};

/* Takes an address apart. Returns NULL, or what is wrong with it, a constant. */
const char *load_address_parse(struct load_address *address, const char *text);

/* Whether a text can be a name that stands in a statement without quotes. */
bool load_is_identifier(const char *text);

/* Whether a trace may be known by it: letters, digits and "._:@/+-", at most 127 of them. */
bool load_is_id(const char *text);

#endif
