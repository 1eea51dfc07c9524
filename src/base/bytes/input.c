/* input.c - bytes of a trace by offset: from a file, a pipe, memory, compressed or not. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/input_state.h"

#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "base/text/utf8.h"

#include <trackway/status.h>

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	FEED_SIZE = 1 << 17,
	PEEK_SIZE = 1 << 12, /* of a file that is not packed it is read again */
};

/* ---- Errors. ---- */

/* A message is one line, whatever is in a name: controls are \x0a. The text itself is freed; NULL without memory. */
static char *escape_controls(char *text)
{
	char *escaped = text ? malloc(strlen(text) * (TW_ESCAPE_ROOM - 1) + 1) : NULL, *end = escaped;
	for (const char *p = text; escaped && *p; p++)
		if ((unsigned char)*p < 0x20)
			end += tw_escape_character(end, p, 1);
		else
			*end++ = *p;
	if (escaped)
		*end = '\0';
	free(text);
	return escaped;
}

void tw_input_note(struct tw_input *input, const char *format, ...)
{
	char *reason = NULL, *text = NULL;
	va_list arguments;
	va_start(arguments, format);
	if (vasprintf(&reason, format, arguments) < 0)
		reason = NULL;
	va_end(arguments);
	if (asprintf(&text, "%s: %s", input->name, reason ? reason : "out of memory") < 0)
		text = NULL;
	free(reason);
	text = escape_controls(text);
	pthread_mutex_lock(&input->lock);
	if (input->error.text) {
		free(text);
	} else {
		input->error.own = text;
		input->error.text = text ? text : "out of memory";
	}
	pthread_mutex_unlock(&input->lock);
}

static int system_error(struct tw_input *input, int error)
{
	tw_input_note(input, "%s", error == EISDIR ? "is a directory" : strerror(error));
	errno = error;
	return TW_ERR_SYSTEM;
}

int tw_input_no_memory(struct tw_input *input)
{
	tw_input_note(input, "out of memory");
	return TW_ERR_MEMORY;
}

/* ---- Raw bytes. ---- */

const struct tw_piece *tw_piece_at(const struct tw_piece *pieces, size_t count, uint64_t place)
{
	size_t begun = tw_count_up_to(pieces, count, TW_KEY(struct tw_piece, place), place);
	return &pieces[begun ? begun - 1 : 0];
}

/* Where in the file a place of the pieces is; no more than *size bytes are there in one. */
static uint64_t in_file(const struct tw_input *input, uint64_t place, size_t *size)
{
	const struct tw_piece *piece = tw_piece_at(input->pieces, input->piece_count, place);
	uint64_t inside = place - piece->place, left = inside < piece->size ? piece->size - inside : 0;
	*size = left < *size ? (size_t)left : *size;
	return piece->offset + inside;
}

static int64_t read_calls(struct tw_input *input, uint64_t offset, void *bytes, size_t size)
{
	const struct tw_input_calls *calls = &input->calls.functions;
	pthread_mutex_lock(input->calls.lock);
	int error = calls->seek ? calls->seek(calls->context, input->origin + offset) : 0;
	int64_t n = error ? -error : calls->read(calls->context, bytes, size);
	pthread_mutex_unlock(input->calls.lock);
	if (n < 0)
		return system_error(input, (int)-n);
	if ((uint64_t)n > size)
		return system_error(input, EOVERFLOW);
	atomic_fetch_add_explicit(&input->taken, (uint64_t)n, memory_order_relaxed);
	return n;
}

static int64_t read_fd(struct tw_input *input, uint64_t offset, void *bytes, size_t size)
{
	if (input->calls.functions.read)
		return read_calls(input, offset, bytes, size);
	if (input->pieces)
		offset = in_file(input, offset, &size);
	for (;;) {
		ssize_t n = input->regular ? pread(input->file.fd, bytes, size, (off_t)(input->origin + offset))
		                           : read(input->file.fd, bytes, size);
		if (n >= 0) {
			atomic_fetch_add_explicit(&input->taken, (uint64_t)n, memory_order_relaxed);
			return n;
		}
		if (errno == EAGAIN)
			poll(&(struct pollfd){.fd = input->file.fd, .events = POLLIN}, 1, -1);
		else if (errno != EINTR)
			return system_error(input, errno);
	}
}

static int more_of_file(struct tw_raw_bytes *raw)
{
	struct tw_input *input = raw->context;
	if (!tw_extend(&input->buffer.bytes, &input->buffer.room, FEED_SIZE, 1))
		return tw_input_no_memory(input);
	int64_t n =
	    read_fd(input, atomic_load_explicit(&input->taken, memory_order_relaxed), input->buffer.bytes, FEED_SIZE);
	if (n < 0)
		return (int)n;
	raw->bytes = input->buffer.bytes;
	raw->left = (size_t)n;
	return 0;
}

static int no_more(struct tw_raw_bytes *raw)
{
	(void)raw;
	return 0;
}

/* Reads the first bytes of a file into the raw, as many as a magic number has; pipes may give them one by one. */
static int peek(struct tw_input *input)
{
	if (!tw_extend(&input->buffer.bytes, &input->buffer.room, PEEK_SIZE, 1))
		return tw_input_no_memory(input);
	size_t have = 0;
	while (have < TW_PACKED_MAGIC) {
		int64_t n = read_fd(input, have, input->buffer.bytes + have, PEEK_SIZE - have);
		if (n < 0)
			return (int)n;
		if (n == 0)
			break;
		have += (size_t)n;
	}
	input->raw =
	    (struct tw_raw_bytes){.bytes = input->buffer.bytes, .left = have, .more = more_of_file, .context = input};
	return 0;
}

/* ---- Opening. ---- */

static void free_buffer(struct tw_input *input)
{
	free(input->buffer.bytes);
	input->buffer.bytes = NULL;
	input->buffer.room = 0;
}

static int start(struct tw_input *input)
{
	if (tw_unpack_known(input->raw.bytes, input->raw.left)) {
		input->unpack = tw_unpack_new(&input->raw);
		return input->unpack ? 0 : tw_input_no_memory(input);
	}
	/* A regular file without a size is one of /proc or /sys: only reading tells where it ends. */
	input->seekable = input->memory || (input->regular && input->size);
	if (input->seekable && !input->memory) {
		input->raw.left = 0;
		atomic_store(&input->taken, 0);
		free_buffer(input);
	}
	return 0;
}

static struct tw_input *new_input(const char *name)
{
	struct tw_input *input = calloc(1, sizeof *input);
	if (!input)
		return NULL;
	pthread_mutex_init(&input->lock, NULL);
	pthread_mutex_init(&input->calls.own_lock, NULL);
	input->calls.lock = &input->calls.own_lock;
	input->file.fd = -1;
	input->name = strdup(name);
	if (input->name)
		return input;
	tw_input_close(input);
	return NULL;
}

static int look_at_file(struct tw_input *input)
{
	struct stat status;
	if (fstat(input->file.fd, &status) < 0)
		return system_error(input, errno);
	if (S_ISDIR(status.st_mode))
		return system_error(input, EISDIR);
	off_t at = S_ISREG(status.st_mode) ? lseek(input->file.fd, 0, SEEK_CUR) : -1;
	input->regular = at >= 0;
	if (input->regular) {
		input->origin = (uint64_t)at;
		input->size = status.st_size > at ? (uint64_t)(status.st_size - at) : 0;
	}
	return 0;
}

static int open_path(struct tw_input *input, const char *path, int flags)
{
	do
		input->file.fd = open(path, O_RDONLY | O_CLOEXEC | flags);
	while (input->file.fd < 0 && errno == EINTR);
	input->file.close_fd = true;
	return input->file.fd < 0 ? system_error(input, errno) : look_at_file(input);
}

static int begin(struct tw_input *input)
{
	int status = peek(input);
	return status < 0 ? status : start(input);
}

int tw_input_open(struct tw_input **opened, const char *path)
{
	bool standard = strcmp(path, "-") == 0;
	struct tw_input *input = *opened = new_input(standard ? "<stdin>" : path);
	if (!input)
		return TW_ERR_MEMORY;
	if (standard)
		input->file.fd = STDIN_FILENO;
	int status = standard ? look_at_file(input) : open_path(input, path, 0);
	return status < 0 ? status : begin(input);
}

int tw_input_open_regular(struct tw_input **opened, const char *path)
{
	struct tw_input *input = *opened = new_input(path);
	if (!input)
		return TW_ERR_MEMORY;
	int status = open_path(input, path, O_NONBLOCK);
	if (status == 0 && !input->regular) {
		tw_input_note(input, "is no regular file");
		errno = EINVAL;
		status = TW_ERR_SYSTEM;
	}
	return status < 0 ? status : begin(input);
}

int tw_input_open_pieces(struct tw_input **opened, const char *path, const struct tw_piece *pieces, size_t count)
{
	struct tw_input *input = *opened = new_input(path);
	if (!input)
		return TW_ERR_MEMORY;
	int status = open_path(input, path, 0);
	input->pieces = pieces;
	input->piece_count = count;
	input->size = count ? pieces[count - 1].place + pieces[count - 1].size : 0;
	input->seekable = true;
	return status;
}

int tw_input_memory(struct tw_input **opened, const char *name, const void *bytes, size_t size)
{
	struct tw_input *input = *opened = new_input(name);
	if (!input)
		return TW_ERR_MEMORY;
	input->memory = size ? bytes : (const uint8_t *)"";
	input->size = size;
	input->raw = (struct tw_raw_bytes){.bytes = input->memory, .left = size, .more = no_more, .context = input};
	return start(input);
}

int tw_input_open_calls(struct tw_input **opened, const char *name, const struct tw_input_calls *calls)
{
	struct tw_input *input = *opened = new_input(name);
	if (!input)
		return TW_ERR_MEMORY;
	input->calls.functions = *calls;
	input->regular = calls->seek;
	input->size = calls->seek ? calls->size : 0;
	return begin(input);
}

int tw_input_open_fd(struct tw_input **opened, const char *name, int fd)
{
	struct tw_input *input = *opened = new_input(name);
	if (!input)
		return TW_ERR_MEMORY;
	input->file.fd = fd;
	int status = look_at_file(input);
	return status < 0 ? status : begin(input);
}

static void close_briefly(struct tw_input *input)
{
	if (input->file.fd >= 0)
		close(input->file.fd);
	input->file.fd = -1;
}

void tw_input_close_source(struct tw_input *input)
{
	if (input->file.close_fd && input->file.fd >= 0)
		close(input->file.fd);
	tw_unpack_free(input->unpack);
	free_buffer(input);
	free(input->stream.kept);
	input->unpack = NULL;
	input->stream.kept = NULL;
	input->stream.kept_size = input->stream.kept_room = 0;
	input->memory = NULL;
	input->calls.functions.read = NULL;
}

/* pread() leaves where the first stands alone. */
int tw_input_again(struct tw_input **again, const struct tw_input *input)
{
	assert(tw_input_repeatable(input));
	if (input->memory)
		return tw_input_memory(again, input->name, input->memory, input->size);
	struct tw_input *other = *again = new_input(input->name);
	if (!other)
		return TW_ERR_MEMORY;
	other->file.fd = input->file.fd;
	other->calls.functions = input->calls.functions;
	other->calls.lock = input->calls.lock;
	other->regular = true;
	other->origin = input->origin;
	other->size = input->size;
	other->remade = input->remade;
	return begin(other);
}

int tw_input_behind(struct tw_input **behind, const struct tw_input *input, uint64_t offset)
{
	assert(input->seekable && !input->pieces && offset <= input->size + input->behind);
	struct tw_input *other = *behind = new_input(input->name);
	if (!other)
		return TW_ERR_MEMORY;
	other->file.fd = input->file.fd;
	other->file.briefly = input->file.briefly;
	other->file.device = input->file.device;
	other->file.inode = input->file.inode;
	other->calls.functions = input->calls.functions;
	other->calls.lock = input->calls.lock;
	other->regular = input->regular;
	other->remade = input->remade;
	other->seekable = true;
	other->memory = input->memory ? input->memory + offset : NULL;
	other->origin = input->origin + offset;
	other->size = input->size + input->behind - offset;
	if (input->damaged && !offset) { /* reported once */
		other->damaged = true;
		other->error.own = strdup(tw_input_error(input));
		other->error.text = other->error.own ? other->error.own : "out of memory";
	}
	return 0;
}

void tw_input_end_at(struct tw_input *input, uint64_t offset)
{
	const uint64_t whole = input->size + input->behind;
	input->size = offset < whole ? offset : whole;
	input->behind = whole - input->size;
}

void tw_input_close(struct tw_input *input)
{
	if (!input)
		return;
	tw_input_close_source(input);
	pthread_mutex_destroy(&input->calls.own_lock);
	pthread_mutex_destroy(&input->lock);
	free(input->error.own);
	free(input->name);
	free(input);
}

/* ---- What it is. ---- */

const char *tw_input_name(const struct tw_input *input)
{
	return input ? input->name : "merged traces";
}

const char *tw_input_error(const struct tw_input *input)
{
	return input->error.text ? input->error.text : "";
}

const char *tw_input_damage(const struct tw_input *input)
{
	const char *error = tw_input_error(input);
	size_t name = strlen(input->name) + 2; /* ": " */
	return input->damaged && strlen(error) > name ? error + name : error;
}

bool tw_input_damaged(const struct tw_input *input)
{
	return input->damaged;
}

bool tw_input_seekable(const struct tw_input *input)
{
	return input->seekable;
}

int tw_input_descriptor(const struct tw_input *input)
{
	return input->file.fd;
}

bool tw_input_remade(const struct tw_input *input)
{
	return input->remade;
}

bool tw_input_repeatable(const struct tw_input *input)
{
	return !input->pieces && (input->memory || input->regular);
}

uint64_t tw_input_size(const struct tw_input *input)
{
	return input->seekable ? input->size : input->stream.position;
}

void tw_input_measure(struct tw_input *input)
{
	struct stat status;
	uint64_t origin = input->origin;
	if (!input->seekable || !input->regular || input->pieces || input->behind || fstat(input->file.fd, &status) < 0)
		return;
	if ((uint64_t)status.st_size > origin && (uint64_t)status.st_size - origin > input->size)
		input->size = (uint64_t)status.st_size - origin;
}

void tw_input_progress(const struct tw_input *input, uint64_t *done, uint64_t *all)
{
	uint64_t taken = atomic_load_explicit(&input->taken, memory_order_relaxed);
	if (input->memory && !input->seekable)
		taken = input->size - input->raw.left;
	*all = input->size;
	*done = input->size && taken > input->size ? input->size : taken;
}

/* ---- Reading. ---- */

void tw_input_open_briefly(struct tw_input *input)
{
	struct stat status;
	bool by_name = input->file.close_fd && input->seekable && !input->file.briefly;
	if (!by_name || fstat(input->file.fd, &status) < 0 || status.st_nlink == 0)
		return;
	input->file.briefly = true;
	input->file.device = status.st_dev;
	input->file.inode = status.st_ino;
	close_briefly(input);
}

static int open_again(struct tw_input *input)
{
	struct stat status;
	input->file.fd = open(input->name, O_RDONLY | O_CLOEXEC);
	if (input->file.fd < 0 || fstat(input->file.fd, &status) < 0)
		return system_error(input, errno);
	if (status.st_dev == input->file.device && status.st_ino == input->file.inode)
		return 0;
	tw_input_note(input, "is another file than when it was opened");
	errno = ESTALE;
	return TW_ERR_SYSTEM;
}

/* Reads most bytes, or fewer, but not less than least where there are so many. */
static int64_t read_some(struct tw_input *input, uint64_t offset, uint8_t *bytes, size_t least, size_t most)
{
	size_t done = 0;
	while (done < least) {
		int64_t n = read_fd(input, offset + done, bytes + done, most - done);
		if (n < 0)
			return n;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (int64_t)done;
}

/* What is missing may be anywhere in what is told of the file: so nothing is. */
static int was_cut(struct tw_input *input, uint64_t end)
{
	tw_input_note(input, "was cut while it was read: %" PRIu64 " bytes are left of %" PRIu64, end, input->size);
	errno = ESTALE;
	return TW_ERR_SYSTEM;
}

static int64_t read_seekable(struct tw_input *input, uint64_t offset, uint8_t *bytes, size_t size)
{
	if (offset >= input->size)
		return 0;
	if (size > input->size - offset)
		size = (size_t)(input->size - offset);
	if (input->memory) {
		memcpy(bytes, input->memory + offset, size);
		atomic_fetch_add_explicit(&input->taken, size, memory_order_relaxed);
		return (int64_t)size;
	}
	int64_t status = input->file.briefly ? open_again(input) : 0;
	if (status == 0)
		status = read_some(input, offset, bytes, size, size);
	if (input->file.briefly)
		close_briefly(input);
	return status >= 0 && (size_t)status < size ? was_cut(input, offset + (size_t)status) : status;
}

static int64_t read_plain(struct tw_input *input, uint8_t *bytes, size_t least, size_t most)
{
	size_t done = input->raw.left < most ? input->raw.left : most;
	memcpy(bytes, input->raw.bytes, done);
	input->raw.bytes += done;
	input->raw.left -= done;
	int64_t n =
	    done < least ? read_some(input, input->stream.position + done, bytes + done, least - done, most - done) : 0;
	return n < 0 ? n : (int64_t)done + n;
}

static int64_t read_packed(struct tw_input *input, uint8_t *bytes, size_t size)
{
	int64_t n = tw_unpack_read(input->unpack, bytes, size);
	const char *problem = tw_unpack_problem(input->unpack);
	if (n == TW_ERR_MEMORY)
		return tw_input_no_memory(input);
	if (problem && !input->damaged) {
		uint64_t raw = input->memory ? input->size : atomic_load_explicit(&input->taken, memory_order_relaxed);
		tw_input_note(input, "offset 0x%llx: %s", (unsigned long long)(raw - input->raw.left), problem);
		input->damaged = true;
	}
	return n;
}

/* Keeps the first bytes of a stream, for tw_input_spool(). */
static int keep(struct tw_input *input, const uint8_t *bytes, size_t size)
{
	if (input->stream.position + size > TW_INPUT_KEPT_MAX) {
		free(input->stream.kept);
		input->stream.kept = NULL;
		input->stream.kept_size = input->stream.kept_room = 0;
		return 0;
	}
	if (!tw_grow(&input->stream.kept, &input->stream.kept_room, input->stream.kept_size + size, 1))
		return tw_input_no_memory(input);
	if (size)
		memcpy(input->stream.kept + input->stream.kept_size, bytes, size);
	input->stream.kept_size += size;
	return 0;
}

int64_t tw_input_read_stream(struct tw_input *input, uint8_t *bytes, size_t least, size_t most)
{
	int64_t n = input->unpack ? read_packed(input, bytes, most) : read_plain(input, bytes, least, most);
	if (n < 0)
		return n;
	if (input->stream.position <= TW_INPUT_KEPT_MAX) {
		int status = keep(input, bytes, (size_t)n);
		if (status < 0)
			return status;
	}
	input->stream.position += (uint64_t)n;
	return n;
}

int64_t tw_input_read_some(struct tw_input *input, uint64_t offset, void *bytes, size_t least, size_t most)
{
	if (input->seekable)
		return read_seekable(input, offset, bytes, most);
	assert(offset == input->stream.position);
	return tw_input_read_stream(input, bytes, least, most);
}

int64_t tw_input_read(struct tw_input *input, uint64_t offset, void *bytes, size_t size)
{
	return tw_input_read_some(input, offset, bytes, size, size);
}
