/* pdbs.c - source lines from the PDBs of the modules that a log tells of.
 *
 * A module's PDB is in the folder that is asked for, or beside the assembly, or in it. The assembly tells which PDB is
 * its own; where it is not on this machine, the name alone does. Files are opened when the first line of a module is
 * asked for, and read, not mapped: one that is cut meanwhile gives an error, not a signal. Where there is no PDB, it is
 * what Mono's compilers write instead, known by its name alone: the assembly tells nothing of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/log/pdbs.h"

#include "tracelog/log/log.h"
#include "tracelog/pdb/assembly.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	SHARE = 16,           /* of the memory limit, for one file */
	MODULES_MAX = 4096,   /* whose files are looked for */
	LOOKED_MAX = 1 << 28, /* bytes of methods' lines that are looked at: a second or two */
	PDB_COST = 2 * sizeof(struct tracelog_module_pdb) + 2 * sizeof(struct tw_map_slot)
};

/* A file that was read whole. */
struct whole_file {
	uint8_t *bytes; /* NULL: it was not */
	size_t size;
	const char *wrong; /* why not, where there is one: a constant */
};

static bool read_all(int fd, struct whole_file *file)
{
	for (size_t at = 0; at < file->size;) {
		ssize_t got = pread(fd, file->bytes + at, file->size - at, (off_t)at);
		if (got <= 0)
			return false;
		at += (size_t)got;
	}
	return true;
}

static void read_open(const struct tracelog_log *log, int fd, struct whole_file *file)
{
	struct stat status;
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return;
	const uint64_t size = (uint64_t)status.st_size;
	file->wrong = size == 0                                     ? "empty"
	              : size > tw_memory_limit(log->reader) / SHARE ? "larger than memory for it is (--memory)"
	                                                            : NULL;
	if (file->wrong)
		return;
	file->size = (size_t)size;
	file->bytes = malloc(file->size);
	if (!file->bytes || read_all(fd, file))
		return;
	free(file->bytes);
	*file = (struct whole_file){.wrong = "not readable to its end"};
}

/* Reads a regular file; not to wait for the writer of a named pipe. */
static struct whole_file read_file(const struct tracelog_log *log, const char *path)
{
	struct whole_file file = {0};
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return file;
	read_open(log, fd, &file);
	close(fd);
	return file;
}

static void report(struct tracelog_log *log, enum tracelog_rule rule, const char *path, const char *wrong)
{
	tw_report(log->pdbs.reporter, &tracelog_rules[rule], log->line.at.offset, log->line.at.offset,
	          log->line.at.line, "%s%s%s", path, wrong ? ": " : "", wrong ? wrong : "");
}

/* Keeps the bytes of a PDB, or frees them where they are none, or another build's. */
static bool keep(struct tracelog_log *log, struct tracelog_module_pdb *module, const struct tracelog_assembly *assembly,
                 struct whole_file file, const char *path)
{
	bool is_pdb = file.bytes && tracelog_pdb_open(&module->pdb, file.bytes, file.size);
	bool other = is_pdb && assembly->has_id && memcmp(assembly->id, module->pdb.id, TRACELOG_PDB_ID) != 0;
	const char *wrong = file.bytes && !is_pdb ? module->pdb.wrong : file.wrong;
	if (other)
		report(log, TRACELOG_PDB_OTHER, path, NULL);
	else if (wrong)
		report(log, TRACELOG_PDB_DAMAGED, path, wrong);
	if (is_pdb && !other && tracelog_take_memory(log, file.size)) {
		module->bytes = file.bytes;
		return true;
	}
	free(file.bytes);
	return false;
}

/* The file of a name, without its ending, in a folder. */
static bool try_file(struct tracelog_log *log, struct tracelog_module_pdb *module,
                     const struct tracelog_assembly *assembly, const char *folder, int folder_length, const char *name)
{
	char path[PATH_MAX];
	const char *ending = strrchr(name, '.');
	int length = ending ? (int)(ending - name) : (int)strlen(name);
	int size = snprintf(path, sizeof path, "%.*s/%.*s.pdb", folder_length, folder, length, name);
	return size > 0 && (size_t)size < sizeof path && keep(log, module, assembly, read_file(log, path), path);
}

/* Mono's file of an assembly, in a folder. */
static bool try_mdb(struct tracelog_log *log, struct tracelog_module_pdb *module,
                    const struct tracelog_assembly *assembly, const char *folder, int folder_length, const char *name)
{
	char path[PATH_MAX];
	int size = snprintf(path, sizeof path, "%.*s/%s.mdb", folder_length, folder, name);
	struct whole_file file = {0};
	if (size > 0 && (size_t)size < sizeof path)
		file = read_file(log, path);
	module->is_mdb = file.bytes && tracelog_mdb_open(&module->mdb, file.bytes, file.size);
	const char *wrong = file.bytes && !module->is_mdb ? module->mdb.wrong : file.wrong;
	const bool other =
	    module->is_mdb && assembly->has_module && memcmp(assembly->module, module->mdb.guid, TRACELOG_GUID) != 0;
	if (other)
		report(log, TRACELOG_PDB_OTHER, path, NULL);
	else if (wrong)
		report(log, TRACELOG_PDB_DAMAGED, path, wrong);
	if (module->is_mdb && !other && tracelog_take_memory(log, file.size)) {
		module->bytes = file.bytes;
		return true;
	}
	free(file.bytes);
	return false;
}

static void look_for(struct tracelog_log *log, struct tracelog_module_pdb *module, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *folder = log->reader->options.pdb_folder;
	struct tracelog_assembly assembly = {0};
	struct whole_file file = {0};
	if (*path == '/')
		file = read_file(log, path);
	if (file.bytes)
		tracelog_assembly_open(&assembly, file.bytes, file.size);
	bool found = (folder && try_file(log, module, &assembly, folder, (int)strlen(folder), name)) ||
	             (*path == '/' && try_file(log, module, &assembly, path, (int)(slash - path), name));
	if (!found && assembly.embedded.size) {
		struct whole_file inflated = {.size = assembly.embedded_size,
		                              .wrong = "the PDB in it is damaged, or too large"};
		inflated.bytes = tracelog_assembly_inflate(&assembly, tw_memory_limit(log->reader) / SHARE);
		found = keep(log, module, &assembly, inflated, path);
	}
	found = found || (folder && try_mdb(log, module, &assembly, folder, (int)strlen(folder), name));
	if (!found && *path == '/')
		try_mdb(log, module, &assembly, path, (int)(slash - path), name);
	free(file.bytes);
}

/* The PDB of a module, looked for once; NULL where there is no memory. It lives until the next call. */
static struct tracelog_module_pdb *pdb_of(struct tracelog_log *log, uint32_t module)
{
	struct tracelog_pdbs *pdbs = &log->pdbs;
	const char *path =
	    tw_dictionary_name(log->dictionary, tracelog_object(log, TRACELOG_MODULE, module)->name)->text;
	uint32_t place;
	if (tw_map_find(&pdbs->by_module, module, &place))
		return &pdbs->items[place];
	if (pdbs->count == MODULES_MAX || !tracelog_take_memory(log, PDB_COST))
		return NULL;
	if (!tw_grow(&pdbs->items, &pdbs->room, pdbs->count + 1, sizeof *pdbs->items) ||
	    !tw_map_add(&pdbs->by_module, module, (uint32_t)pdbs->count)) {
		log->failed = true;
		return NULL;
	}
	struct tracelog_module_pdb *made = &pdbs->items[pdbs->count++];
	*made = (struct tracelog_module_pdb){0};
	look_for(log, made, path);
	return made;
}

/* A prolog is of the first line of its method, an epilog of the last. */
static bool offset_of(int64_t il, uint32_t *offset)
{
	if (il == TW_TRACELOG_IL_NO_MAPPING)
		return false;
	*offset = il == TW_TRACELOG_IL_PROLOG ? 0 : il == TW_TRACELOG_IL_EPILOG ? UINT32_MAX : (uint32_t)il;
	return true;
}

/* Damage in the lines of a single method is reported once for a module. */
static void report_method(struct tracelog_log *log, struct tracelog_module_pdb *module,
                          const struct tracelog_object *function)
{
	const uint32_t name = tracelog_object(log, TRACELOG_MODULE, function->module)->name;
	char wrong[64];
	snprintf(wrong, sizeof wrong, "the lines of method 0x%08" PRIx32 " in its PDB are damaged", function->token);
	if (!module->reported)
		report(log, TRACELOG_PDB_DAMAGED, tw_dictionary_name(log->dictionary, name)->text, wrong);
	module->reported = true;
}

static bool find(const struct tracelog_module_pdb *module, uint32_t token, uint32_t il, struct tracelog_pdb_line *line,
                 struct tracelog_pdb_search *search)
{
	return module->is_mdb ? tracelog_mdb_find(&module->mdb, token, il, line, search)
	                      : tracelog_pdb_find(&module->pdb, token, il, line, search);
}

/* Told once for a log. */
static void report_end(struct tracelog_log *log, const struct tracelog_object *function)
{
	const uint32_t name = tracelog_object(log, TRACELOG_MODULE, function->module)->name;
	char wrong[128];
	snprintf(wrong, sizeof wrong, "after %u MiB of lines, those of further instructions are not looked for",
	         LOOKED_MAX >> 20);
	if (!log->pdbs.ended)
		report(log, TRACELOG_PDB_DAMAGED, tw_dictionary_name(log->dictionary, name)->text, wrong);
	log->pdbs.ended = true;
}

static bool name_of(const struct tracelog_module_pdb *module, uint32_t document, struct tw_text *name)
{
	return module->is_mdb ? tracelog_mdb_name(&module->mdb, document, name)
	                      : tracelog_pdb_name(&module->pdb, document, name);
}

bool tracelog_find_source(struct tracelog_log *log, const struct tracelog_object *function, int64_t il,
                          struct tracelog_source *source)
{
	struct tw_text name = {0};
	uint32_t offset;
	struct tracelog_pdb_search search = {.left = LOOKED_MAX - log->pdbs.looked};
	*source = (struct tracelog_source){0};
	if (!function->module || !tracelog_object(log, TRACELOG_MODULE, function->module)->named ||
	    !offset_of(il, &offset))
		return false;
	struct tracelog_module_pdb *module = pdb_of(log, function->module);
	if (!module || !module->bytes)
		return false;
	bool found = find(module, function->token, offset, &source->at, &search);
	log->pdbs.looked = LOOKED_MAX - search.left;
	bool named = found && name_of(module, source->at.document, &name);
	if (search.damaged || (found && !named))
		report_method(log, module, function);
	if (!search.left)
		report_end(log, function);
	if (named)
		source->file = tracelog_name(log, name.bytes, name.length);
	else
		*source = (struct tracelog_source){0};
	tw_text_free(&name);
	return named;
}

void tracelog_pdbs_free(struct tracelog_pdbs *pdbs)
{
	for (size_t i = 0; i < pdbs->count; i++)
		free(pdbs->items[i].bytes);
	free(pdbs->items);
	tw_map_free(&pdbs->by_module);
	*pdbs = (struct tracelog_pdbs){.reporter = pdbs->reporter, .looked = pdbs->looked, .ended = pdbs->ended};
}
