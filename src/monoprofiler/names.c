/* names.c - names of classes and methods: Mono's, written as CoreProfiler has them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "monoprofiler/parts.h"

#include <string.h>

static const char unknown[] = "<UNKNOWN>";
enum { DEEPEST = 32 };

/* Mono's "System.Collections.Generic.Dictionary`2+Entry<System.String, App[]>", as it is read. */
struct name {
	const char *at;
	bool keywords; /* of a signature: "int", and no letters */
	unsigned depth;
};

static void add_type(struct text *text, struct name *name);

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
static void add_parts(struct text *text, struct name *name)
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

static void add_arguments(struct text *text, struct name *name, const char *letters)
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

/* Mono has keywords everywhere: "int" is that in signatures, and System.Int32 elsewhere. */
static bool add_primitive(struct text *text, struct name *name)
{
	static const struct profiler_primitive mono_alone[] = {{"single", "System.Single"},
	                                                       {"intptr", "System.IntPtr"},
	                                                       {"uintptr", "System.UIntPtr"}};
	enum { ALONE = sizeof mono_alone / sizeof *mono_alone };
	const size_t length = strcspn(name->at, "<>,+/[]&* ");
	for (size_t i = 0; i < PROFILER_PRIMITIVES + ALONE; i++) {
		const struct profiler_primitive *known =
		    i < PROFILER_PRIMITIVES ? &profiler_primitives[i] : &mono_alone[i - PROFILER_PRIMITIVES];
		if (!known->keyword || strlen(known->keyword) != length ||
		    memcmp(known->keyword, name->at, length) != 0)
			continue;
		const bool float_word = i >= PROFILER_PRIMITIVES && length == sizeof "single" - 1;
		text_string(text, !name->keywords ? known->name : float_word ? "float" : known->keyword);
		name->at += length;
		return true;
	}
	return false;
}

static void add_type(struct text *text, struct name *name)
{
	if (name->depth++ > DEEPEST) {
		text_string(text, unknown);
		name->at += strlen(name->at);
	} else {
		if (!add_primitive(text, name))
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
	struct name name = {.at = full ? full : "", .keywords = keywords};
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
	struct name name = {.at = at ? at + strlen(own) : ""};
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
