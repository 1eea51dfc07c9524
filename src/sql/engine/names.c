/* names.c - the names of a trace's functions: from a program, or from the list of those that were loaded. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/engine/session.h"
#include "symbols/tool.h"

#include <trackway/symbols.h>

#include <stdlib.h>

/* Adds a program or, where the file is none, the programs that it lists, of which some may be missing. */
static int add_addresses(struct tw_symbols *symbols, const char *program)
{
	int status = tw_symbols_add(symbols, program, NULL);
	if (status == TW_ERR_FORMAT)
		status = tw_symbols_add_maps(symbols, program);
	return status < 0 ? status : 0;
}

static int open_symbols(struct tw_symbols **symbols, const char *path, const char *program)
{
	bool sure;
	int addresses = tw_symbols_by_address(path, &sure);
	if (addresses == 0)
		return tw_symbols_open(symbols, program);
	int status = addresses < 0 ? addresses : tw_symbols_new(symbols);
	return status < 0 ? status : add_addresses(*symbols, program);
}

int sql_file_name(struct sql_session *session, size_t number, const char *program)
{
	struct sql_file *file = &session->files[number];
	char *beside = NULL;
	int status = program ? 0 : tw_symbols_list_beside(file->path, &beside);
	if (status == 0 && (program || beside))
		status = open_symbols(&file->symbols, file->path, program ? program : beside);
	free(beside);
	return status < 0 ? sql_session_fail(session, status, "%s", tw_symbols_error(file->symbols)) : 0;
}
