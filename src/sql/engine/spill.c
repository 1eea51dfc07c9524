/* spill.c - temporary files of queries, which take so much of a disk and no more.
 *
 * A query without an end would fill the disk with what it sorts. SQLite limits the pages of a database, but not what it
 * sorts: so its files are counted as it opens and writes them. Source: "The OS Backend (VFS)" of SQLite's
 * documentation. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/engine/spill.h"

#include "core/format.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sql_spill {
	sqlite3_vfs vfs;   /* the first: SQLite gives it back */
	sqlite3_vfs *real; /* what opens files */
	char name[32];
	uint64_t limit, used;
	bool reached; /* by the last statement that wrote */
};

/* SQLite's own file stands behind it. */
struct spilled {
	sqlite3_file file; /* the first: SQLite gives it back */
	struct sql_spill *spill;
	uint64_t size;
};

static struct spilled *spilled_of(sqlite3_file *file)
{
	return (struct spilled *)(void *)file;
}

static sqlite3_file *real_of(sqlite3_file *file)
{
	return (sqlite3_file *)(void *)(spilled_of(file) + 1);
}

/* ---- What a file does. ---- */

static void resize(struct spilled *spilled, uint64_t size)
{
	spilled->spill->used += size - spilled->size;
	spilled->size = size;
}

/* Whether there is room for so large a file. */
static bool may_grow(const struct spilled *spilled, uint64_t size)
{
	struct sql_spill *spill = spilled->spill;
	spill->reached = size - spilled->size > spill->limit - spill->used;
	return !spill->reached;
}

static int close_file(sqlite3_file *file)
{
	resize(spilled_of(file), 0);
	return real_of(file)->pMethods->xClose(real_of(file));
}

static int read_file(sqlite3_file *file, void *bytes, int size, sqlite3_int64 offset)
{
	return real_of(file)->pMethods->xRead(real_of(file), bytes, size, offset);
}

static int write_file(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset)
{
	struct spilled *spilled = spilled_of(file);
	const uint64_t end = (uint64_t)offset + (uint64_t)size;
	if (end > spilled->size && !may_grow(spilled, end))
		return SQLITE_FULL;
	if (end > spilled->size)
		resize(spilled, end);
	return real_of(file)->pMethods->xWrite(real_of(file), bytes, size, offset);
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size)
{
	struct spilled *spilled = spilled_of(file);
	if ((uint64_t)size < spilled->size)
		resize(spilled, (uint64_t)size);
	return real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int sync_file(sqlite3_file *file, int flags)
{
	return real_of(file)->pMethods->xSync(real_of(file), flags);
}

static int size_of_file(sqlite3_file *file, sqlite3_int64 *size)
{
	return real_of(file)->pMethods->xFileSize(real_of(file), size);
}

static int lock_file(sqlite3_file *file, int lock)
{
	return real_of(file)->pMethods->xLock(real_of(file), lock);
}

static int unlock_file(sqlite3_file *file, int lock)
{
	return real_of(file)->pMethods->xUnlock(real_of(file), lock);
}

static int check_lock(sqlite3_file *file, int *locked)
{
	return real_of(file)->pMethods->xCheckReservedLock(real_of(file), locked);
}

/* A hint of a size would take room before it is written. */
static int control_file(sqlite3_file *file, int operation, void *argument)
{
	if (operation == SQLITE_FCNTL_SIZE_HINT || operation == SQLITE_FCNTL_CHUNK_SIZE)
		return SQLITE_OK;
	return real_of(file)->pMethods->xFileControl(real_of(file), operation, argument);
}

static int sector_size(sqlite3_file *file)
{
	return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int characteristics(sqlite3_file *file)
{
	return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

/* Version 1: nothing is shared, and nothing is mapped. */
static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = size_of_file,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = check_lock,
    .xFileControl = control_file,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
};

/* ---- Opening. ---- */

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *opened)
{
	struct sql_spill *spill = (struct sql_spill *)(void *)vfs;
	*spilled_of(file) = (struct spilled){.spill = spill};
	memset(real_of(file), 0, (size_t)spill->real->szOsFile);
	int result = spill->real->xOpen(spill->real, name, real_of(file), flags, opened);
	file->pMethods = real_of(file)->pMethods ? &methods : NULL;
	return result;
}

/* All that does not open files is as it is of the system's. */
static struct sql_spill *new_spill(uint64_t limit)
{
	struct sql_spill *spill = calloc(1, sizeof *spill);
	sqlite3_vfs *real = sqlite3_vfs_find(NULL);
	if (!spill || !real) {
		free(spill);
		return NULL;
	}
	snprintf(spill->name, sizeof spill->name, "trackway-%p", (void *)spill);
	spill->real = real;
	spill->limit = limit;
	spill->vfs = *real;
	spill->vfs.zName = spill->name;
	spill->vfs.pNext = NULL;
	spill->vfs.szOsFile = (int)sizeof(struct spilled) + real->szOsFile;
	spill->vfs.xOpen = open_file;
	if (sqlite3_vfs_register(&spill->vfs, 0) == SQLITE_OK)
		return spill;
	free(spill);
	return NULL;
}

int sql_spill_open(struct sql_spill **spill, size_t memory, sqlite3 **db)
{
	enum { TIMES = 16 };
	const uint64_t limit = memory ? memory : TW_DEFAULT_MEMORY;
	if (!*spill)
		*spill = new_spill(limit < UINT64_MAX / TIMES ? limit * TIMES : UINT64_MAX);
	if (!*spill)
		return SQLITE_NOMEM;
	return sqlite3_open_v2("", db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, (*spill)->name);
}

const char *sql_spill_hint(sqlite3 *db, int code)
{
	sqlite3_vfs *vfs = NULL;
	if (code == SQLITE_FULL)
		sqlite3_file_control(db, "main", SQLITE_FCNTL_VFS_POINTER, &vfs);
	if (!vfs || vfs->xOpen != open_file || !((struct sql_spill *)(void *)vfs)->reached)
		return "";
	return ": temporary files may take 16 times the memory limit";
}

void sql_spill_free(struct sql_spill *spill)
{
	if (spill)
		sqlite3_vfs_unregister(&spill->vfs);
	free(spill);
}
