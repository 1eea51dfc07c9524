/* fuchsia.h - the tracer under the names of Fuchsia's <lib/trace/event.h>: code that is written for it builds on Linux.
 *
 *     #include <trackway/fuchsia.h>       in place of <lib/trace/event.h> and <trace-vthread/event_vthread.h>
 *
 *     void work(int n) {
 *             TRACE_DURATION("category", "work", "n", TA_INT32(n));      // in C++ also "n", n
 *             ...
 *     }
 *
 * Arguments are names and values in turn, up to 15 of them. In C each value is made by a TA_ macro; C++ finds the type,
 * also of enumerations and of what is like a string. Names and categories that are no constants are looked up each
 * time. Times of virtual threads are ticks of tw_trace_now(), which stands for zx_ticks_get(). NTRACE, defined before,
 * compiles all away.
 *
 * What is different: a kernel object is an object of the program, whose address is the handle's number. The bytes of
 * TRACE_BLOB_EVENT stand behind an instant of its name, which has its arguments; no blob keeps its category or its
 * type, and large ones become several. Starting, modes and files are as <trackway/trace.h> tells. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_FUCHSIA_H
#define TRACKWAY_FUCHSIA_H

#include <stddef.h>
#include <stdint.h>

#include <trackway/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t trace_async_id_t;
typedef uint64_t trace_counter_id_t;
typedef uint64_t trace_flow_id_t;
typedef uint64_t trace_vthread_id_t;
typedef uint64_t trace_ticks_t;

typedef enum { TRACE_SCOPE_THREAD, TRACE_SCOPE_PROCESS, TRACE_SCOPE_GLOBAL } trace_scope_t;
typedef enum {
	TRACE_BLOB_TYPE_DATA = 1,
	TRACE_BLOB_TYPE_LAST_BRANCH = 2,
	TRACE_BLOB_TYPE_PERFETTO = 3
} trace_blob_type_t;

/* The last number of TRACE_NONCE, one for the whole process: whoever is linked with it. */
extern uint64_t tw_fuchsia_nonce_;
__attribute__((weak, visibility("default"))) uint64_t tw_fuchsia_nonce_;

#ifdef __cplusplus
}
#endif

/* ---- Values. ---- */

#define TA_NULL() TW_NULL(NULL)
#define TA_BOOL(value) TW_BOOL(NULL, value)
#define TA_INT32(value) TW_I32(NULL, (int32_t)(value))
#define TA_UINT32(value) TW_U32(NULL, (uint32_t)(value))
#define TA_INT64(value) TW_I64(NULL, (int64_t)(value))
#define TA_UINT64(value) TW_U64(NULL, (uint64_t)(value))
#define TA_DOUBLE(value) TW_F64(NULL, (double)(value))
#define TA_CHAR_ARRAY(text, length) tw_trace_bytes_(NULL, text, length, TW_TRACE_TYPE_TEXT)
#define TA_STRING(text) TW_TEXT(NULL, text)
#define TA_POINTER(value) TW_POINTER(NULL, (const void *)(uintptr_t)(value))
#define TA_KOID(value) TW_KOID(NULL, (uint64_t)(value))

static inline struct tw_trace_argument tw_fuchsia_named_(const char *name, struct tw_trace_argument value)
{
	value.name = name;
	return value;
}

#ifdef __cplusplus
template <typename T> static inline struct tw_trace_argument tw_fuchsia_named_(const char *name, const T &value)
{
	return tw_trace_any_(name, value);
}
#endif

/* ---- Lists of arguments: names and values in turn, and the end of a list; at least the end. ---- */

/* clang-format off */
#define TW_FUCHSIA_PICK_(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20,    \
	_21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31, picked, ...) picked
#define TW_FUCHSIA_LIST_(...)											       \
	TW_FUCHSIA_PICK_(__VA_ARGS__, TW_FUCHSIA_15_, TW_FUCHSIA_ODD_, TW_FUCHSIA_14_, TW_FUCHSIA_ODD_,		       \
	TW_FUCHSIA_13_, TW_FUCHSIA_ODD_, TW_FUCHSIA_12_, TW_FUCHSIA_ODD_, TW_FUCHSIA_11_, TW_FUCHSIA_ODD_,	       \
	TW_FUCHSIA_10_, TW_FUCHSIA_ODD_, TW_FUCHSIA_9_, TW_FUCHSIA_ODD_, TW_FUCHSIA_8_, TW_FUCHSIA_ODD_,	       \
	TW_FUCHSIA_7_, TW_FUCHSIA_ODD_, TW_FUCHSIA_6_, TW_FUCHSIA_ODD_, TW_FUCHSIA_5_, TW_FUCHSIA_ODD_,		       \
	TW_FUCHSIA_4_, TW_FUCHSIA_ODD_, TW_FUCHSIA_3_, TW_FUCHSIA_ODD_, TW_FUCHSIA_2_, TW_FUCHSIA_ODD_,		       \
	TW_FUCHSIA_1_, TW_FUCHSIA_ODD_, TW_FUCHSIA_0_, 0)(__VA_ARGS__)
#define TW_FUCHSIA_NUMBER_(...)											       \
	TW_FUCHSIA_PICK_(__VA_ARGS__, 16, -1, 15, -1, 14, -1, 13, -1, 12, -1, 11, -1, 10, -1, 9, -1, 8, -1, 7, -1, 6,  \
	-1, 5, -1, 4, -1, 3, -1, 2, -1, 1, 0)
#define TW_FUCHSIA_0_(last) last
#define TW_FUCHSIA_1_(name, value, ...) tw_fuchsia_named_(name, value), TW_FUCHSIA_0_(__VA_ARGS__)
#define TW_FUCHSIA_2_(name, value, ...) tw_fuchsia_named_(name, value), TW_FUCHSIA_1_(__VA_ARGS__)
#define TW_FUCHSIA_3_(name, value, ...) tw_fuchsia_named_(name, value), TW_FUCHSIA_2_(__VA_ARGS__)
#define TW_FUCHSIA_4_(name, value, ...) tw_fuchsia_named_(name, value), TW_FUCHSIA_3_(__VA_ARGS__)
#define TW_FUCHSIA_5_(name, value, ...) tw_fuchsia_named_(name, value), TW_FUCHSIA_4_(__VA_ARGS__)
#define TW_FUCHSIA_6_(name, value, ...) tw_fuchsia_named_(name, value), TW_FUCHSIA_5_(__VA_ARGS__)
#define TW_FUCHSIA_7_(name, value, ...) tw_fuchsia_named_(name, value), TW_FUCHSIA_6_(__VA_ARGS__)
#define TW_FUCHSIA_8_(name, value, ...) tw_fuchsia_named_(name, value), TW_FUCHSIA_7_(__VA_ARGS__)
#define TW_FUCHSIA_9_(name, value, ...) tw_fuchsia_named_(name, value), TW_FUCHSIA_8_(__VA_ARGS__)
#define TW_FUCHSIA_10_(name, value, ...) tw_fuchsia_named_(name, value), TW_FUCHSIA_9_(__VA_ARGS__)
#define TW_FUCHSIA_11_(name, value, ...) tw_fuchsia_named_(name, value), TW_FUCHSIA_10_(__VA_ARGS__)
#define TW_FUCHSIA_12_(name, value, ...) tw_fuchsia_named_(name, value), TW_FUCHSIA_11_(__VA_ARGS__)
#define TW_FUCHSIA_13_(name, value, ...) tw_fuchsia_named_(name, value), TW_FUCHSIA_12_(__VA_ARGS__)
#define TW_FUCHSIA_14_(name, value, ...) tw_fuchsia_named_(name, value), TW_FUCHSIA_13_(__VA_ARGS__)
#define TW_FUCHSIA_15_(name, value, ...) tw_fuchsia_named_(name, value), TW_FUCHSIA_14_(__VA_ARGS__)
/* clang-format on */

/* ---- The macros. ---- */

#if defined(NTRACE) || defined(TW_NTRACE)

/* Nothing is evaluated, and nothing is unused. */
#define TW_FUCHSIA_OFF_(category, name, number, ...)                                                                   \
	do {                                                                                                           \
		if (0) {                                                                                               \
			const struct tw_trace_argument tw_trace_list_[] = {TW_FUCHSIA_LIST_(__VA_ARGS__)};             \
			(void)(category), (void)(name), (void)(number), (void)tw_trace_list_;                          \
		}                                                                                                      \
	} while (0)
#define TW_FUCHSIA_EVENT_(kind, ...) TW_FUCHSIA_OFF_(__VA_ARGS__)
#define TW_FUCHSIA_VIRTUAL_(kind, category, name, thread, id, number, time, ...)                                       \
	TW_FUCHSIA_OFF_(category, name, ((void)(thread), (void)(id), (void)(time), number), __VA_ARGS__)
#define TW_FUCHSIA_DURATION_(category, name, ...) TW_FUCHSIA_OFF_(category, name, 0, __VA_ARGS__)
#define TW_FUCHSIA_BLOB_(wanted, name, blob, size) TW_FUCHSIA_OFF_(wanted, name, ((void)(blob), size), TW_TRACE_LAST_)
#define TW_FUCHSIA_OBJECT_(handle, ...) TW_FUCHSIA_OFF_("", "", handle, __VA_ARGS__)
#define TW_FUCHSIA_ALERT_(category, name) TW_FUCHSIA_OFF_(category, name, 0, TW_TRACE_LAST_)
#define TRACE_ENABLED() (0)
#define TRACE_CATEGORY_ENABLED(category) ((void)(category), 0)

#else

/* ---- Sites. ---- */

/* What is no constant has no place in a static site. */
#define TW_FUCHSIA_CONSTANT_(text) (__builtin_constant_p(text) ? (text) : "")
#define TW_FUCHSIA_STATIC_(site, category, name)                                                                       \
	static struct tw_trace_site site = {TW_FUCHSIA_CONSTANT_(category), TW_FUCHSIA_CONSTANT_(name), 0, 0, {0}}

/* The site of an event that is recorded, NULL for one that is not: the static one, or one that is filled now. */
static inline struct tw_trace_site *tw_fuchsia_site_(int constant, struct tw_trace_site *kept,
                                                     struct tw_trace_site *now, const char *category, const char *name)
{
	if (constant)
		return kept;
	__builtin_memset(now, 0, sizeof *now);
	now->category = category;
	now->name = name;
	now->state = UINT32_MAX; /* unlike 0: it is not a site that is met for the first time */
	return tw_trace_ask(now) ? now : NULL;
}

/* Whether to look closer: a category that is no constant is asked for each time. */
#define TW_FUCHSIA_ON_(site, category) (!__builtin_constant_p(category) || tw_trace_on_(site))
#define TW_FUCHSIA_SITE_(kept, now, category, name)                                                                    \
	tw_fuchsia_site_(__builtin_constant_p(category) && __builtin_constant_p(name), kept, now, category, name)

/* Writes on a virtual thread, or nothing where there is no room for one. */
static inline void tw_fuchsia_write_(const char *thread, uint64_t id, uint64_t time, unsigned kind,
                                     const char *category, const char *name, uint64_t number,
                                     const struct tw_trace_argument *list, size_t count)
{
	uint32_t track = tw_trace_vthread(thread, id);
	if (track)
		tw_trace_write_at(track, time, 0, kind, category, name, number, list, count);
}

#define TW_FUCHSIA_EVENT_(kind, category, name, number, ...)                                                           \
	do {                                                                                                           \
		TW_FUCHSIA_STATIC_(tw_trace_kept_, category, name);                                                    \
		if (TW_FUCHSIA_ON_(&tw_trace_kept_, category)) {                                                       \
			struct tw_trace_site tw_trace_now_;                                                            \
			struct tw_trace_site *tw_trace_site_ =                                                         \
			    TW_FUCHSIA_SITE_(&tw_trace_kept_, &tw_trace_now_, category, name);                         \
			const struct tw_trace_argument tw_trace_list_[] = {TW_FUCHSIA_LIST_(__VA_ARGS__)};             \
			if (tw_trace_site_)                                                                            \
				tw_trace_event(tw_trace_site_, kind, (uint64_t)(number), tw_trace_list_,               \
				               TW_TRACE_COUNT_(tw_trace_list_));                                       \
		}                                                                                                      \
	} while (0)

#define TW_FUCHSIA_VIRTUAL_(kind, category, name, thread, id, number, time, ...)                                       \
	do {                                                                                                           \
		if (tw_trace_enabled(category)) {                                                                      \
			const struct tw_trace_argument tw_trace_list_[] = {TW_FUCHSIA_LIST_(__VA_ARGS__)};             \
			tw_fuchsia_write_(thread, (uint64_t)(id), (uint64_t)(time), kind, category, name,              \
			                  (uint64_t)(number), tw_trace_list_, TW_TRACE_COUNT_(tw_trace_list_));        \
		}                                                                                                      \
	} while (0)

#define TW_FUCHSIA_DURATION_(...) TW_FUCHSIA_DURATION_AT_(__COUNTER__, __VA_ARGS__)
#define TW_FUCHSIA_DURATION_AT_(...) TW_FUCHSIA_DURATION_IN_(__VA_ARGS__)
#define TW_FUCHSIA_DURATION_IN_(number, category, name, ...)                                                           \
	TW_FUCHSIA_STATIC_(tw_trace_kept_##number, category, name);                                                    \
	struct tw_trace_site tw_trace_now_##number;                                                                    \
	struct tw_trace_argument tw_trace_list_##number[TW_FUCHSIA_NUMBER_(__VA_ARGS__)];                              \
	TW_TRACE_HOLD_(tw_trace_hold_##number);                                                                        \
	if (TW_FUCHSIA_ON_(&tw_trace_kept_##number, category)) {                                                       \
		struct tw_trace_site *tw_trace_site_ =                                                                 \
		    TW_FUCHSIA_SITE_(&tw_trace_kept_##number, &tw_trace_now_##number, category, name);                 \
		const struct tw_trace_argument tw_trace_made_[] = {TW_FUCHSIA_LIST_(__VA_ARGS__)};                     \
		__builtin_memcpy(tw_trace_list_##number, tw_trace_made_, sizeof tw_trace_made_);                       \
		if (tw_trace_site_)                                                                                    \
			tw_trace_open(TW_TRACE_HELD_(tw_trace_hold_##number), tw_trace_site_, tw_trace_list_##number,  \
			              TW_TRACE_COUNT_(tw_trace_made_));                                                \
	}                                                                                                              \
	(void)tw_trace_list_##number, (void)tw_trace_now_##number

#define TW_FUCHSIA_BLOB_(wanted, name, blob, size)                                                                     \
	do {                                                                                                           \
		if (tw_trace_enabled(wanted))                                                                          \
			tw_trace_blob(name, blob, size);                                                               \
	} while (0)
#define TW_FUCHSIA_OBJECT_(handle, ...)                                                                                \
	TW_TRACE_ANY_(const struct tw_trace_argument tw_trace_list_[] = {TW_FUCHSIA_LIST_(__VA_ARGS__)};               \
	              tw_trace_object((const void *)(uintptr_t)(handle), "handle", tw_trace_list_,                     \
	                              TW_TRACE_COUNT_(tw_trace_list_)))
#define TW_FUCHSIA_ALERT_(category, name) tw_trace_alert(category, name)

#define TRACE_ENABLED() (tw_trace_enabled(NULL))
#define TRACE_CATEGORY_ENABLED(category) (tw_trace_enabled(category))

#endif

/* Another number each time, never 0: for asynchronous operations and flows. */
#define TRACE_NONCE() (__atomic_add_fetch(&tw_fuchsia_nonce_, 1, __ATOMIC_RELAXED))

/* (category, name, ...): to the end of the scope, or in two events. */
#define TRACE_DURATION(...) TW_FUCHSIA_DURATION_(__VA_ARGS__, TW_TRACE_LAST_)
#define TRACE_DURATION_BEGIN(...) TW_FUCHSIA_PLAIN_(TW_TRACE_KIND_BEGIN, __VA_ARGS__, TW_TRACE_LAST_)
#define TRACE_DURATION_END(...) TW_FUCHSIA_PLAIN_(TW_TRACE_KIND_END, __VA_ARGS__, TW_TRACE_LAST_)
#define TW_FUCHSIA_PLAIN_(kind, category, name, ...) TW_FUCHSIA_EVENT_(kind, category, name, 0, __VA_ARGS__)

/* (category, name, scope or id, ...) */
#define TRACE_INSTANT(...) TW_FUCHSIA_EVENT_(TW_TRACE_KIND_INSTANT, __VA_ARGS__, TW_TRACE_LAST_)
#define TRACE_COUNTER(...) TW_FUCHSIA_EVENT_(TW_TRACE_KIND_COUNTER, __VA_ARGS__, TW_TRACE_LAST_)
#define TRACE_ASYNC_BEGIN(...) TW_FUCHSIA_EVENT_(TW_TRACE_KIND_ASYNC_BEGIN, __VA_ARGS__, TW_TRACE_LAST_)
#define TRACE_ASYNC_INSTANT(...) TW_FUCHSIA_EVENT_(TW_TRACE_KIND_ASYNC_INSTANT, __VA_ARGS__, TW_TRACE_LAST_)
#define TRACE_ASYNC_END(...) TW_FUCHSIA_EVENT_(TW_TRACE_KIND_ASYNC_END, __VA_ARGS__, TW_TRACE_LAST_)
#define TRACE_FLOW_BEGIN(...) TW_FUCHSIA_EVENT_(TW_TRACE_KIND_FLOW_BEGIN, __VA_ARGS__, TW_TRACE_LAST_)
#define TRACE_FLOW_STEP(...) TW_FUCHSIA_EVENT_(TW_TRACE_KIND_FLOW_STEP, __VA_ARGS__, TW_TRACE_LAST_)
#define TRACE_FLOW_END(...) TW_FUCHSIA_EVENT_(TW_TRACE_KIND_FLOW_END, __VA_ARGS__, TW_TRACE_LAST_)

/* (category, name of the flow, name of the step, id, ...): a flow in a duration of its own. */
#define TRACE_INSTAFLOW_BEGIN(...) TW_FUCHSIA_INSTAFLOW_(TW_TRACE_KIND_FLOW_BEGIN, __VA_ARGS__, TW_TRACE_LAST_)
#define TRACE_INSTAFLOW_STEP(...) TW_FUCHSIA_INSTAFLOW_(TW_TRACE_KIND_FLOW_STEP, __VA_ARGS__, TW_TRACE_LAST_)
#define TRACE_INSTAFLOW_END(...) TW_FUCHSIA_INSTAFLOW_(TW_TRACE_KIND_FLOW_END, __VA_ARGS__, TW_TRACE_LAST_)
#define TW_FUCHSIA_INSTAFLOW_(kind, category, name, step, id, ...)                                                     \
	do {                                                                                                           \
		TW_FUCHSIA_DURATION_(category, step, __VA_ARGS__);                                                     \
		TW_FUCHSIA_EVENT_(kind, category, name, id, TW_TRACE_LAST_);                                           \
	} while (0)

/* (category, name, name of the virtual thread, its id, time, ...); with the id of a counter or a flow before the time.
 * The first event of an id names the thread. */
#define TRACE_VTHREAD_DURATION_BEGIN(...) TW_FUCHSIA_VPLAIN_(TW_TRACE_KIND_BEGIN, __VA_ARGS__, TW_TRACE_LAST_)
#define TRACE_VTHREAD_DURATION_END(...) TW_FUCHSIA_VPLAIN_(TW_TRACE_KIND_END, __VA_ARGS__, TW_TRACE_LAST_)
#define TW_FUCHSIA_VPLAIN_(kind, category, name, thread, id, ...)                                                      \
	TW_FUCHSIA_VIRTUAL_(kind, category, name, thread, id, 0, __VA_ARGS__)
#define TRACE_VTHREAD_COUNTER(...) TW_FUCHSIA_VIRTUAL_(TW_TRACE_KIND_COUNTER, __VA_ARGS__, TW_TRACE_LAST_)
#define TRACE_VTHREAD_FLOW_BEGIN(...) TW_FUCHSIA_VIRTUAL_(TW_TRACE_KIND_FLOW_BEGIN, __VA_ARGS__, TW_TRACE_LAST_)
#define TRACE_VTHREAD_FLOW_STEP(...) TW_FUCHSIA_VIRTUAL_(TW_TRACE_KIND_FLOW_STEP, __VA_ARGS__, TW_TRACE_LAST_)
#define TRACE_VTHREAD_FLOW_END(...) TW_FUCHSIA_VIRTUAL_(TW_TRACE_KIND_FLOW_END, __VA_ARGS__, TW_TRACE_LAST_)

/* (category, name, blob, size, ...) */
#define TRACE_BLOB_EVENT(...) TW_FUCHSIA_BLOB_EVENT_(__VA_ARGS__, TW_TRACE_LAST_)
#define TW_FUCHSIA_BLOB_EVENT_(category, name, blob, size, ...)                                                        \
	do {                                                                                                           \
		TW_FUCHSIA_EVENT_(TW_TRACE_KIND_INSTANT, category, name, TRACE_SCOPE_THREAD, __VA_ARGS__);             \
		TW_FUCHSIA_BLOB_(category, name, blob, size);                                                          \
	} while (0)
#define TRACE_BLOB_ATTACHMENT(category, name, blob, size) TW_FUCHSIA_BLOB_(category, name, blob, size)
#define TRACE_BLOB(type, name, blob, size) TW_FUCHSIA_BLOB_(((void)(type), (const char *)NULL), name, blob, size)

/* (handle, ...) */
#define TRACE_KERNEL_OBJECT(...) TW_FUCHSIA_OBJECT_(__VA_ARGS__, TW_TRACE_LAST_)

#define TRACE_ALERT(category, name) TW_FUCHSIA_ALERT_(category, name)
#define TRACE_TRIGGER(name) TW_FUCHSIA_ALERT_("", name)

#endif
