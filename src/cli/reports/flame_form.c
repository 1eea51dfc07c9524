/* flame_form.c - what a flame graph is written as, by the name of the file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reports/flame_form.h"

#include "base/bytes/compress.h"

#include <string.h>

static const struct {
	const char *ending;
	enum tw_flame_file form;
} endings[] = {
    {".svg", TW_FLAME_FILE_SVG},       {".html", TW_FLAME_FILE_HTML},  {".htm", TW_FLAME_FILE_HTML},
    {".folded", TW_FLAME_FILE_FOLDED}, {".txt", TW_FLAME_FILE_FOLDED},
};

enum tw_flame_file tw_flame_file_of(const char *path)
{
	if (!path || strcmp(path, "-") == 0)
		return TW_FLAME_FILE_SVG;
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (tw_name_ends_with(path, endings[i].ending))
			return endings[i].form;
	return TW_FLAME_FILE_UNKNOWN;
}
