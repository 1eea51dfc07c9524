/* providers.c - trackway providers: programs that run and trace themselves. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json.h"
#include "base/text/scan.h"
#include "cli/command.h"
#include "cli/output/message.h"
#include "cli/output/show.h"
#include "cli/output/table.h"
#include "manage/manage.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* An answer is shorter, and a line of it becomes two characters longer. */
enum { CATEGORIES_ROOM = 4 * MANAGE_ANSWER };

struct provider_listing {
	bool json;
	struct tw_screen screen;
	struct tw_table table;
};

/* What a program says of itself: a mode, bytes, drops, events, events cut, scopes too deep; then a line for each
 * category, with how many places in the program it has. */
struct provider_report {
	char mode[16];
	uint64_t used, dropped, written, cut, unkept;
	const char *categories; /* from the first line on */
};

static bool take_status(struct provider_report *report, const char *status)
{
	const char *line = strchr(status, '\n');
	report->categories = line ? line + 1 : "";
	const size_t length = strcspn(status, " \n");
	const char *at = status + length;
	if (length >= sizeof report->mode)
		return false;
	memcpy(report->mode, status, length);
	report->mode[length] = 0;
	uint64_t *const numbers[] = {&report->used, &report->dropped, &report->written, &report->cut, &report->unkept};
	enum { NUMBERS = sizeof numbers / sizeof *numbers, LEAST = 2 }; /* the first library tells no more */
	for (size_t i = 0; i < NUMBERS; i++)
		*numbers[i] = 0;
	size_t count = 0;
	while (count < NUMBERS && *at == ' ') {
		at++;
		if (!tw_scan_number(&at, 10, numbers[count++]))
			return false;
	}
	return count >= LEAST;
}

/* Sites of categories that found no room in the answer. */
static uint64_t other_sites(const char *text)
{
	const char *at = strstr(text, "\n+");
	uint64_t sites;
	at = *text == '+' ? text + 1 : at ? at + 2 : "";
	return tw_scan_number(&at, 10, &sites) ? sites : 0;
}

/* Takes the next category. Returns what is behind it, NULL at the end. */
static const char *take_category(const char *text, uint64_t *sites, char name[static 64])
{
	size_t length = strcspn(text, "\n");
	const char *at = text;
	*name = 0;
	if (length == 0 || !tw_scan_number(&at, 10, sites) || *at++ != ' ' || *at == '\n' || !*at)
		return NULL;
	size_t size = (size_t)(text + length - at);
	size = size < 63 ? size : 63;
	memcpy(name, at, size);
	name[size] = 0;
	return text + length + (text[length] == '\n');
}

static void read_name(pid_t process, char name[static 64])
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%ld/comm", (long)process);
	FILE *file = fopen(path, "r");
	*name = 0;
	if (file && fgets(name, 64, file))
		name[strcspn(name, "\n")] = 0;
	if (file)
		fclose(file);
}

static void put_json(struct provider_listing *listing, pid_t process, const char *program,
                     const struct provider_report *report)
{
	struct tw_json json = {.out = &listing->screen.out};
	char name[64];
	uint64_t sites;
	const uint64_t others = other_sites(report->categories);
	tw_json_object(&json, NULL);
	tw_json_u64(&json, "process", (uint64_t)process);
	tw_json_text(&json, "name", program);
	tw_json_text(&json, "mode", report->mode);
	tw_json_u64(&json, "bytes", report->used);
	tw_json_u64(&json, "events", report->written);
	tw_json_u64(&json, "dropped", report->dropped);
	tw_json_u64(&json, "cut", report->cut);
	tw_json_u64(&json, "too_deep", report->unkept);
	tw_json_object(&json, "categories");
	for (const char *at = report->categories; at && (at = take_category(at, &sites, name));)
		tw_json_u64(&json, name, sites);
	tw_json_object_end(&json);
	tw_json_u64(&json, "other_sites", others);
	tw_json_object_line_end(&json);
}

/* "net (3), db (1), 20 of others" */
static void put_categories(char all[static CATEGORIES_ROOM], const char *categories)
{
	char name[64];
	uint64_t sites, others = other_sites(categories);
	size_t used = 0;
	*all = 0;
	for (const char *at = categories; at && (at = take_category(at, &sites, name));)
		used += (size_t)snprintf(all + used, CATEGORIES_ROOM - used, "%s%s (%" PRIu64 ")", used ? ", " : "",
		                         name, sites);
	if (others)
		snprintf(all + used, CATEGORIES_ROOM - used, "%s%" PRIu64 " of others", used ? ", " : "", others);
}

static void put_row(struct provider_listing *listing, pid_t process, const char *program,
                    const struct provider_report *report)
{
	char number[32], all[CATEGORIES_ROOM];
	put_categories(all, report->categories);
	const uint64_t numbers[] = {report->used, report->written, report->dropped, report->cut, report->unkept};
	snprintf(number, sizeof number, "%ld", (long)process);
	tw_table_add(&listing->table, number);
	tw_table_add(&listing->table, report->mode);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		snprintf(number, sizeof number, "%" PRIu64, numbers[i]);
		tw_table_add(&listing->table, number);
	}
	tw_table_add(&listing->table, program);
	tw_table_add(&listing->table, all);
}

static void put(void *context, pid_t process, const char *status)
{
	struct provider_listing *listing = context;
	struct provider_report report;
	char program[64];
	if (!take_status(&report, status))
		return;
	read_name(process, program);
	(listing->json ? put_json : put_row)(listing, process, program, &report);
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	static const struct tw_table_column columns[] = {
	    {"PROCESS", true},  {"RECORDS", false}, {"BYTES", true},
	    {"EVENTS", true},   {"DROPPED", true},  {"CUT", true},
	    {"TOO DEEP", true}, {"PROGRAM", false}, {"CATEGORIES (SITES)", false},
	};
	struct provider_listing listing = {
	    .json = common->forms.json,
	    .table = {.columns = columns, .column_count = sizeof columns / sizeof *columns},
	};
	(void)operands, (void)count;
	if (tw_screen_open_form(&listing.screen, common))
		return TW_EXIT_FAILED;
	size_t answers = manage_list(0, put, &listing);
	int status = 0;
	if (!listing.json && answers)
		status = tw_table_put(&listing.table, &listing.screen);
	if (answers == 0)
		tw_say("no program that traces itself is running");
	return tw_screen_end(&listing.screen, status);
}

static const struct tw_option_group *const groups[] = TW_OPTION_GROUPS(&tw_output_options);

const struct tw_command tw_command_providers = {
    .name = "providers",
    .summary = "programs that run and trace themselves",
    .operands = "",
    .description =
	"Lists programs of the user that are linked with libtrackway_trace (trackway/trace.h) and run: whether they "
	"record and how (off, streaming, oneshot, circular), what their files hold, how many events "
	"found no room, how many had more arguments than a record holds, how many durations began more than 32 deep "
	"in others (a death would leave nothing of them), and the "
	"categories of the places in their code that have been passed so far. `trackway record --to fxt` records them.",
    .examples = "trackway providers\tA line for each program.\n"
		"trackway providers --json | jq .categories\tWhat can be asked for by --category.\n",
    .groups = groups,
    TW_FORMS_OF_TABLES,
    .size = sizeof(struct tw_common),
    .run = run,
};
