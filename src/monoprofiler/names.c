/* names.c - names of classes and methods: Mono's, written as CoreProfiler has them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "monoprofiler/parts.h"

#include <stdlib.h>
#include <string.h>

static const char unknown[] = "<UNKNOWN>";
enum { DEEPEST = 32 };

/* Mono's "System.Collections.Generic.Dictionary`2+Entry<System.String, App[]>", as it is read. */
struct mono_name {
	const char *at;
	bool keywords; /* of a signature: "int", and no letters */
	unsigned depth;
};

static void add_type(struct text *text, struct mono_name *name);

/* A part that begins with "<" is the compiler's own name: "<Run>c__Iterator0". */
static const char *end_of_own(const char *at)
{
	unsigned open = 0;
	for (; *at; at++) {
		open += *at == '<';
		if (*at == '>' && --open == 0)
			return at + 1;
	}
	return at;
}

static const char *end_of_part(const char *at)
{
	if (*at == '<')
		at = end_of_own(at);
	while (*at && !strchr("<>,+/[]&*.`", *at))
		at += *at == '\\' && at[1] ? 2 : 1;
	return at;
}

/* Without the number of its arguments; nested ones are behind a point. */
static void add_parts(struct text *text, struct mono_name *name)
{
	for (;;) {
		const char *end = end_of_part(name->at);
		text_bytes(text, name->at, (size_t)(end - name->at));
		if (*end == '`')
			end += 1 + strspn(end + 1, "0123456789");
		name->at = end;
		if (!*end || !strchr("+/.", *end))
			return;
		text_char(text, '.');
		name->at++;
	}
}

static void add_arguments(struct text *text, struct mono_name *name, const char *letters)
{
	uint64_t number = 0;
	name->at++;
	do {
		text_string(text, number ? ", " : "<");
		name->at += strspn(name->at, ", ");
		if (!name->keywords) {
			profiler_add_parameter(text, letters, number);
			text_char(text, '=');
		}
		number++;
		add_type(text, name);
	} while (*name->at == ',');
	text_char(text, '>');
	name->at += *name->at == '>';
}

/* Mono has keywords everywhere: "int" is that in signatures, and System.Int32 elsewhere. Some are its own. */
static const struct profiler_primitive *primitive(const char *word, size_t length)
{
	static const struct {
		const char *word;
		uint32_t type; /* as in profiler_primitives */
	} own[] = {{"int16", 0x06},  {"uint16", 0x07},  {"single", 0x0c},
	           {"intptr", 0x18}, {"uintptr", 0x19}, {"typedbyref", 0x16}};
	for (size_t i = 0; i < PROFILER_PRIMITIVES; i++) {
		const char *keyword = profiler_primitives[i].keyword;
		if (keyword && strlen(keyword) == length && memcmp(keyword, word, length) == 0)
			return &profiler_primitives[i];
	}
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (strlen(own[i].word) == length && memcmp(own[i].word, word, length) == 0)
			return &profiler_primitives[own[i].type];
	return NULL;
}

static bool add_primitive(struct text *text, struct mono_name *name)
{
	const size_t length = strcspn(name->at, "<>,+/[]&* ");
	const struct profiler_primitive *known = primitive(name->at, length);
	if (!known)
		return false;
	text_string(text, name->keywords ? known->keyword : known->name);
	name->at += length;
	return true;
}

/* "!0" of the type, "!!0" of the method. */
static bool add_open(struct text *text, struct mono_name *name)
{
	const size_t marks = strspn(name->at, "!");
	char *end;
	if (marks == 0 || name->at[marks] < '0' || name->at[marks] > '9')
		return false;
	profiler_add_parameter(text, marks == 1 ? profiler_type_letters : profiler_method_letters,
	                       strtoull(name->at + marks, &end, 10));
	name->at = end;
	return true;
}

static void add_type(struct text *text, struct mono_name *name)
{
	if (name->depth++ > DEEPEST) {
		text_string(text, unknown);
		name->at += strlen(name->at);
	} else {
		if (!add_primitive(text, name) && !add_open(text, name))
			add_parts(text, name);
		if (*name->at == '<')
			add_arguments(text, name, profiler_type_letters);
		while (*name->at && strchr("[],*", *name->at) &&
		       (*name->at != ',' || name->at[-1] == '[' || name->at[-1] == ','))
			text_char(text, *name->at++);
	}
	name->depth--;
}

static void add(struct text *text, struct mono_type *type, bool keywords)
{
	char *full = type ? mono.type_full_name(type) : NULL;
	struct mono_name name = {.at = full ? full : "", .keywords = keywords};
	if (full && keywords && strchr(full, '&'))
		text_string(text, "ref ");
	if (full)
		add_type(text, &name);
	else
		text_string(text, unknown);
	mono.free(full);
}

void profiler_add_class(struct text *text, uint64_t id)
{
	add(text, mono.class_get_type((struct mono_class *)(uintptr_t)id), false);
}

/* ---- Methods. ---- */

/* The arguments of a method alone: "App:Convert<int, string> (...)". */
static void add_method_arguments(struct text *text, struct mono_method *method, const char *own)
{
	char *full = mono.method_full_name(method, 0);
	const char *colon = full ? strrchr(full, ':') : NULL, *at = colon ? strstr(colon, own) : NULL;
	struct mono_name name = {.at = at ? at + strlen(own) : ""};
	name.at += strspn(name.at, " ");
	if (*name.at == '<')
		add_arguments(text, &name, profiler_method_letters);
	mono.free(full);
}

static void add_parameters(struct text *text, struct mono_signature *signature)
{
	void *state = NULL;
	bool first = true;
	text_string(text, " \"(");
	for (struct mono_type *type; signature && (type = mono.signature_get_params(signature, &state));
	     first = false) {
		text_string(text, first ? "" : ", ");
		add(text, type, true);
	}
	text_string(text, signature ? ")\"" : "?)\"");
}

void profiler_add_function(struct text *text, uint64_t id)
{
	struct mono_method *method = (struct mono_method *)(uintptr_t)id;
	struct mono_signature *signature = mono.method_signature(method);
	const char *own = mono.method_get_name(method);
	text_char(text, '"');
	add(text, mono.class_get_type(mono.method_get_class(method)), false);
	text_string(text, "::");
	text_string(text, own ? own : unknown);
	if (own)
		add_method_arguments(text, method, own);
	text_string(text, "\" \"");
	add(text, signature ? mono.signature_get_return_type(signature) : NULL, true);
	text_char(text, '"');
	add_parameters(text, signature);
}
