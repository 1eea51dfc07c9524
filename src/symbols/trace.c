/* trace.c - the programs that a trace tells of itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/beside.h"
#include "symbols/program.h"
#include "symbols/recorded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A pipe would lose its first bytes. */
static bool is_regular(const char *path)
{
	struct stat what;
	return stat(path, &what) == 0 && S_ISREG(what.st_mode);
}

static int name_none(void *context, uint64_t id, struct tw_name *name)
{
	(void)context;
	(void)id;
	(void)name;
	return 0;
}

/* The functions of logs have numbers, which mean others in the log of another program. */
static int add_log(struct tw_symbols *symbols, const char *path, const char *list)
{
	if (symbols->told && strcmp(symbols->told, list) == 0)
		return 0;
	if (symbols->told) {
		symbols->namer.name = name_none;
		snprintf(symbols->error, sizeof symbols->error,
		         "%s: is of other programs than a log before: no function has a name", path);
		return TW_ERR_VALUE;
	}
	symbols->told = tw_symbols_keep(symbols, list);
	return symbols->told ? tw_symbols_add_recorded(symbols, list) : TW_ERR_MEMORY;
}

int tw_symbols_add_trace(struct tw_symbols *symbols, const char *path)
{
	char *list = NULL, *maps = NULL;
	int status = is_regular(path) ? tw_recorded_list(path, &list) : 0;
	if (status == 0 && list)
		status = add_log(symbols, path, list);
	else if (status == 0)
		status = tw_symbols_list_beside(path, &maps);
	if (status == 0 && maps)
		status = tw_symbols_add_maps(symbols, maps);
	free(list);
	free(maps);
	return status;
}
