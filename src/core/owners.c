/* owners.c - classes and modules of functions, which most targets have no place for. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/owners.h"

void tw_count_owners(struct tw_writer *writer, const struct tw_dictionary *dictionary)
{
	uint64_t classes = 0, modules = 0;
	for (uint32_t i = 1; i < tw_dictionary_names(dictionary); i++) {
		const struct tw_name *name = tw_dictionary_name(dictionary, i);
		classes += name->owner != 0;
		modules += name->module != 0;
	}
	tw_count_losses(writer, "class", false, classes);
	tw_count_losses(writer, "module", false, modules);
}
