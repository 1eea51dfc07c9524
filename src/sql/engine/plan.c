/* plan.c - which conditions and orders of a statement a table serves itself.
 *
 * SQLite keeps a plan for as long as a statement lives, as a number and a text, and hands both back when rows are to be
 * read: so all that is known of the two is here. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/engine/plan.h"

#include "sql/tables/groups.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* What a plan says in its number, and each condition by a letter in its text, after the columns that are used and how
 * many files there are. */
enum {
	NEEDS_SURVEY = 1,
	NEEDS_START = 2,
	IN_ORDER = 4,
	GROUPED = 8,
	DOWNWARDS = 16,
	GROUP_SHIFT = 8,
	KEY_SHIFT = 16, /* the column that rows are looked up by, plus 1 */
	COLUMN_MASK = 0xff,
	USED_DIGITS = 16,
	COUNT_DIGITS = 8,
	HEAD = USED_DIGITS + COUNT_DIGITS
};

/* Whether the rows of a table are made of a file while that is read. */
static bool has_rows(const struct sql_table *table)
{
	return table->take || table->pull;
}

/* ---- Making a plan. ---- */

/* The letter of a condition that can be used; 0 for others. */
static char letter_of(const struct sql_column *column, unsigned char op)
{
	static const struct {
		enum sql_role role;
		unsigned char op;
		char letter;
	} known[] = {
	    {SQL_IS_TS, SQLITE_INDEX_CONSTRAINT_GE, 'g'},       {SQL_IS_TS, SQLITE_INDEX_CONSTRAINT_GT, 'G'},
	    {SQL_IS_TS, SQLITE_INDEX_CONSTRAINT_LE, 'l'},       {SQL_IS_TS, SQLITE_INDEX_CONSTRAINT_LT, 'L'},
	    {SQL_IS_TS, SQLITE_INDEX_CONSTRAINT_EQ, 'e'},       {SQL_IS_TRACK, SQLITE_INDEX_CONSTRAINT_EQ, 't'},
	    {SQL_IS_NAME, SQLITE_INDEX_CONSTRAINT_EQ, 'n'},     {SQL_IS_NAME, SQLITE_INDEX_CONSTRAINT_GLOB, 'N'},
	    {SQL_IS_CATEGORY, SQLITE_INDEX_CONSTRAINT_EQ, 'c'}, {SQL_IS_CATEGORY, SQLITE_INDEX_CONSTRAINT_GLOB, 'C'},
	    {SQL_IS_INDEX, SQLITE_INDEX_CONSTRAINT_GE, 'i'},    {SQL_IS_INDEX, SQLITE_INDEX_CONSTRAINT_GT, 'I'},
	    {SQL_IS_INDEX, SQLITE_INDEX_CONSTRAINT_LE, 'j'},    {SQL_IS_INDEX, SQLITE_INDEX_CONSTRAINT_LT, 'J'},
	    {SQL_IS_INDEX, SQLITE_INDEX_CONSTRAINT_EQ, 'x'},    {SQL_IS_TID, SQLITE_INDEX_CONSTRAINT_EQ, 'T'},
	    {SQL_IS_PC, SQLITE_INDEX_CONSTRAINT_GE, 'p'},       {SQL_IS_PC, SQLITE_INDEX_CONSTRAINT_GT, 'P'},
	    {SQL_IS_PC, SQLITE_INDEX_CONSTRAINT_LE, 'q'},       {SQL_IS_PC, SQLITE_INDEX_CONSTRAINT_LT, 'Q'},
	    {SQL_IS_PC, SQLITE_INDEX_CONSTRAINT_EQ, 'y'},       {SQL_IS_ADDRESS, SQLITE_INDEX_CONSTRAINT_EQ, 'z'},
	    {SQL_IS_ADDRESS, SQLITE_INDEX_CONSTRAINT_GE, 'a'},  {SQL_IS_ADDRESS, SQLITE_INDEX_CONSTRAINT_GT, 'A'},
	    {SQL_IS_ADDRESS, SQLITE_INDEX_CONSTRAINT_LE, 'b'},  {SQL_IS_ADDRESS, SQLITE_INDEX_CONSTRAINT_LT, 'B'},
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].role == column->role && known[i].op == op)
			return known[i].letter;
	return 0;
}

/* The letters of conditions on one value by which kept rows are found. What leaves the least is first. */
static const char looked_up[] = "yznkcTt";

/* The part of the rows that such a condition leaves, guessed. */
static double part_of(char letter)
{
	switch (letter) {
	case 'e':
	case 'x':
		return 1e-6;
	case 'y':
	case 'z':
		return 1e-4;
	case 't':
	case 'T':
		return 0.125;
	case 'n':
		return 0.01;
	case 'N':
	case 'c':
	case 'C':
		return 0.1;
	default:
		return 0.25;
	}
}

/* Comparisons of texts in another collation are SQLite's own work. A list of values would be a scan for each. */
static bool can_use(sqlite3_index_info *info, int i)
{
	const struct sqlite3_index_constraint *condition = &info->aConstraint[i];
	if (!condition->usable || condition->iColumn < 0)
		return false;
	if (condition->op == SQLITE_INDEX_CONSTRAINT_EQ && sqlite3_vtab_in(info, i, -1))
		return false;
	return sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY") == 0;
}

static double rows_guessed(const struct sql_session *session)
{
	enum { RECORD = 24, AT_LEAST = 100 };
	double bytes = 0;
	for (size_t i = 0; i < session->count; i++) {
		struct tw_stamp stamp;
		if (tw_stamp_take(session->files[i].path, &stamp) == 0)
			bytes += (double)stamp.size;
	}
	return bytes / RECORD > AT_LEAST ? bytes / RECORD : AT_LEAST;
}

/* Whether both ends of a time are known. */
static bool is_window(const char *letters)
{
	return strchr(letters, 'e') || (strpbrk(letters, "gG") && strpbrk(letters, "lL"));
}

/* Whether the value of a condition is not the same in all of the statement: that of a join is not. */
static bool may_vary(sqlite3_index_info *info, int i)
{
	sqlite3_value *value;
	return info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ &&
	       sqlite3_vtab_rhs_value(info, i, &value) != SQLITE_OK;
}

/* The part of the rows that have one value of a column, guessed; 1 where rows cannot be looked up by it. */
static double part_of_key(const struct sql_column *column)
{
	if (column->role != SQL_PLAIN)
		return 1;
	switch (sql_column_found(column)) {
	case SQL_FOUND_BY_NUMBER:
		return sql_lookup_is_id(column) ? 1e-6 : 1e-3;
	case SQL_FOUND_BY_TEXT:
		return 1e-2;
	case SQL_FOUND_NEVER:
		return 1;
	}
	return 1;
}

/* The condition by which rows are best looked up, or -1: SQLite joins by asking for one value after the other. Ids are
 * looked up in any case. */
static int key_condition(const struct sql_vtab *vtab, sqlite3_index_info *info)
{
	double least = 1;
	int best = -1;
	for (int i = 0; i < info->nConstraint; i++) {
		bool equal = info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ && can_use(info, i);
		const struct sql_column *column = equal ? &vtab->table->columns[info->aConstraint[i].iColumn] : NULL;
		double part = equal ? part_of_key(column) : 1;
		if (part < least && (sql_lookup_is_id(column) || may_vary(info, i))) {
			least = part;
			best = i;
		}
	}
	return best;
}

/* What is made of the conditions. */
struct choice {
	char letters[64];
	double part;  /* of the rows that is left */
	double found; /* the part that is left of the rows that are kept, where they are looked up; otherwise 1 */
	int needs;
};

/* The letter of condition i; 0 where it cannot be used. Rows are looked up by an id or a name once its value has
 * changed. */
static char use_condition(const struct sql_vtab *vtab, sqlite3_index_info *info, int i, int key, struct choice *choice)
{
	const struct sql_column *column = &vtab->table->columns[info->aConstraint[i].iColumn];
	char letter = letter_of(column, info->aConstraint[i].op);
	if (letter) {
		choice->part *= part_of(letter);
		if (strchr(looked_up, letter) && may_vary(info, i))
			choice->found *= part_of(letter);
		return letter;
	}
	if (i != key)
		return 0;
	choice->needs |= (info->aConstraint[i].iColumn + 1) << KEY_SHIFT;
	choice->part *= part_of_key(column);
	choice->found *= part_of_key(column);
	return SQL_LOOKUP_KEY;
}

/* Uses what conditions it can: a letter each into the text. */
static void use_conditions(const struct sql_vtab *vtab, sqlite3_index_info *info, struct choice *choice)
{
	const int key = key_condition(vtab, info);
	size_t used = 0;
	for (int i = 0; i < info->nConstraint && used + 1 < sizeof choice->letters; i++) {
		if (!can_use(info, i))
			continue;
		const char letter = use_condition(vtab, info, i, key, choice);
		if (!letter)
			continue;
		choice->letters[used++] = letter;
		info->aConstraintUsage[i].argvIndex = (int)used;
		choice->needs |= strchr("gGlLe", letter) ? NEEDS_START : letter == 't' ? NEEDS_SURVEY : 0;
	}
	choice->letters[used] = '\0';
	/* A window is worth an index. */
	if (vtab->table->reads.windowed && is_window(choice->letters))
		choice->needs |= NEEDS_SURVEY;
}

static int needs_of(const struct sql_table *table, uint64_t used)
{
	int needs = table->reads.surveyed ? NEEDS_SURVEY : 0;
	for (size_t i = 0; i < table->column_count; i++) {
		enum sql_value value = table->columns[i].value;
		if (!(used >> (i < 63 ? i : 63) & 1))
			continue;
		if (value == SQL_TRACK || value == SQL_THREAD || value == SQL_SERIES)
			needs |= NEEDS_SURVEY;
		if (value == SQL_TIME)
			needs |= NEEDS_START;
	}
	return needs;
}

/* Whether rows can come in the order that is asked for: there is one file, and it is known to be in order. */
static bool can_order(const struct sql_vtab *vtab, const sqlite3_index_info *info)
{
	const struct sql_session *session = vtab->session;
	const struct sql_survey *survey = session->count == 1 ? session->files[0].survey : NULL;
	return info->nOrderBy == 1 && !info->aOrderBy[0].desc && info->aOrderBy[0].iColumn >= 0 &&
	       vtab->table->columns[info->aOrderBy[0].iColumn].role == SQL_IS_TS && vtab->table->by_time && survey &&
	       survey->late_ns == 0;
}

/* Whether rows are wanted in the order of names or tracks. SQLite takes rows that are grouped for sorted, where it
 * wants both: so they are sorted, always. */
static bool can_group(const struct sql_vtab *vtab, const sqlite3_index_info *info)
{
	int column = info->nOrderBy == 1 ? info->aOrderBy[0].iColumn : -1;
	return column >= 0 && has_rows(vtab->table) && sql_groups_by(&vtab->table->columns[column]) &&
	       sql_groups_fit(vtab->table, info->colUsed, (unsigned)column, vtab->session->count > 1);
}

/* Whether there is room to keep so many rows, from which they are looked up: guessed, too. */
static bool can_keep(const struct sql_vtab *vtab, const sqlite3_index_info *info, double rows)
{
	enum { VALUE = 8 }; /* bytes of a column, as a rule */
	double columns = __builtin_popcountll(info->colUsed);
	return rows * (SQL_LOOKUP_COST + VALUE * columns) <= (double)sql_lookup_room(vtab->session);
}

/* All is read, whatever is left of it; but rows that are looked up have been read before, if they can be kept, and
 * there is an index for windows. */
static void report_cost(sqlite3_index_info *info, double all, double part, bool kept, bool window)
{
	enum { LOOKUP = 20, OPENING = 1000 };
	info->estimatedRows = all * part > 1 ? (sqlite3_int64)(all * part) : 1;
	info->estimatedCost = kept ? LOOKUP + all * part : window ? OPENING + 2 * all * part : all + all * part;
}

int sql_plan_make(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct sql_vtab *vtab = (struct sql_vtab *)base;
	const struct sql_table *table = vtab->table;
	struct choice choice = {.part = 1, .found = 1, .needs = needs_of(table, info->colUsed)};
	bool reads = table->reads.kinds || table->pull;
	double all = reads ? rows_guessed(vtab->session) : 100;
	use_conditions(vtab, info, &choice);
	bool found = choice.found < 1;
	/* What is looked up comes in no order. */
	if (!found && can_order(vtab, info)) {
		info->orderByConsumed = 1;
		choice.needs |= IN_ORDER | NEEDS_START;
	} else if (!found && can_group(vtab, info)) {
		info->orderByConsumed = 1;
		choice.needs |=
		    GROUPED | (info->aOrderBy[0].desc ? DOWNWARDS : 0) | info->aOrderBy[0].iColumn << GROUP_SHIFT;
	}
	bool kept = found && can_keep(vtab, info, all * choice.part / choice.found);
	report_cost(info, all, choice.part, kept, table->reads.windowed && is_window(choice.letters));
	info->idxNum = choice.needs;
	info->idxStr = sqlite3_mprintf("%016llx%08x%s", (unsigned long long)info->colUsed,
	                               (unsigned)vtab->session->count, choice.letters);
	info->needToFreeIdxStr = 1;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- Taking it back. ---- */

static const struct sql_bounds all_numbers = {INT64_MIN, INT64_MAX};

/* A bound of whole numbers; false where the value says nothing about numbers. `up`: the next one, where the bound
 * itself is out or lies between two. */
static bool bound_of(sqlite3_value *value, bool up, bool strict, int64_t *bound)
{
	const double most = 9.2e18;
	int type = sqlite3_value_type(value);
	if (type == SQLITE_INTEGER) {
		*bound = sqlite3_value_int64(value);
		if (strict)
			*bound += up && *bound < INT64_MAX ? 1 : !up && *bound > INT64_MIN ? -1 : 0;
		return true;
	}
	double real = type == SQLITE_FLOAT ? sqlite3_value_double(value) : most;
	if (!(real > -most && real < most))
		return false;
	*bound = (int64_t)real + (up ? -1 : 1); /* wider than asked for: SQLite looks again */
	return true;
}

/* The letters of the five comparisons. */
struct comparisons {
	char ge, gt, le, lt, eq;
};

static bool narrow(struct sql_bounds *bounds, const struct comparisons *letters, char letter, sqlite3_value *value)
{
	bool low = letter == letters->ge || letter == letters->gt,
	     high = letter == letters->le || letter == letters->lt;
	bool equal = letter == letters->eq;
	int64_t bound;
	if ((low || equal) && bound_of(value, true, letter == letters->gt, &bound))
		bounds->low = bound > bounds->low ? bound : bounds->low;
	if ((high || equal) && bound_of(value, false, letter == letters->lt, &bound))
		bounds->high = bound < bounds->high ? bound : bounds->high;
	return low || high || equal;
}

static void take_bound(struct sql_cursor *cursor, char letter, sqlite3_value *value)
{
	static const struct comparisons times = {'g', 'G', 'l', 'L', 'e'}, indexes = {'i', 'I', 'j', 'J', 'x'},
					pcs = {'p', 'P', 'q', 'Q', 'y'}, addresses = {'a', 'A', 'b', 'B', 'z'};
	if (!narrow(&cursor->query.ts, &times, letter, value) && !narrow(&cursor->query.ts, &indexes, letter, value) &&
	    !narrow(&cursor->query.pc, &pcs, letter, value))
		narrow(&cursor->query.address, &addresses, letter, value);
}

static bool take_text(char **text, sqlite3_value *value)
{
	const char *given = sqlite3_value_type(value) == SQLITE_TEXT ? (const char *)sqlite3_value_text(value) : NULL;
	if (*text || !given || strlen(given) != (size_t)sqlite3_value_bytes(value)) /* with a zero byte in it */
		return true;
	*text = sqlite3_mprintf("%s", given);
	return *text != NULL;
}

static bool take_condition(struct sql_cursor *cursor, char letter, sqlite3_value *value)
{
	switch (letter) {
	case 't':
		if (sqlite3_value_type(value) == SQLITE_INTEGER) {
			cursor->query.one_track = true;
			cursor->query.track = sqlite3_value_int64(value);
		}
		return true;
	case 'T':
		if (sqlite3_value_type(value) == SQLITE_INTEGER) {
			cursor->query.one_tid = true;
			cursor->query.tid = (uint64_t)sqlite3_value_int64(value);
		}
		return true;
	case 'n':
		return take_text(&cursor->query.name.equal, value);
	case 'N':
		return take_text(&cursor->query.name.glob, value);
	case 'c':
		return take_text(&cursor->query.category.equal, value);
	case 'C':
		return take_text(&cursor->query.category.glob, value);
	default:
		take_bound(cursor, letter, value);
		return true;
	}
}

static void take_plan(struct sql_cursor *cursor, int plan, const char *text)
{
	char used[USED_DIGITS + 1] = "";
	memcpy(used, text, USED_DIGITS);
	cursor->query = (struct sql_query){
	    .needs = {.survey = plan & NEEDS_SURVEY, .start = plan & NEEDS_START},
	    .used = strtoull(used, NULL, 16),
	    .ts = all_numbers,
	    .pc = all_numbers,
	    .address = all_numbers,
	    .in_order = plan & IN_ORDER,
	    .grouped = plan & GROUPED,
	    .downwards = plan & DOWNWARDS,
	    .group = (unsigned)plan >> GROUP_SHIFT & COLUMN_MASK,
	};
}

bool sql_plan_take(struct sql_cursor *cursor, const struct sql_question *question, bool constant)
{
	sql_cursor_reset(cursor);
	take_plan(cursor, question->plan, question->text);
	for (int i = 0; i < question->count; i++)
		if (!(constant && sql_lookup_varies(cursor, i)) &&
		    !take_condition(cursor, question->letters[i], question->values[i]))
			return false;
	return true;
}

/* The column of a role; of several of a track the one that has all of them. UINT_MAX: there is none. */
static unsigned column_of(const struct sql_table *table, enum sql_role role)
{
	unsigned found = UINT_MAX;
	for (unsigned i = 0; i < table->column_count; i++)
		if (table->columns[i].role == role && (found == UINT_MAX || table->columns[i].value == SQL_TRACK))
			found = i;
	return found;
}

/* The column of a plan that rows are looked up by; UINT_MAX: none. */
static unsigned key_column(const struct sql_question *question)
{
	return ((unsigned)question->plan >> KEY_SHIFT) - 1;
}

/* The condition on one value that kept rows are found by; -1: none. An id and a place leave the least, a name less than
 * the other keys, and a window of time less than most. */
static int finding_condition(const struct sql_cursor *cursor, const struct sql_question *question)
{
	const unsigned column = key_column(question);
	bool id = column != UINT_MAX && sql_lookup_is_id(&cursor->table->columns[column]);
	for (const char *letter = id || is_window(question->letters) ? "k" : looked_up; *letter; letter++) {
		const char *at = strchr(question->letters, *letter);
		if (at && sql_lookup_varies(cursor, (int)(at - question->letters)))
			return (int)(at - question->letters);
	}
	return -1;
}

/* The role that a letter stands for. */
static enum sql_role role_of(char letter)
{
	static const struct {
		char letter;
		enum sql_role role;
	} known[] = {{'n', SQL_IS_NAME}, {'c', SQL_IS_CATEGORY}, {'t', SQL_IS_TRACK},
	             {'T', SQL_IS_TID},  {'y', SQL_IS_PC},       {'z', SQL_IS_ADDRESS}};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].letter == letter)
			return known[i].role;
	return SQL_PLAIN;
}

unsigned sql_plan_column(const struct sql_cursor *cursor, const struct sql_question *question)
{
	int found = finding_condition(cursor, question);
	if (found >= 0 && question->letters[found] == SQL_LOOKUP_KEY)
		return key_column(question);
	if (found >= 0)
		return column_of(cursor->table, role_of(question->letters[found]));
	enum sql_role role = strpbrk(question->letters, "gGlLe")   ? SQL_IS_TS
	                     : strpbrk(question->letters, "iIjJx") ? SQL_IS_INDEX
	                                                           : SQL_PLAIN;
	return role == SQL_PLAIN ? UINT_MAX : column_of(cursor->table, role);
}

void sql_plan_find(struct sql_cursor *cursor, const struct sql_question *question)
{
	int found = finding_condition(cursor, question);
	if (found >= 0) {
		sql_lookup_find(cursor, question->values[found]);
		return;
	}
	cursor->query.ts = cursor->query.pc = cursor->query.address = all_numbers;
	for (int i = 0; i < question->count; i++)
		take_bound(cursor, question->letters[i], question->values[i]);
	sql_lookup_range(cursor, sql_plan_column(cursor, question) == UINT_MAX ? &all_numbers : &cursor->query.ts);
}

bool sql_plan_holds(const struct sql_session *session, const struct sql_question *question)
{
	char count[COUNT_DIGITS + 1] = "";
	memcpy(count, question->text + USED_DIGITS, COUNT_DIGITS);
	return strtoul(count, NULL, 16) == session->count;
}

struct sql_question sql_plan_question(int plan, const char *text, int count, sqlite3_value **values)
{
	return (struct sql_question){plan, text, text + HEAD, count, values};
}

bool sql_plan_is_grouped(const struct sql_question *question)
{
	return question->plan & GROUPED;
}
