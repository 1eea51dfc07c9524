/* fuzz_sled_map.c - any bytes as an XRay map in YAML: what is read of it hangs together. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <trackway/symbols.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void check(struct tw_symbols *symbols)
{
	const struct tw_symbols_sled *sleds;
	const struct tw_namer *namer = tw_symbols_namer(symbols);
	size_t count = tw_symbols_sleds(symbols, &sleds);
	for (size_t i = 0; i < count; i++) {
		const struct tw_symbols_function *function = tw_symbols_function(symbols, sleds[i].id);
		struct tw_name name;
		fuzz_require(function != NULL, "each sled is of a function");
		if (!function)
			return;
		fuzz_require(tw_sled_kind_name(sleds[i].kind) != NULL, "its kind has a name");
		fuzz_touch((const uint8_t *)function->name, strlen(function->name));
		fuzz_require(sleds[i].id >> TW_OBJECT_BITS || namer->name(namer->context, sleds[i].id, &name) == 1,
		             "the namer knows it");
	}
}

FUZZ_TARGET(sled_map, const uint8_t *bytes, size_t size)
{
	char path[32];
	struct tw_symbols *symbols;
	if (size < 4 || memcmp(bytes + 1, "---", 3) != 0)
		return 0; /* the first byte selects nothing here; ELF files are libelf's */
	int file = memfd_create("map", MFD_CLOEXEC);
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	fuzz_write(path, bytes + 1, size - 1);
	int status = tw_symbols_open(&symbols, path);
	if (status == 0)
		check(symbols);
	else
		fuzz_require(*tw_symbols_error(symbols) != '\0', "a failure is told");
	tw_symbols_close(symbols);
	close(file);
	return 0;
}
