/* request.c - what a browser asks: an address and some headers, taken apart. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/serve/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Addresses. ---- */

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes "%41" and "+" in place. False where something else follows a percent sign, or a byte is zero. */
static bool decode(char *text)
{
	char *to = text;
	for (const char *from = text; *from; from++) {
		char c = *from;
		if (c == '+') {
			c = ' ';
		} else if (c == '%') {
			int high = hex(from[1]), low = high < 0 ? -1 : hex(from[2]);
			if (low < 0 || (high == 0 && low == 0))
				return false;
			unsigned char byte = (unsigned char)((unsigned)high << 4 | (unsigned)low);
			memcpy(&c, &byte, 1);
			from += 2;
		}
		*to++ = c;
	}
	*to = '\0';
	return true;
}

static bool take_parameter(struct view_request *request, char *text)
{
	char *equals = strchr(text, '=');
	char *value = equals ? equals + 1 : text + strlen(text);
	if (equals)
		*equals = '\0';
	if (request->count == VIEW_PARAMETERS || !decode(text) || !decode(value) || view_request_text(request, text))
		return false;
	request->parameters[request->count++] = (struct view_parameter){.name = text, .value = value};
	return true;
}

bool view_request_parse(struct view_request *request)
{
	size_t length = strlen(request->address);
	request->count = 0;
	request->text = length && length <= VIEW_ADDRESS_MOST ? strdup(request->address) : NULL;
	request->path = request->text;
	if (!request->text)
		return false;
	char *next = strchr(request->text, '?');
	while (next) {
		char *text = next;
		*text++ = '\0';
		next = strchr(text, '&');
		if (next)
			*next = '\0';
		if (*text && !take_parameter(request, text))
			return false;
	}
	return *request->path == '/';
}

void view_request_free(struct view_request *request)
{
	free(request->text);
	free(request->later);
	request->text = NULL;
	request->later = NULL;
	request->count = 0;
}

const char *view_request_text(const struct view_request *request, const char *name)
{
	for (size_t i = 0; i < request->count; i++)
		if (strcmp(request->parameters[i].name, name) == 0)
			return request->parameters[i].value;
	return NULL;
}

/* ---- Numbers. ---- */

/* Takes digits. False where there are none, or the number is too large. */
static bool take_digits(const char **text, uint64_t most, uint64_t *value)
{
	const char *at = *text;
	*value = 0;
	for (; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, (uint64_t)(*at - '0'), value))
			return false;
	bool any = at > *text;
	*text = at;
	return any && *value <= most;
}

bool view_request_number(const struct view_request *request, const char *name, uint64_t most, uint64_t *value)
{
	const char *text = view_request_text(request, name);
	return text && take_digits(&text, most, value) && !*text;
}

bool view_request_time(const struct view_request *request, const char *name, int64_t *time)
{
	const char *text = view_request_text(request, name);
	uint64_t size;
	if (!text)
		return false;
	const bool early = *text == '-';
	text += early;
	if (!take_digits(&text, INT64_MAX, &size) || *text)
		return false;
	*time = early ? -(int64_t)size : (int64_t)size;
	return true;
}

bool view_next_number(const char **list, uint64_t most, uint64_t *value)
{
	const char *at = *list;
	if (!at || !*at)
		return false;
	if (!take_digits(&at, most, value) || (*at && (*at != ',' || !at[1]))) {
		*list = NULL;
		return false;
	}
	*list = at + (*at == ',');
	return true;
}

/* ---- Who asks. ---- */

/* "127.0.0.1:8080", "localhost": other names lead here, too, where somebody's own server of names says so. */
static bool is_local(const char *host)
{
	static const char *const names[] = {"127.0.0.1", "localhost"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		size_t length = strlen(names[i]);
		if (strncmp(host, names[i], length) != 0)
			continue;
		const char *port = host + length + 1;
		if (!host[length])
			return true;
		return host[length] == ':' && *port && strspn(port, "0123456789") == strlen(port) && strlen(port) <= 5;
	}
	return false;
}

/* Looks at every byte, whatever the first difference is. */
static bool is_same(const char *a, size_t length, const char *b)
{
	unsigned char differs = 0;
	if (length != strlen(b))
		return false;
	for (size_t i = 0; i < length; i++)
		differs |= (unsigned char)(a[i] ^ b[i]);
	return !differs;
}

static bool has_cookie(const char *cookies, unsigned port, const char *token)
{
	char name[32];
	size_t length = (size_t)snprintf(name, sizeof name, "trackway-%u=", port);
	for (const char *at = cookies; at; at = strchr(at, ';')) {
		at += strspn(at, "; ");
		if (strncmp(at, name, length) == 0 && is_same(at + length, strcspn(at + length, ";"), token))
			return true;
	}
	return false;
}

static bool is_own_origin(const struct view_request *request)
{
	static const char scheme[] = "http://";
	return !request->origin || (strncmp(request->origin, scheme, strlen(scheme)) == 0 &&
	                            strcmp(request->origin + strlen(scheme), request->host) == 0);
}

static bool is_own_site(const struct view_request *request)
{
	const char *site = request->fetch_site;
	return !site || strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0;
}

bool view_request_is_ours(const struct view_request *request, unsigned port, const char *token)
{
	return request->host && is_local(request->host) && is_own_origin(request) && is_own_site(request) &&
	       has_cookie(request->cookie, port, token);
}

bool view_request_may_enter(const struct view_request *request, const char *token)
{
	const char *given = view_request_text(request, "token");
	return given && request->host && is_local(request->host) && is_own_origin(request) &&
	       is_same(given, strlen(given), token);
}
