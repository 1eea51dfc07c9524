/* trace.h - your own program writes a trace: durations, instants, counters, flows.
 *
 *     #include <trackway/trace.h>
 *
 *     void parse(const char *path) {
 *             TW_TRACE_DURATION("reader", "parse", TW_ARG("path", path));
 *             ...
 *     }
 *
 *     cc program.c $(pkg-config --cflags --libs trackway-trace)
 *     TRACKWAY_TRACE=out-%p.fxt ./a.out; trackway stat out-*.fxt
 *
 * C99, C11 and C++11; every macro is a statement, TW_TRACE_DURATION a declaration: no goto and no case label jumps
 * over it. A category and a name are literals; for others there are the functions behind the macros. A site whose
 * category is not recorded costs a comparison and a branch, and its arguments are not evaluated. A name or a text that
 * is NULL is an empty one. What is recorded stands in shared pages at once: it is there after a crash, and after
 * SIGKILL. Nothing here stops, waits or ends the program: what cannot be recorded is counted. All of it may be called
 * by signal handlers. TW_NTRACE, defined before, compiles all of it away, and no library is needed. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_TRACE_H
#define TRACKWAY_TRACE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#include <type_traits>
#endif

#include <trackway/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Starting and stopping. ---- */

enum tw_trace_mode {
	TW_TRACE_STREAMING, /* the file grows; without a limit of size the disk is the limit */
	TW_TRACE_ONESHOT,   /* what comes after the limit of size is dropped, and counted */
	TW_TRACE_CIRCULAR   /* the newest is kept */
};

/* Starts recording into a new file of mode 0600, never over an existing one: where there is one, "-1", "-2" and so on
 * go before its ending. "%p" is the process id, "%%" a %. NULL: as the variable TRACKWAY_TRACE says. options: as
 * TRACKWAY_TRACE_OPTIONS has them, NULL: as the variable says, words with commas between them:
 *
 *     mode=streaming | oneshot | circular
 *     size=N               bytes for events, with K, M or G; at least 64K. 64M where a mode has a limit
 *     category=A:B*        categories by name, or by how they begin; all otherwise
 *     clock=tsc | monotonic    monotonic where the kernel does not use the TSC itself
 *     control=off          without the helper thread that compares clocks and waits for a manager
 *
 * It is called at the start of the program where TRACKWAY_TRACE is set. A process that is forked has a file of its own
 * from its first event on. Returns 0, or an errno: EALREADY where recording is going on, EINVAL for options that are
 * none of these, or what the system said. */
TW_API int tw_trace_start(const char *path, const char *options);

/* Ends recording; the file is complete. Fine where nothing is recorded. */
TW_API void tw_trace_stop(void);

/* The name of the file that is recorded into, terminated; "" where there is none. Returns its length. */
TW_API size_t tw_trace_file(char *name, size_t room);

/* Events that were not recorded in the recording that goes on, or went on last: no room, no memory, in a signal handler
 * that interrupted the recorder where it held its lock, of a kind or on a track that there is not. */
TW_API uint64_t tw_trace_dropped(void);

/* ---- What is written. ---- */

/* Types of an argument: those of the FXT format. */
enum tw_trace_type {
	TW_TRACE_TYPE_NULL,
	TW_TRACE_TYPE_I32,
	TW_TRACE_TYPE_U32,
	TW_TRACE_TYPE_I64,
	TW_TRACE_TYPE_U64,
	TW_TRACE_TYPE_F64,
	TW_TRACE_TYPE_TEXT,
	TW_TRACE_TYPE_POINTER,
	TW_TRACE_TYPE_KOID,
	TW_TRACE_TYPE_BOOL,
	TW_TRACE_TYPE_BYTES,
	TW_TRACE_TYPE_END /* of the list that a macro makes */
};

/* An argument: TW_ARG and its like make it. What `bytes` points to must live until the event is written, for a duration
 * until its scope ends. */
struct tw_trace_argument {
	const char *name;
	const void *bytes; /* text, bytes */
	uint64_t number;   /* of a double its bits; of text and bytes their size */
	uint32_t type;     /* enum tw_trace_type */
};

enum { TW_TRACE_ARGUMENTS_MAX = 15 };

enum tw_trace_scope { TW_SCOPE_THREAD, TW_SCOPE_PROCESS, TW_SCOPE_GLOBAL };

enum tw_trace_kind {
	TW_TRACE_KIND_INSTANT,
	TW_TRACE_KIND_COUNTER,
	TW_TRACE_KIND_BEGIN,
	TW_TRACE_KIND_END,
	TW_TRACE_KIND_COMPLETE,
	TW_TRACE_KIND_ASYNC_BEGIN,
	TW_TRACE_KIND_ASYNC_INSTANT,
	TW_TRACE_KIND_ASYNC_END,
	TW_TRACE_KIND_FLOW_BEGIN,
	TW_TRACE_KIND_FLOW_STEP,
	TW_TRACE_KIND_FLOW_END
};

/* A call site, static, made by a macro. The library writes what follows the names. Without names: of a record that has
 * no category. */
struct tw_trace_site {
	const char *category, *name;
	uint32_t state; /* tw_trace_state + 1: its category is recorded; tw_trace_state: it is not; another: ask */
	uint32_t label;
	uint32_t names[TW_TRACE_ARGUMENTS_MAX];
};

/* A number that changes whenever other categories are recorded; its lowest bit is 0. */
extern TW_API uint32_t tw_trace_state;

/* Finds out whether a site is recorded. */
TW_API int tw_trace_ask(struct tw_trace_site *site);

/* Writes an event of a site; number: the id or the scope, where the kind has one. Of a kind that there is not, none is
 * written, and that is counted as dropped. An argument whose type there is not is left out, a scope that there is not
 * is the thread's, and the event is counted as one that did not fit whole. */
TW_API void tw_trace_event(struct tw_trace_site *site, unsigned kind, uint64_t number,
                           const struct tw_trace_argument *arguments, size_t count);

/* A duration that is open. */
struct tw_trace_duration {
	struct tw_trace_site *site; /* NULL: it is not recorded */
	const struct tw_trace_argument *arguments;
	size_t count;
	uint64_t begin;
	uint32_t state, depth;
};

/* Begins and ends a duration. Where the process dies in between, it is a begin without an end. */
TW_API void tw_trace_open(struct tw_trace_duration *duration, struct tw_trace_site *site,
                          const struct tw_trace_argument *arguments, size_t count);
TW_API void tw_trace_close(struct tw_trace_duration *duration);

/* ---- The same for names that are no literals: they are looked up each time. ---- */

/* Whether events of a category are recorded; of NULL: whether anything is. */
TW_API int tw_trace_enabled(const char *category);

/* Writes an event of any kind but TW_TRACE_KIND_COMPLETE, on the thread that calls it, now. */
TW_API void tw_trace_write(unsigned kind, const char *category, const char *name, uint64_t number,
                           const struct tw_trace_argument *arguments, size_t count);

/* Writes a text into the log of the thread; the second one is terminated. */
TW_API void tw_trace_log(const char *text, size_t size);
TW_API void tw_trace_log_text(const char *text);

/* Writes bytes under a name; more than fit into one record become several. */
TW_API void tw_trace_blob(const char *name, const void *bytes, size_t size);

/* Tells what lives at an address. */
TW_API void tw_trace_object(const void *pointer, const char *name, const struct tw_trace_argument *arguments,
                            size_t count);

/* Names the thread that calls it, in the recording that goes on and in those to come (there by 127 bytes of the name);
 * it is otherwise called what the system calls it when its first event is written. */
TW_API void tw_trace_thread_name(const char *name);

/* An alert: an instant of the process with this name, and the manager is told, which may have been asked to stop by
 * it. */
TW_API void tw_trace_alert(const char *category, const char *name);

/* ---- Virtual threads: fibers, queues of devices. ---- */

/* Makes a track of its own, also where nothing is recorded yet. Returns its number, which is never 0, and lives as long
 * as the process: each recording has the track from its first event there on (by 103 bytes of its name). There may be
 * 4,194,304; events on one that there is no room for are dropped, and counted. */
TW_API uint32_t tw_trace_track(const char *name);

/* The same for whoever has numbers of their own for tracks: the one of this number, made where there is none yet. */
TW_API uint32_t tw_trace_vthread(const char *name, uint64_t id);

/* Nanoseconds of CLOCK_MONOTONIC as a time for tw_trace_write_at(); and now. */
TW_API uint64_t tw_trace_time(uint64_t monotonic_ns);
TW_API uint64_t tw_trace_now(void);

/* As tw_trace_write() on a track (0: the thread that calls it), at a time. A complete duration ends at `end`; other
 * kinds have none. One that would end before it begins is not written, and counted as dropped. */
TW_API void tw_trace_write_at(uint32_t track, uint64_t time, uint64_t end, unsigned kind, const char *category,
                              const char *name, uint64_t number, const struct tw_trace_argument *arguments,
                              size_t count);

#ifdef __cplusplus
}
#endif

/* ---- Arguments. ---- */

#define TW_TRACE_MAKE_(function, c_type, kind, convert)                                                                \
	static inline struct tw_trace_argument function(const char *name, c_type value)                                \
	{                                                                                                              \
		struct tw_trace_argument argument;                                                                     \
		argument.name = name;                                                                                  \
		argument.bytes = NULL;                                                                                 \
		argument.number = convert;                                                                             \
		argument.type = kind;                                                                                  \
		return argument;                                                                                       \
	}

static inline uint64_t tw_trace_bits_(double value)
{
	uint64_t bits;
	__builtin_memcpy(&bits, &value, sizeof bits);
	return bits;
}

TW_TRACE_MAKE_(tw_trace_i32_, int32_t, TW_TRACE_TYPE_I32, (uint64_t)(int64_t)value)
TW_TRACE_MAKE_(tw_trace_u32_, uint32_t, TW_TRACE_TYPE_U32, value)
TW_TRACE_MAKE_(tw_trace_i64_, int64_t, TW_TRACE_TYPE_I64, (uint64_t)value)
TW_TRACE_MAKE_(tw_trace_u64_, uint64_t, TW_TRACE_TYPE_U64, value)
TW_TRACE_MAKE_(tw_trace_f64_, double, TW_TRACE_TYPE_F64, tw_trace_bits_(value))
TW_TRACE_MAKE_(tw_trace_pointer_, const volatile void *, TW_TRACE_TYPE_POINTER, (uint64_t)(uintptr_t)value)
TW_TRACE_MAKE_(tw_trace_koid_, uint64_t, TW_TRACE_TYPE_KOID, value)
TW_TRACE_MAKE_(tw_trace_bool_, int, TW_TRACE_TYPE_BOOL, value != 0)
#undef TW_TRACE_MAKE_

static inline struct tw_trace_argument tw_trace_bytes_(const char *name, const void *bytes, size_t size, uint32_t type)
{
	struct tw_trace_argument argument;
	argument.name = name;
	argument.bytes = bytes;
	argument.number = bytes ? size : 0;
	argument.type = type;
	return argument;
}

static inline struct tw_trace_argument tw_trace_text_(const char *name, const char *text)
{
	return tw_trace_bytes_(name, text, text ? __builtin_strlen(text) : 0, TW_TRACE_TYPE_TEXT);
}

#define TW_I32(name, value) tw_trace_i32_(name, value)
#define TW_U32(name, value) tw_trace_u32_(name, value)
#define TW_I64(name, value) tw_trace_i64_(name, value)
#define TW_U64(name, value) tw_trace_u64_(name, value)
#define TW_F64(name, value) tw_trace_f64_(name, value)
#define TW_TEXT(name, text) tw_trace_text_(name, text)
#define TW_POINTER(name, pointer) tw_trace_pointer_(name, pointer)
#define TW_KOID(name, value) tw_trace_koid_(name, value)
#define TW_BOOL(name, value) tw_trace_bool_(name, (value) ? 1 : 0)
#define TW_NULL(name) tw_trace_bytes_(name, NULL, 0, TW_TRACE_TYPE_NULL)
#define TW_BYTES(name, bytes, size) tw_trace_bytes_(name, bytes, size, TW_TRACE_TYPE_BYTES)

/* TW_ARG(name, value) finds the type: numbers, bool, text, pointers; in C++ also nullptr, enumerations, and what has
 * data() and size() as a string has. In C a bit-field is what it is promoted to; one that is wider than an int needs a
 * cast for gcc. In C99 gcc and clang have TW_ARG; others have TW_I32 and its like. */
#if defined(__cplusplus)
static inline struct tw_trace_argument tw_trace_any_(const char *name, bool v)
{
	return TW_BOOL(name, v);
}
static inline struct tw_trace_argument tw_trace_any_(const char *name, int v)
{
	return TW_I32(name, v);
}
static inline struct tw_trace_argument tw_trace_any_(const char *name, unsigned char v)
{
	return TW_U32(name, v);
}
static inline struct tw_trace_argument tw_trace_any_(const char *name, unsigned short v)
{
	return TW_U32(name, v);
}
static inline struct tw_trace_argument tw_trace_any_(const char *name, unsigned v)
{
	return TW_U32(name, v);
}
static inline struct tw_trace_argument tw_trace_any_(const char *name, long v)
{
	return TW_I64(name, v);
}
static inline struct tw_trace_argument tw_trace_any_(const char *name, unsigned long v)
{
	return TW_U64(name, v);
}
static inline struct tw_trace_argument tw_trace_any_(const char *name, long long v)
{
	return TW_I64(name, v);
}
static inline struct tw_trace_argument tw_trace_any_(const char *name, unsigned long long v)
{
	return TW_U64(name, v);
}
static inline struct tw_trace_argument tw_trace_any_(const char *name, double v)
{
	return TW_F64(name, v);
}
static inline struct tw_trace_argument tw_trace_any_(const char *name, long double v)
{
	return TW_F64(name, static_cast<double>(v));
}
static inline struct tw_trace_argument tw_trace_any_(const char *name, const char *v)
{
	return TW_TEXT(name, v);
}
static inline struct tw_trace_argument tw_trace_any_(const char *name, const volatile void *v)
{
	return TW_POINTER(name, v);
}
static inline struct tw_trace_argument tw_trace_any_(const char *name, decltype(nullptr))
{
	return TW_NULL(name);
}
template <typename R, typename... A>
static inline struct tw_trace_argument tw_trace_any_(const char *name, R (*function)(A...))
{
	struct tw_trace_argument argument = TW_POINTER(name, nullptr);
	argument.number = reinterpret_cast<uintptr_t>(function);
	return argument;
}
template <typename T>
static inline auto tw_trace_any_(const char *name, const T &text)
    -> decltype(TW_BYTES(TW_TEXT(name, text.data()).name, nullptr, text.size()))
{
	return tw_trace_bytes_(name, text.data(), text.size(), TW_TRACE_TYPE_TEXT);
}
/* The text of an object that is gone at the end of the statement: fine for an event, not for a duration. */
struct tw_trace_temporary_ : tw_trace_argument {
	tw_trace_temporary_(const tw_trace_argument &argument) : tw_trace_argument(argument)
	{
	}
};
template <typename T>
static inline auto tw_trace_any_(const char *name, const T &&text) ->
    typename std::enable_if<!std::is_trivially_destructible<T>::value,
                            decltype(tw_trace_temporary_(TW_BYTES(name, text.data(), text.size())))>::type
{
	return tw_trace_bytes_(name, text.data(), text.size(), TW_TRACE_TYPE_TEXT);
}
struct tw_trace_lasting_ : tw_trace_argument {
	tw_trace_lasting_(const tw_trace_argument &argument) : tw_trace_argument(argument)
	{
	}
	tw_trace_lasting_(const tw_trace_temporary_ &) = delete;
};
template <typename T>
static inline typename std::enable_if<std::is_enum<T>::value, struct tw_trace_argument>::type tw_trace_any_(
    const char *name, T v)
{
	return tw_trace_any_(name, static_cast<typename std::underlying_type<T>::type>(v));
}
#define TW_ARG(name, value) tw_trace_any_(name, value)
#elif (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L) || defined(__GNUC__)
static inline struct tw_trace_argument tw_trace_truth_(const char *name, _Bool value)
{
	return tw_trace_bool_(name, value);
}
static inline struct tw_trace_argument tw_trace_long_f64_(const char *name, long double value)
{
	return tw_trace_f64_(name, (double)value);
}
/* clang-format off */
#define TW_ARG(name, value)                                                                                            \
	(__extension__ _Generic((value),                                                                               \
	     _Bool: tw_trace_truth_,                                                                                   \
	     unsigned char: tw_trace_u32_, unsigned short: tw_trace_u32_,                                              \
	     default: _Generic(1 ? (value) : (value),                                                                  \
	         int: tw_trace_i32_, unsigned: tw_trace_u32_,                                                          \
	         long: tw_trace_i64_, long long: tw_trace_i64_,                                                        \
	         unsigned long: tw_trace_u64_, unsigned long long: tw_trace_u64_,                                      \
	         float: tw_trace_f64_, double: tw_trace_f64_, long double: tw_trace_long_f64_,                         \
	         char *: tw_trace_text_, const char *: tw_trace_text_,                                                 \
	         default: tw_trace_pointer_))(name, value))
/* clang-format on */
#endif

/* The end of a list: so it is never empty, and no macro is called with nothing for its dots. */
#define TW_TRACE_LAST_ tw_trace_bytes_(NULL, NULL, 0, TW_TRACE_TYPE_END)

/* ---- The macros. Up to 15 arguments follow those that are named. ---- */

#if defined(TW_NTRACE)

/* Nothing is evaluated, and nothing is unused. */
static inline void tw_trace_nothing_(int nothing, ...)
{
	(void)nothing;
}
#define TW_TRACE_OFF_(...)                                                                                             \
	do {                                                                                                           \
		if (0)                                                                                                 \
			tw_trace_nothing_(0, __VA_ARGS__);                                                             \
	} while (0)
#define TW_TRACE_ENABLED(category) ((void)sizeof(category), 0)
#define TW_TRACE_DURATION(...) TW_TRACE_OFF_(__VA_ARGS__)
#define TW_TRACE_BEGIN(...) TW_TRACE_OFF_(__VA_ARGS__)
#define TW_TRACE_END(...) TW_TRACE_OFF_(__VA_ARGS__)
#define TW_TRACE_INSTANT(...) TW_TRACE_OFF_(__VA_ARGS__)
#define TW_TRACE_COUNTER(...) TW_TRACE_OFF_(__VA_ARGS__)
#define TW_TRACE_ASYNC_BEGIN(...) TW_TRACE_OFF_(__VA_ARGS__)
#define TW_TRACE_ASYNC_INSTANT(...) TW_TRACE_OFF_(__VA_ARGS__)
#define TW_TRACE_ASYNC_END(...) TW_TRACE_OFF_(__VA_ARGS__)
#define TW_TRACE_FLOW_BEGIN(...) TW_TRACE_OFF_(__VA_ARGS__)
#define TW_TRACE_FLOW_STEP(...) TW_TRACE_OFF_(__VA_ARGS__)
#define TW_TRACE_FLOW_END(...) TW_TRACE_OFF_(__VA_ARGS__)
#define TW_TRACE_OBJECT(...) TW_TRACE_OFF_(__VA_ARGS__)
#define TW_TRACE_LOG(text) TW_TRACE_OFF_(text)
#define TW_TRACE_BLOB(name, bytes, size) TW_TRACE_OFF_(name, bytes, size)
#define TW_TRACE_ALERT(category, name) TW_TRACE_OFF_(category, name)

/* The functions, too: such a program needs no library. They return what they do where nothing is recorded; a track has
 * the number 1, a time is 0. */
static inline int tw_trace_int_(int value, ...)
{
	return value;
}
static inline uint64_t tw_trace_u64_off_(uint64_t value, ...)
{
	return value;
}
static inline size_t tw_trace_no_file_(char *name, size_t room)
{
	if (room)
		*name = '\0';
	return 0;
}
#define TW_TRACE_INT_(value, ...) (0 ? tw_trace_int_(0, __VA_ARGS__) : tw_trace_int_(value))
#define TW_TRACE_NUMBER_(value, ...) (0 ? tw_trace_u64_off_(0, __VA_ARGS__) : tw_trace_u64_off_(value))
#define tw_trace_start(path, options) TW_TRACE_INT_(0, path, options)
#define tw_trace_stop() tw_trace_nothing_(0)
#define tw_trace_file(name, room) tw_trace_no_file_(name, room)
#define tw_trace_dropped() tw_trace_u64_off_(0)
#define tw_trace_enabled(category) TW_TRACE_INT_(0, category)
#define tw_trace_write(...) TW_TRACE_OFF_(__VA_ARGS__)
#define tw_trace_log(text, size) TW_TRACE_OFF_(text, size)
#define tw_trace_log_text(text) TW_TRACE_OFF_(text)
#define tw_trace_blob(name, bytes, size) TW_TRACE_OFF_(name, bytes, size)
#define tw_trace_object(...) TW_TRACE_OFF_(__VA_ARGS__)
#define tw_trace_thread_name(name) TW_TRACE_OFF_(name)
#define tw_trace_alert(category, name) TW_TRACE_OFF_(category, name)
#define tw_trace_track(name) ((uint32_t)TW_TRACE_NUMBER_(1, name))
#define tw_trace_vthread(name, id) ((uint32_t)TW_TRACE_NUMBER_(1, name, id))
#define tw_trace_time(monotonic_ns) TW_TRACE_NUMBER_(0, monotonic_ns)
#define tw_trace_now() tw_trace_u64_off_(0)
#define tw_trace_write_at(...) TW_TRACE_OFF_(__VA_ARGS__)

#else

static inline int tw_trace_on_(struct tw_trace_site *site)
{
	return __builtin_expect(__atomic_load_n(&site->state, __ATOMIC_RELAXED) !=
	                            __atomic_load_n(&tw_trace_state, __ATOMIC_RELAXED),
	                        0) &&
	       tw_trace_ask(site);
}

/* A site keeps its names, which are constants: a compiler for C knows no others for what is static. */
#if defined(__cplusplus)
#define TW_TRACE_SITE_(site, category, name)                                                                           \
	constexpr const char *site##names[] = {category, name};                                                        \
	static struct tw_trace_site site = {site##names[0], site##names[1], 0, 0, {0}}
#else
#define TW_TRACE_SITE_(site, category, name) static struct tw_trace_site site = {category, name, 0, 0, {0}}
#endif
#define TW_TRACE_COUNT_(list) (sizeof(list) / sizeof *(list)-1)
#define TW_TRACE_FITS_(list)                                                                                           \
	typedef char tw_trace_at_most_15_arguments[TW_TRACE_COUNT_(list) <= TW_TRACE_ARGUMENTS_MAX ? 1 : -1]           \
	    __attribute__((unused))

#define TW_TRACE_EVENT_(kind, category, name, number, ...)                                                             \
	do {                                                                                                           \
		TW_TRACE_SITE_(tw_trace_site_, category, name);                                                        \
		if (tw_trace_on_(&tw_trace_site_)) {                                                                   \
			const struct tw_trace_argument tw_trace_list_[] = {__VA_ARGS__};                               \
			TW_TRACE_FITS_(tw_trace_list_);                                                                \
			tw_trace_event(&tw_trace_site_, kind, number, tw_trace_list_,                                  \
			               TW_TRACE_COUNT_(tw_trace_list_));                                               \
		}                                                                                                      \
	} while (0)
#define TW_TRACE_PLAIN_(kind, category, name, ...) TW_TRACE_EVENT_(kind, category, name, 0, __VA_ARGS__)

/* TW_TRACE_ENABLED(category): whether events of a category, a literal, are recorded. */
#define TW_TRACE_ENABLED(category) tw_trace_enabled(category)

/* TW_TRACE_BEGIN(category, name, ...), TW_TRACE_END(category, name, ...): a duration of the thread, in two events. */
#define TW_TRACE_BEGIN(...) TW_TRACE_PLAIN_(TW_TRACE_KIND_BEGIN, __VA_ARGS__, TW_TRACE_LAST_)
#define TW_TRACE_END(...) TW_TRACE_PLAIN_(TW_TRACE_KIND_END, __VA_ARGS__, TW_TRACE_LAST_)

/* TW_TRACE_INSTANT(category, name, scope, ...): scope is TW_SCOPE_THREAD, TW_SCOPE_PROCESS or TW_SCOPE_GLOBAL. */
#define TW_TRACE_INSTANT(...) TW_TRACE_EVENT_(TW_TRACE_KIND_INSTANT, __VA_ARGS__, TW_TRACE_LAST_)

/* TW_TRACE_COUNTER(category, name, id, ...): each argument is a series. */
#define TW_TRACE_COUNTER(...) TW_TRACE_EVENT_(TW_TRACE_KIND_COUNTER, __VA_ARGS__, TW_TRACE_LAST_)

/* (category, name, id, ...): an operation that may end on another thread, known by its id. */
#define TW_TRACE_ASYNC_BEGIN(...) TW_TRACE_EVENT_(TW_TRACE_KIND_ASYNC_BEGIN, __VA_ARGS__, TW_TRACE_LAST_)
#define TW_TRACE_ASYNC_INSTANT(...) TW_TRACE_EVENT_(TW_TRACE_KIND_ASYNC_INSTANT, __VA_ARGS__, TW_TRACE_LAST_)
#define TW_TRACE_ASYNC_END(...) TW_TRACE_EVENT_(TW_TRACE_KIND_ASYNC_END, __VA_ARGS__, TW_TRACE_LAST_)

/* (category, name, id, ...): arrows between the durations that they stand in. */
#define TW_TRACE_FLOW_BEGIN(...) TW_TRACE_EVENT_(TW_TRACE_KIND_FLOW_BEGIN, __VA_ARGS__, TW_TRACE_LAST_)
#define TW_TRACE_FLOW_STEP(...) TW_TRACE_EVENT_(TW_TRACE_KIND_FLOW_STEP, __VA_ARGS__, TW_TRACE_LAST_)
#define TW_TRACE_FLOW_END(...) TW_TRACE_EVENT_(TW_TRACE_KIND_FLOW_END, __VA_ARGS__, TW_TRACE_LAST_)

/* TW_TRACE_DURATION(category, name, ...): from here to the end of the scope, which return and exceptions end, too. The
 * arguments are evaluated here, and written at the end. */
#define TW_TRACE_DURATION(...) TW_TRACE_DURATION_AT_(__COUNTER__, __VA_ARGS__, TW_TRACE_LAST_)
#define TW_TRACE_DURATION_AT_(...) TW_TRACE_DURATION_IN_(__VA_ARGS__)
#define TW_TRACE_DURATION_IN_(count, category, name, ...)                                                              \
	TW_TRACE_SITE_(tw_trace_site_##count, category, name);                                                         \
	struct tw_trace_argument tw_trace_list_##count[TW_TRACE_NUMBER_(__VA_ARGS__)];                                 \
	TW_TRACE_STAYS_(tw_trace_jumped_over_##count)                                                                  \
	TW_TRACE_HOLD_(tw_trace_hold_##count);                                                                         \
	if (tw_trace_on_(&tw_trace_site_##count)) {                                                                    \
		const struct TW_TRACE_LASTING_ tw_trace_now_[] = {__VA_ARGS__};                                        \
		TW_TRACE_FITS_(tw_trace_now_);                                                                         \
		__builtin_memcpy(tw_trace_list_##count, tw_trace_now_, sizeof tw_trace_now_);                          \
		tw_trace_open(TW_TRACE_HELD_(tw_trace_hold_##count), &tw_trace_site_##count, tw_trace_list_##count,    \
		              TW_TRACE_COUNT_(tw_trace_now_));                                                         \
	}                                                                                                              \
	(void)tw_trace_list_##count

#if defined(__cplusplus)
#define TW_TRACE_LASTING_ tw_trace_lasting_
struct tw_trace_hold_ {
	struct tw_trace_duration duration;
	tw_trace_hold_()
	{
		duration.site = NULL;
	}
	~tw_trace_hold_()
	{
		if (__builtin_expect(duration.site != NULL, 0))
			tw_trace_close(&duration);
	}
	tw_trace_hold_(const tw_trace_hold_ &) = delete;
	tw_trace_hold_ &operator=(const tw_trace_hold_ &) = delete;
};
#define TW_TRACE_STAYS_(type)
#define TW_TRACE_HOLD_(hold) tw_trace_hold_ hold
#define TW_TRACE_HELD_(hold) &(hold).duration
#else
#define TW_TRACE_LASTING_ tw_trace_argument
static inline void tw_trace_leave_(struct tw_trace_duration *duration)
{
	if (__builtin_expect(duration->site != NULL, 0))
		tw_trace_close(duration);
}
/* A duration that was jumped over would end without having begun. clang refuses that; gcc refuses it for types whose
 * size is not constant. */
#if defined(__clang__)
#define TW_TRACE_STAYS_(type)
#else
#define TW_TRACE_STAYS_(type)                                                                                          \
	_Pragma("GCC diagnostic push")                                                                                 \
	    _Pragma("GCC diagnostic ignored \"-Wvla\"") typedef char type[((void)tw_trace_state, 1)]                   \
	    __attribute__((unused));                                                                                   \
	_Pragma("GCC diagnostic pop")
#endif
#define TW_TRACE_HOLD_(hold)                                                                                           \
	struct tw_trace_duration hold __attribute__((cleanup(tw_trace_leave_)));                                       \
	hold.site = NULL
#define TW_TRACE_HELD_(hold) &(hold)
#endif

/* How many arguments there are with the last one, 1 to 16; of some too many, so that these are told. */
#define TW_TRACE_NUMBER_(...)                                                                                          \
	TW_TRACE_24TH_(__VA_ARGS__, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3,   \
	               2, 1, 0)
#define TW_TRACE_24TH_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, number, ...) number

/* TW_TRACE_LOG(text), TW_TRACE_BLOB(name, bytes, size), TW_TRACE_OBJECT(pointer, name, ...): as the functions above.
 * They have no category: they are recorded while anything is. */
#define TW_TRACE_ANY_(...)                                                                                             \
	do {                                                                                                           \
		TW_TRACE_SITE_(tw_trace_site_, NULL, NULL);                                                            \
		if (tw_trace_on_(&tw_trace_site_)) {                                                                   \
			__VA_ARGS__;                                                                                   \
		}                                                                                                      \
	} while (0)
#define TW_TRACE_LOG(text) TW_TRACE_ANY_(tw_trace_log_text(text))
#define TW_TRACE_BLOB(name, bytes, size) TW_TRACE_ANY_(tw_trace_blob(name, bytes, size))
#define TW_TRACE_OBJECT(...) TW_TRACE_OBJECT_(__VA_ARGS__, TW_TRACE_LAST_)
#define TW_TRACE_OBJECT_(pointer, name, ...)                                                                           \
	TW_TRACE_ANY_(const struct tw_trace_argument tw_trace_list_[] = {__VA_ARGS__}; TW_TRACE_FITS_(tw_trace_list_); \
	              tw_trace_object(pointer, name, tw_trace_list_, TW_TRACE_COUNT_(tw_trace_list_)))

/* TW_TRACE_ALERT(category, name): as the function above. The manager is told whatever is recorded. */
#define TW_TRACE_ALERT(category, name) tw_trace_alert(category, name)

#endif

#endif
