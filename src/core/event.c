/* event.c - the texts of statuses, severities and kinds of event. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <trackway/event.h>
#include <trackway/finding.h>
#include <trackway/version.h>

/* For who calls it and compiles no header. */
extern inline const struct tw_argument *tw_event_arguments(const struct tw_batch *batch, const struct tw_event *event);

const char *tw_version(void)
{
	return TW_VERSION;
}

const char *tw_status_text(int status)
{
	static const struct {
		int number;
		const char *text;
	} texts[] = {
#define X(name, number, text) {number, text},
	    TW_STATUS_LIST(X)
#undef X
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (texts[i].number == status)
			return texts[i].text;
	return status > 0 ? texts[0].text : "unknown error";
}

const char *tw_severity_name(enum tw_severity severity)
{
	static const char *const names[] = {[TW_NOTE] = "note", [TW_WARNING] = "warning", [TW_ERROR] = "error"};
	return (unsigned)severity < sizeof names / sizeof *names ? names[severity] : "unknown";
}

const char *tw_blob_type_name(uint64_t type)
{
	static const char *const names[] = {[1] = "data", [2] = "last-branch", [3] = "perfetto"};
	return type < sizeof names / sizeof *names ? names[type] : NULL;
}

const char *tw_event_kind_name(unsigned kind)
{
	static const char *const names[] = {
#define X(name, text, value, id, other) [name] = text,
	    TW_EVENT_LIST(X)
#undef X
	};
	return kind < TW_EVENT_KINDS ? names[kind] : NULL;
}
