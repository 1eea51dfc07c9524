/* address.c - where a database is. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "load/address.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char SCHEME[] = "clickhouse://";
static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

bool load_is_identifier(const char *text)
{
	size_t length = strlen(text);
	bool digit = *text >= '0' && *text <= '9';
	return length && length < LOAD_NAME && !digit && text[strspn(text, LETTERS)] == '\0';
}

bool load_is_id(const char *text)
{
	size_t length = strlen(text), good = 0;
	while (good < length && (strchr(LETTERS, text[good]) || strchr("._:@/+-", text[good])))
		good++;
	return length && length < LOAD_NAME && good == length;
}

/* The value of a hexadecimal digit; -1: it is none. */
static int digit_of(char c)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *found = c ? strchr(digits, c) : NULL;
	return found ? (int)((found - digits) % 16) : -1;
}

/* Copies a part of the address; "%41" is "A" (RFC 3986). False where it is too long, or no such text. */
static bool take(char *to, const char *from, const char *end)
{
	size_t size = 0;
	while (from < end && size < LOAD_NAME - 1) {
		int high = *from == '%' && end - from > 2 ? digit_of(from[1]) : -1;
		int low = high >= 0 ? digit_of(from[2]) : -1;
		if (*from == '%' && low < 0)
			return false;
		const unsigned char c = *from == '%' ? (unsigned char)(high << 4 | low) : (unsigned char)*from;
		if (c < ' ')
			return false;
		from += *from == '%' ? 3 : 1;
		to[size++] = (char)c;
	}
	to[size] = '\0';
	return from == end;
}

static const char *take_user(struct load_address *address, const char *from, const char *end)
{
	const char *colon = memchr(from, ':', (size_t)(end - from));
	const char *user_end = colon ? colon : end;
	if (!take(address->user, from, user_end) || from == user_end)
		return "the user is no name";
	if (colon && !take(address->password, colon + 1, end))
		return "the password is too long, or has a % that is no character";
	return NULL;
}

static bool is_port(const char *text)
{
	char *end;
	unsigned long port = strtoul(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && port > 0 && port <= 65535;
}

/* HOST, or HOST:PORT; of IPv6 the host stands in brackets. */
static const char *take_host(struct load_address *address, const char *from, const char *end)
{
	char host[LOAD_NAME];
	if (address->host_count == LOAD_HOSTS)
		return "too many hosts";
	if (from == end || !take(host, from, end))
		return "a host is no name";
	char *bracket = *host == '[' ? strchr(host, ']') : NULL, *colon = strchr(bracket ? bracket : host, ':');
	if (host[strcspn(host, " /?#@\\")] || (*host == '[' && !bracket))
		return "a host is no name";
	if (colon && !is_port(colon + 1))
		return "a port is no number from 1 to 65535";
	int length = colon ? snprintf(address->hosts[address->host_count], LOAD_NAME, "%s", host)
	                   : snprintf(address->hosts[address->host_count], LOAD_NAME, "%s:%d", host, LOAD_PORT);
	address->host_count++;
	return length < LOAD_NAME ? NULL : "a host is no name";
}

static const char *take_hosts(struct load_address *address, const char *from, const char *end)
{
	const char *wrong = NULL;
	while (!wrong) {
		const char *comma = memchr(from, ',', (size_t)(end - from));
		wrong = take_host(address, from, comma ? comma : end);
		if (!comma)
			break;
		from = comma + 1;
	}
	return wrong;
}

const char *load_address_parse(struct load_address *address, const char *text)
{
	*address = (struct load_address){0};
	if (strncmp(text, SCHEME, sizeof SCHEME - 1) != 0)
		return "an address begins with clickhouse://";
	text += sizeof SCHEME - 1;
	const char *slash = strchr(text, '/');
	if (!slash || !load_is_identifier(slash + 1))
		return "an address ends with /DATABASE, a name of letters, digits and _";
	snprintf(address->database, sizeof address->database, "%s", slash + 1);
	const char *at = NULL;
	for (const char *c = text; c < slash; c++)
		at = *c == '@' ? c : at;
	const char *wrong = at ? take_user(address, text, at) : NULL;
	return wrong ? wrong : take_hosts(address, at ? at + 1 : text, slash);
}
