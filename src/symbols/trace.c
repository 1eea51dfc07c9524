/* trace.c - the programs that a trace tells of itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/beside.h"
#include "symbols/recorded.h"

#include <stdlib.h>
#include <sys/stat.h>

/* A pipe would lose its first bytes. */
static bool is_regular(const char *path)
{
	struct stat what;
	return stat(path, &what) == 0 && S_ISREG(what.st_mode);
}

int tw_symbols_add_trace(struct tw_symbols *symbols, const char *path)
{
	char *list = NULL, *maps = NULL;
	int status = is_regular(path) ? tw_recorded_list(path, &list) : 0;
	if (status == 0 && list)
		status = tw_symbols_add_recorded(symbols, list);
	else if (status == 0)
		status = tw_symbols_list_beside(path, &maps);
	if (status == 0 && maps)
		status = tw_symbols_add_maps(symbols, maps);
	free(list);
	free(maps);
	return status;
}
