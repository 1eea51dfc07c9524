/* unload.c - what goes with its domain: its place may be another one's from then on. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "monoprofiler/parts.h"

#include <stdlib.h>
#include <string.h>

/* ECMA-335, II.23.1.16. */
enum {
	TYPE_POINTER = 0x0f,
	TYPE_VARIABLE = 0x13,
	TYPE_ARRAY = 0x14,
	TYPE_GENERIC = 0x15,
	TYPE_FUNCTION = 0x1b,
	TYPE_VECTOR = 0x1d,
	TYPE_METHOD_VARIABLE = 0x1e
};

/* Mono does not tell of which types a generic one is made: it may be one of the image. */
static bool goes_with(struct mono_class *class_of, const struct mono_image *image)
{
	for (;;) {
		switch (mono.type_get_type(mono.class_get_type(class_of))) {
		case TYPE_ARRAY:
		case TYPE_VECTOR:
			class_of = mono.class_get_element_class(class_of);
			break;
		case TYPE_POINTER:
		case TYPE_VARIABLE:
		case TYPE_GENERIC:
		case TYPE_FUNCTION:
		case TYPE_METHOD_VARIABLE:
			return true;
		default:
			return mono.class_get_image(class_of) == image;
		}
	}
}

/* "Class:Method<int>", or "Class:Method <int>". */
static bool is_generic(struct mono_method *method)
{
	const char *own = mono.method_get_name(method);
	char *full = mono.method_full_name(method, 0);
	const char *colon = full ? strrchr(full, ':') : NULL, *at = colon && own ? strstr(colon, own) : NULL;
	const bool generic = !at || strchr(at + strlen(own), '<');
	mono.free(full);
	return generic;
}

/* Wrappers have no token. */
static bool method_goes_with(struct mono_method *method, const struct mono_image *image)
{
	return mono.method_get_token(method) == 0 || goes_with(mono.method_get_class(method), image) ||
	       is_generic(method);
}

static void forget_classes(const struct mono_image *image)
{
	size_t count;
	uint64_t *keys = ids_keys(&profiler.classes, &count);
	for (size_t i = 0; i < count; i++)
		if (goes_with((struct mono_class *)(uintptr_t)keys[i], image))
			ids_forget(&profiler.classes, keys[i]);
	free(keys);
}

static void forget_methods(const struct mono_image *image)
{
	size_t count;
	uint64_t *keys = ids_keys(&profiler.functions, &count);
	for (size_t i = 0; i < count; i++)
		if (method_goes_with((struct mono_method *)(uintptr_t)keys[i], image))
			profiler_forget_function(keys[i]);
	free(keys);
}

/* Its code. */
void mono_domain_goes(void *own, struct mono_domain *domain)
{
	mono_write_samples();
	profiler_forget_places();
	mono_forget_bodies();
}

/* Its classes and methods, which are still there. */
void mono_image_goes(void *own, struct mono_image *image)
{
	mono_write_samples();
	forget_methods(image);
	forget_classes(image);
	profiler_forget_places();
	mono_forget_bodies();
	profiler_ticks_wait();
}
