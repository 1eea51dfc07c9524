/* snapshot.c - trackway snapshot: what programs that record have recorded so far. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/output/message.h"
#include "cli/output/show.h"
#include "manage/manage.h"

#include <limits.h>
#include <stddef.h>

struct snapshot_options {
	struct tw_common common;
	const char *output;
	uint64_t attach;
};

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct snapshot_options *options = (const struct snapshot_options *)common;
	struct manage_result result;
	(void)operands, (void)count;
	if (!options->output)
		return tw_say_usage(&tw_command_snapshot, "snapshot wants -o OUT");
	const struct manage_wish wish = {
	    .output = options->output,
	    .attach = (pid_t)options->attach,
	    .memory = tw_memory_asked(common),
	    .temporary = tw_temporary_folder(),
	};
	int status = manage_snapshot(&wish, &result);
	if (status < 0)
		status = tw_say_error("%s", result.error);
	else
		tw_say("%s", tw_show_plural(result.count, "program").text);
	manage_free(&result);
	return status;
}

#define MEMBER(name) .offset = offsetof(struct snapshot_options, name)
static const struct tw_option own_options[] = {
    {"output", 'o', TW_OPTION_FILE, MEMBER(output), .placeholder = "OUT", .help = "the archive"},
    {"attach", 0, TW_OPTION_COUNT, MEMBER(attach), .placeholder = "PID", .least = 1, .most = INT_MAX,
     .help = "of this process alone"},
};
static const struct tw_option_group *const groups[] = TW_OPTION_GROUPS(TW_OPTIONS("Snapshot", own_options));

const struct tw_command tw_command_snapshot = {
    .name = "snapshot",
    .summary = "what programs that record have recorded so far",
    .operands = "",
    .description = "Writes an FXT archive of what programs of the user that record at this moment "
		   "(trackway/trace.h) have in their "
		   "files, as the newest of a circular buffer, without stopping anything.",
    .exit_status = "0 when the archive was written; 2 for wrong use, and when no program was recording.",
    .examples = "trackway snapshot -o now.fxt --attach 1234\tThe newest of a server with a circular buffer.\n",
    .groups = groups,
    .size = sizeof(struct snapshot_options),
    .run = run,
};
