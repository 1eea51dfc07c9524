/* runtime_names.c - the names that the events of a runtime have. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/runtime_names.h"

#include "base/memory/memory.h"

#include <string.h>

const char *tw_runtime_text(enum tw_runtime_name name)
{
	static const char *const texts[TW_RUNTIME_NAMES] = {
#define X(id, text) [TW_RUNTIME_##id] = text,
	    TW_RUNTIME_NAME_LIST(X)
#undef X
	};
	return texts[name];
}

/* Without memory the name is looked for again the next time. */
enum tw_runtime_name tw_runtime_find(struct tw_runtime_names *names, uint32_t number)
{
	const char *text = tw_dictionary_name(names->dictionary, number)->text;
	unsigned name = TW_RUNTIME_NAMES - 1;
	while (name > TW_RUNTIME_OTHER && strcmp(tw_runtime_text(name), text) != 0)
		name--;
	if (tw_grow(&names->found, &names->room, (size_t)number + 1, 1))
		names->found[number] = (uint8_t)(name + 1);
	return name;
}
