/* symbols.c - a program's functions by XRay id. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/order.h"
#include "symbols/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int refuse_mach_o(struct tw_symbols *symbols, const char *path)
{
	(void)path;
	return tw_symbols_fail(symbols, TW_ERR_UNSUPPORTED,
	                       "a Mach-O file, whose map is not read: the YAML that `llvm-xray extract --symbolize` "
	                       "makes of it on its own system is");
}

/* What a file begins with that is no ELF file. */
static const struct {
	char bytes[5];
	uint8_t size;
	int (*read)(struct tw_symbols *symbols, const char *path);
} others[] = {
    {"---", 3, tw_sleds_read_yaml},          {"- ", 2, tw_sleds_read_yaml},
    {"-\n", 2, tw_sleds_read_yaml},          {"[", 1, tw_sleds_read_yaml},
    {"# ", 2, tw_sleds_read_yaml},           {"%YAM", 4, tw_sleds_read_yaml},
    {"\xef\xbb\xbf", 3, tw_sleds_read_yaml}, {"\xfe\xed\xfa\xce", 4, refuse_mach_o},
    {"\xfe\xed\xfa\xcf", 4, refuse_mach_o},  {"\xce\xfa\xed\xfe", 4, refuse_mach_o},
    {"\xcf\xfa\xed\xfe", 4, refuse_mach_o},  {"\xca\xfe\xba\xbe", 4, refuse_mach_o},
};

/* Reads a file that is no ELF file. Returns 1 where it is none of these either. */
static int read_other(struct tw_symbols *symbols, const char *path)
{
	struct stat what;
	char bytes[4];
	FILE *file = stat(path, &what) == 0 && S_ISREG(what.st_mode) ? fopen(path, "rbe") : NULL;
	size_t have = file ? fread(bytes, 1, sizeof bytes, file) : 0;
	if (file)
		fclose(file);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (have >= others[i].size && memcmp(bytes, others[i].bytes, others[i].size) == 0)
			return others[i].read(symbols, path);
	return 1;
}

static int compare_id(const void *function, const void *id)
{
	return tw_compare(((const struct tw_symbols_function *)function)->id, *(const uint32_t *)id);
}

const struct tw_symbols_function *tw_symbols_find(const struct tw_symbols *symbols, uint32_t id)
{
	if (id && id <= symbols->count && symbols->functions[id - 1].id == id)
		return &symbols->functions[id - 1];
	size_t place = tw_count_before(symbols->functions, symbols->count, sizeof *symbols->functions, &id, compare_id);
	return place < symbols->count && symbols->functions[place].id == id ? &symbols->functions[place] : NULL;
}

static const char *name_of(const struct tw_symbols *symbols, const struct tw_symbols_function *function)
{
	return symbols->mangled && function->symbol ? function->symbol : function->name;
}

static int name_function(void *context, uint64_t id, struct tw_name *name)
{
	const struct tw_symbols *symbols = context;
	const struct tw_symbols *object = symbols->objects;
	while (object && object->number != id >> TW_OBJECT_BITS)
		object = object->next;
	const uint32_t own = (uint32_t)id & ((UINT32_C(1) << TW_OBJECT_BITS) - 1);
	const struct tw_symbols_function *function = object                 ? tw_symbols_find(object, own)
	                                             : id >> TW_OBJECT_BITS ? NULL
	                                                                    : tw_symbols_find(symbols, own);
	const struct tw_symbols *its = object ? object : symbols;
	if (!function || (its->kinds && its->kinds[function - its->functions] & TW_SYMBOLS_UNFIT))
		return 0;
	const char *text = name_of(its, function);
	*name = (struct tw_name){
	    .text = text,
	    .length = strlen(text),
	    .id = id,
	    .file = function->file,
	    .line = function->line,
	};
	return 1;
}

int tw_symbols_open(struct tw_symbols **symbols, const char *path)
{
	struct tw_symbols *fresh = *symbols = calloc(1, sizeof *fresh);
	if (!fresh)
		return TW_ERR_MEMORY;
	fresh->namer = (struct tw_namer){.name = name_function, .address = tw_symbols_address, .context = fresh};
	fresh->path = strdup(path);
	if (!fresh->path)
		return tw_symbols_fail(fresh, TW_ERR_MEMORY, "%s", tw_status_text(TW_ERR_MEMORY));
	int status = read_other(fresh, path);
	return status > 0 ? tw_symbols_read_program(fresh, path) : status;
}

static void free_recorded(struct tw_symbols *symbols)
{
	while (symbols->recorded) {
		struct tw_recorded *next = symbols->recorded->next;
		if (!symbols->recorded->is_again)
			tw_symbols_close(symbols->recorded->sleds);
		free(symbols->recorded);
		symbols->recorded = next;
	}
}

void tw_symbols_close(struct tw_symbols *symbols)
{
	if (!symbols)
		return;
	tw_symbols_free_texts(symbols);
	if (symbols->programs)
		symbols->programs->close(symbols->programs);
	if (symbols->log_programs)
		symbols->log_programs->close(symbols->log_programs);
	free_recorded(symbols);
	while (symbols->objects) {
		struct tw_symbols *next = symbols->objects->next;
		tw_symbols_close(symbols->objects);
		symbols->objects = next;
	}
	free(symbols->sleds);
	free(symbols->kinds);
	free(symbols->functions);
	free(symbols->placed);
	free(symbols->path);
	free(symbols);
}

const char *tw_symbols_error(const struct tw_symbols *symbols)
{
	return symbols ? symbols->error : tw_status_text(TW_ERR_MEMORY);
}

uint32_t tw_symbols_functions(const struct tw_symbols *symbols)
{
	return symbols->count;
}

const struct tw_symbols_function *tw_symbols_function(struct tw_symbols *symbols, uint32_t id)
{
	return tw_symbols_find(symbols, id);
}

size_t tw_symbols_sleds(const struct tw_symbols *symbols, const struct tw_symbols_sled **sleds)
{
	*sleds = symbols->sleds;
	return symbols->sled_count;
}

int tw_symbols_add_object(struct tw_symbols *symbols, uint64_t number, const char *path)
{
	struct tw_symbols *object;
	if (number > TW_OBJECT_MOST)
		return tw_symbols_fail(symbols, TW_ERR_VALUE, "object %llu: expected a number of at most %d",
		                       (unsigned long long)number, TW_OBJECT_MOST);
	int status = tw_symbols_open(&object, path);
	if (status < 0) {
		snprintf(symbols->error, sizeof symbols->error, "%s", tw_symbols_error(object));
		tw_symbols_close(object);
		return status;
	}
	object->number = (uint32_t)number;
	object->mangled = symbols->mangled;
	object->next = symbols->objects;
	symbols->objects = object;
	symbols->namer.name = name_function;
	return 0;
}

void tw_symbols_keep_mangled(struct tw_symbols *symbols)
{
	symbols->mangled = true;
}

const struct tw_thread_namers *tw_symbols_thread_namers(struct tw_symbols *symbols)
{
	return symbols->programs ? &symbols->programs->namers : NULL;
}

const struct tw_namer *tw_symbols_namer(struct tw_symbols *symbols)
{
	return &symbols->namer;
}
