/* view.h - what is shown: the index of a trace that is being read, and answers from it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_SERVE_VIEW_H
#define VIEW_SERVE_VIEW_H

#include "base/text/json.h"
#include "core/index_file/head.h"
#include "view/index/index.h"
#include "view/index/order.h"
#include "view/index/spans.h"
#include "view/serve/question.h"
#include "view/serve/request.h"
#include "view/tool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

enum view_state { VIEW_READING, VIEW_DONE, VIEW_FAILED };

enum { VIEW_TOKEN_SIZE = 32, VIEW_FINDINGS_KEPT = 100, VIEW_ERROR_SIZE = 512 };

/* Who asks the tables of SQL: people, or the page for itself. The one does not wait for the other. */
enum view_use { VIEW_FOR_PEOPLE, VIEW_FOR_PAGE, VIEW_USES };

struct view_finding {
	enum tw_severity severity;
	const char *rule;
	uint64_t offset;
	size_t file;   /* which of the paths */
	uint64_t time; /* until when the index went, on the reader's clock; 0: not known */
	char *text;
};

struct tw_format;

/* One of the traces, as it was when it was opened. */
struct view_file {
	const struct tw_format *format; /* NULL: that of all */
	struct stat status;
	bool regular;
	uint64_t start; /* when it begins, on the reader's clock */
	uint64_t end;   /* when all of its tracks have ended: view_end() */
};

/* Who looks whether files grow. All zero follows nothing. */
struct view_follower {
	pthread_t thread;
	bool running; /* there is a thread */
	int wake;     /* eventfd: it is over */
};

/* The index beside the file. */
struct view_keeper {
	struct tw_stamp stamp; /* of the file, before it was read */
	struct tw_index_trace trace;
	bool loaded;   /* it has taken the place of reading the file: written before the thread begins */
	int fd;        /* of what was taken from there, until all of it has been looked at; -1: nothing was */
	uint64_t hash; /* that its store must have */
	bool busy;     /* the index must stay as it is: it is written, or looked at; under the lock */
};

/* How far a reader is, in bytes, and its errors. */
struct view_progress {
	uint64_t done, size, errors;
};

/* How far the traces are read: written by the thread that reads, under the lock. */
struct view_reading {
	struct tw_reader *reader; /* NULL once one file has been read: `progress` has its last */
	struct view_progress progress;
	const char *format, *title; /* NULL until it is open */
	enum view_order order; /* that events must come in; where they do not, they are read once more with a lesser */
	bool late;             /* they did not */
	struct view_latest latest;
	bool keep_items; /* the index keeps all slices: they cannot be read again */
	enum view_state state;
	bool started; /* `start` is known */
	uint64_t start;
	struct tw_clock clock;
	uint32_t generation;
	char error[VIEW_ERROR_SIZE]; /* why not all has been read */
};

/* What is wrong with the traces: written by whoever reads them, under the lock. */
struct view_findings {
	uint64_t count;
	uint64_t *by_file; /* how many, by path; one more, of none of them */
	struct view_finding first[VIEW_FINDINGS_KEPT];
};

/* Where most of a damaged trace is. */
struct view_bulk {
	uint32_t of;       /* the generation */
	bool known;        /* some of it is far from there */
	uint64_t from, to; /* since the start of the view */
};

/* Where the page is, and who may see it: written before the first request. */
struct view_server {
	unsigned port;
	char token[VIEW_TOKEN_SIZE + 1], ticket[VIEW_TOKEN_SIZE + 1]; /* the ticket is good once */
	atomic_bool used;                                             /* it has been */
	char address[96], address_once[96];
	struct view_http *http;
};

/* What questions in SQL are asked of; each use has a lock of its own. */
struct view_sql {
	const char *missing; /* why there are none; NULL: there are */
	struct view_tables *tables[VIEW_USES];
};

struct view {
	struct view_options options;
	/* Whoever wants the rest takes the gate first, and lets it go once it has the lock: so all come in turn, and
	 * the thread that reads does not take it back at once. */
	pthread_mutex_t gate, lock;
	struct view_reading reading;
	struct view_index index;
	struct view_findings findings;
	struct view_file *files; /* by path */
	uint32_t ends_of;        /* the generation that their ends are of */
	struct view_bulk bulk;
	/* Not under the lock. */
	pthread_t thread;
	bool running; /* there is a thread */
	struct view_follower follower;
	struct view_keeper keeper;
	volatile int stop;
	struct view_server server;
	struct view_questions questions;
	struct view_sql sql;
	char error[VIEW_ERROR_SIZE];
};

static inline void view_lock(struct view *view)
{
	pthread_mutex_lock(&view->gate);
	pthread_mutex_lock(&view->lock);
	pthread_mutex_unlock(&view->gate);
}

static inline void view_unlock(struct view *view)
{
	pthread_mutex_unlock(&view->lock);
}

/* Makes a view of nothing yet, that nobody is served; NULL without memory. */
struct view *view_new(const struct view_options *options);
void view_free(struct view *view);

/* Opens its traces. Returns 0 or a negative status: view->error. */
int view_begin(struct view *view);

/* Reads them to the end. */
void view_read(struct view *view);

/* Opens the traces once more, for a question about a window; to 0: to the end. *reader as by tw_open(). */
int view_reader(struct view *view, struct tw_reader **reader, const struct tw_read_options *options);

/* The same of one of them. */
int view_reader_of(struct view *view, size_t file, struct tw_reader **reader, const struct tw_read_options *options);

/* Why that failed, or reading from there; the reader may be NULL. */
const char *view_reader_error(const struct tw_reader *reader, int status);

/* Looks at the files before they are read. Returns 0, or a negative status: view->error. */
int view_files_open(struct view *view, const struct tw_read_options *options);

/* After the first events: says when each file begins. The lock is held. */
void view_files_start(struct view *view);

/* Says which file the tracks are of that have come since. The lock is held. */
void view_files_take(struct view *view, size_t first);

/* Which file a track is of, and the process and thread that it is there. False where that is not known. The lock is
 * held. */
bool view_file_track(const struct view *view, const struct view_track *track, size_t *file, struct tw_track *own);

/* What has become of a file since: "grown", "truncated", "replaced", "gone"; NULL: nothing. */
const char *view_file_change(const struct view *view, size_t i);

/* Begins to look at the files, where all are files of their own: those that grow are read anew, and the picture becomes
 * one of all that there is. Without memory or threads nothing is followed. */
void view_follow(struct view *view);

/* Ends that; view->stop is set. */
void view_follow_end(struct view *view);

/* Reads all files to the end; or looks at what was kept of them, and reads them where that is damaged. */
void view_read_or_check(struct view *view);

/* Reads all files once more, and shows that: pages keep the numbers of tracks and names. */
void view_read_anew(struct view *view, enum view_keeping keeping);

/* ---- The index beside the file. ---- */

/* Before anything is read: takes what was kept. False: there is nothing, or nothing that is of the file as it is. */
bool view_keep_load(struct view *view, const struct tw_read_options *options);

/* Looks at all of what was taken, which is served meanwhile. False: it is damaged, which has been told. */
bool view_keep_check(struct view *view);

/* What was taken or written may change again. */
void view_keep_end(struct view *view);

/* Whether the index that has just been made shall be kept; the lock is held. Then it must be, as soon as it is not. */
bool view_keep_is_wanted(struct view *view);
void view_keep_save(struct view *view);

/* ---- Answers. ---- */

struct view_answer {
	unsigned status; /* of HTTP */
	const char *type;
	struct tw_text body;
	int64_t took, used; /* ns, of the clock and of the processor */
	const char *fixed;  /* instead of the body; NULL: the body */
	size_t fixed_size;
	bool enters;                 /* the cookie is set, and the token leaves the address */
	bool ends;                   /* the connection is closed behind it */
	bool page;                   /* with a policy for what a page may load */
	char words[VIEW_ERROR_SIZE]; /* why it is a refusal */
};

/* Whether a method asks, and changes nothing: GET or HEAD. */
bool view_is_question(const char *method);

/* Begins the answer to a request, of which method, address and headers are set. False: it is a refusal. */
bool view_admit(struct view *view, struct view_request *request, struct view_answer *answer);

/* The answer to one that is admitted. Never fails: without memory the status is 500. */
void view_answer_admitted(struct view *view, struct view_request *request, struct view_answer *answer);

/* Both. */
void view_answer(struct view *view, struct view_request *request, struct view_answer *answer);
void view_answer_free(struct view_answer *answer);

/* Whether a file is not the one any more that the picture is of: then an answer for which it is read is a refusal. */
bool view_files_refuse(struct view *view, struct view_answer *answer);

/* Makes the answer an error, {"error":"words"}. */
void view_refuse(struct view_answer *answer, unsigned status, const char *words);

/* The answers under /api; each is given an answer of status 200 without a body. */
void view_answer_trace(struct view *view, const struct view_request *request, struct view_answer *answer);
void view_answer_progress(struct view *view, const struct view_request *request, struct view_answer *answer);
void view_answer_window(struct view *view, const struct view_request *request, struct view_answer *answer);
void view_answer_slice(struct view *view, const struct view_request *request, struct view_answer *answer);
void view_answer_find(struct view *view, const struct view_request *request, struct view_answer *answer);
void view_answer_near(struct view *view, const struct view_request *request, struct view_answer *answer);
void view_answer_counters(struct view *view, const struct view_request *request, struct view_answer *answer);
void view_answer_search(struct view *view, const struct view_request *request, struct view_answer *answer);
void view_answer_stat(struct view *view, const struct view_request *request, struct view_answer *answer);
void view_answer_flame(struct view *view, const struct view_request *request, struct view_answer *answer);
void view_answer_diff(struct view *view, const struct view_request *request, struct view_answer *answer);
void view_answer_diff_flame(struct view *view, const struct view_request *request, struct view_answer *answer);
void view_answer_sql(struct view *view, const struct view_request *request, struct view_answer *answer);
void view_answer_details(struct view *view, const struct view_request *request, struct view_answer *answer);
void view_answer_flows(struct view *view, const struct view_request *request, struct view_answer *answer);
void view_answer_question(struct view *view, const struct view_request *request, struct view_answer *answer);
void view_answer_cancel(struct view *view, const struct view_request *request, struct view_answer *answer);

/* ---- JSON. ---- */

/* Begins and ends an answer of JSON; what could not be kept makes it an error. */
bool view_json_begin(struct tw_json *json, struct tw_output *out, struct view_answer *answer);
void view_json_end(struct tw_output *out, struct view_answer *answer);

/* A number as a string of digits. */
void view_json_digits(struct tw_json *json, const char *key, uint64_t value);

/* ---- HTTP. ---- */

/* Starts libmicrohttpd. Returns as view_serve(). */
int view_http_start(struct view *view, unsigned port);
void view_http_stop(struct view *view);

#endif
