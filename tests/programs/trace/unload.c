/* unload.c - a program that knows no recorder loads and unloads a library that has one inside: it must stay.
 *
 * unload FILE ROUNDS */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int main(int count_of_words, char **words)
{
	const long rounds = count_of_words == 3 ? strtol(words[2], NULL, 10) : 0;
	for (long i = 0; i < rounds; i++) {
		void *loaded = dlopen(words[1], RTLD_NOW);
		void (*call)(void) = loaded ? (void (*)(void))(uintptr_t)dlsym(loaded, "trace_from_library") : NULL;
		if (!call)
			return 1;
		call();
		dlclose(loaded);
		loaded = dlopen(words[1], RTLD_NOW | RTLD_NOLOAD);
		if (!loaded)
			return 3;
		dlclose(loaded);
	}
	return count_of_words == 3 ? 0 : 2;
}
