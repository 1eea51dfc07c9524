/* names.c - the programs that give names to functions: --binary, --load-address, --maps. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/names.h"

#include "cli/message.h"
#include "cli/options.h"
#include "cli/show.h"

#include <trackway/symbols.h>

#include <string.h>
#include <sys/stat.h>

/* Traces of instructions have addresses, others numbers of functions. What can be read once only is told by --from. */
static bool has_addresses(const struct tw_common *common, const char *path)
{
	static const char addresses[] = "xtrace";
	const struct tw_read_options look = {.order = TW_ORDER_FILE};
	struct tw_reader *reader;
	struct stat what;
	if (common->from)
		return strcmp(common->from, addresses) == 0;
	if (stat(path, &what) != 0 || !(S_ISREG(what.st_mode) || S_ISDIR(what.st_mode)))
		return false;
	bool is = tw_open(&reader, path, &look) >= 0 && strcmp(tw_reader_format(reader), addresses) == 0;
	tw_close(reader);
	return is;
}

void tw_names_want(struct tw_names *names, const struct tw_common *common, const char *path)
{
	bool addresses = (common->binary || common->maps) && has_addresses(common, path);
	names->addresses |= addresses;
	names->ids |= !addresses;
}

static int fail(const struct tw_symbols *symbols, const char *more)
{
	return tw_say_error("%s%s", tw_symbols_error(symbols), more);
}

static int open_ids(struct tw_names *names, const struct tw_common *common)
{
	if (!names->ids || !common->binary)
		return tw_symbols_new(&names->symbols) < 0 ? fail(NULL, "") : 0;
	return tw_symbols_open(&names->symbols, common->binary) < 0 ? fail(names->symbols, "") : 0;
}

static int add_program(struct tw_names *names, const struct tw_common *common)
{
	const uint64_t *where = common->load_address.given ? &common->load_address.value : NULL;
	int status = tw_symbols_add(names->symbols, common->binary, where);
	if (status == TW_ERR_VALUE && common->maps && !where) /* the list tells where it was loaded */
		return 0;
	if (status == TW_ERR_VALUE)
		return fail(names->symbols, where ? "" : " (--load-address)");
	return status < 0 ? fail(names->symbols, "") : 0;
}

static int add_maps(struct tw_names *names, const struct tw_common *common)
{
	int missing = tw_symbols_add_maps(names->symbols, common->maps);
	if (missing < 0)
		return fail(names->symbols, "");
	if (missing > 0)
		tw_say("%s: no names of %s, the last: %s", common->maps, tw_show_plural((uint64_t)missing, "file").text,
		       tw_symbols_error(names->symbols));
	return 0;
}

int tw_names_open(struct tw_names *names, const struct tw_common *common, struct tw_read_options *options)
{
	if (!common->binary && !common->maps)
		return 0;
	int status = open_ids(names, common);
	if (status == 0 && names->addresses && common->maps)
		status = add_maps(names, common);
	if (status == 0 && names->addresses && common->binary)
		status = add_program(names, common);
	if (status == 0)
		options->namer = tw_symbols_namer(names->symbols);
	return status;
}

void tw_names_close(struct tw_names *names)
{
	tw_symbols_close(names->symbols);
}
