/* output.c - buffered writing of bytes and numbers, with one check for errors at the end. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/output.h"

#include "base/text/digits.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_to(struct tw_output *out, int fd, const char *bytes, size_t size)
{
	while (size && !out->error) {
		ssize_t n = write(fd, bytes, size);
		if (n < 0 && errno == EAGAIN)
			poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
		else if (n < 0 && errno != EINTR)
			out->error = errno;
		if (n > 0) {
			bytes += n;
			size -= (size_t)n;
		}
	}
}

static void hand_over(struct tw_output *out, const char *bytes, size_t size)
{
	if (size && !out->error)
		out->error = out->taker.take(out->taker.context, bytes, size);
}

static void write_fd(void *context, const char *bytes, size_t size)
{
	struct tw_output *out = context;
	if (out->taker.take)
		hand_over(out, bytes, size);
	else if (!out->text)
		write_to(out, out->fd, bytes, size);
	else if (size && !tw_text_add(out->text, bytes, size))
		out->error = ENOMEM;
}

static void write_all(struct tw_output *out, const char *bytes, size_t size)
{
	if (out->aside)
		write_to(out, *out->aside, bytes, size);
	else if (!out->press)
		write_fd(out, bytes, size);
	else if (!out->error)
		tw_press_put(out->press, bytes, size);
}

void tw_output_flush(struct tw_output *out)
{
	write_all(out, out->buffer, out->used);
	out->flushed += out->used;
	out->used = 0;
}

void tw_output_turn_aside(struct tw_output *out, const int *fd)
{
	tw_output_flush(out);
	out->aside = fd;
}

void tw_output_put_back(struct tw_output *out, int fd)
{
	uint64_t at = 0;
	for (ssize_t n = 1; n > 0 && !out->error; at += (uint64_t)n) {
		tw_output_flush(out);
		do {
			n = pread(fd, out->buffer, TW_OUTPUT_BUFFER, (off_t)at);
		} while (n < 0 && errno == EINTR);
		if (n < 0)
			out->error = errno;
		n = n < 0 ? 0 : n;
		out->used = (size_t)n;
		out->flushed -= (uint64_t)n;
	}
	if (!out->error && at && (ftruncate(fd, 0) < 0 || lseek(fd, 0, SEEK_SET) < 0))
		out->error = errno;
}

void tw_put_large(struct tw_output *out, const void *bytes, size_t size)
{
	tw_output_flush(out);
	if (size < TW_OUTPUT_BUFFER) {
		memcpy(out->buffer, bytes, size);
		out->used = size;
		return;
	}
	write_all(out, bytes, size);
	out->flushed += size;
}

int tw_output_fd(struct tw_output *out, int fd)
{
	*out = (struct tw_output){.fd = fd, .buffer = malloc(TW_OUTPUT_BUFFER)};
	return out->buffer ? 0 : ENOMEM;
}

int tw_output_compress(struct tw_output *out, const char *name, enum tw_pack_effort effort)
{
	const struct tw_packer *packer = tw_packer_of(name);
	const struct tw_pack_sink sink = {write_fd, out};
	if (!packer || out->press)
		return 0;
	out->press = tw_press_new(packer, effort, &sink);
	return out->press ? 0 : ENOMEM;
}

int tw_output_text(struct tw_output *out, struct tw_text *text)
{
	int error = tw_output_fd(out, -1);
	out->text = text;
	return error;
}

int tw_output_taker(struct tw_output *out, tw_output_fn *take, void *context)
{
	int error = tw_output_fd(out, -1);
	out->taker.take = take;
	out->taker.context = context;
	return error;
}

void tw_output_discard(struct tw_output *out)
{
	tw_press_free(out->press);
	if (out->own)
		tw_outfile_drop(&out->file);
	else if (out->fd > STDERR_FILENO)
		close(out->fd);
	free(out->buffer);
	*out = (struct tw_output){.fd = -1};
}

/* Takes the file that has been opened, or gives up. Returns the error. */
static int take_file(struct tw_output *out, int error)
{
	out->own = out->own || !error;
	out->fd = out->file.fd;
	if (error)
		tw_output_discard(out);
	return error;
}

int tw_output_open(struct tw_output *out, const char *path)
{
	int error = tw_output_fd(out, STDOUT_FILENO);
	if (error || strcmp(path, "-") == 0)
		return error;
	error = take_file(out, tw_outfile_open(&out->file, path));
	return error ? error : take_file(out, tw_output_compress(out, path, TW_PACK_USUAL));
}

int tw_output_open_here(struct tw_output *out, const char *path)
{
	int error = tw_output_fd(out, -1);
	return error ? error : take_file(out, tw_outfile_open_here(&out->file, path));
}

int tw_output_close(struct tw_output *out)
{
	tw_output_flush(out);
	if (out->press && !out->error && !tw_press_end(out->press) && !out->error)
		out->error = ENOMEM;
	int error = out->error;
	if (!error && out->own) {
		error = tw_outfile_keep(&out->file);
		out->own = false;
		out->fd = -1;
	} else if (!error && out->fd > STDERR_FILENO) {
		error = close(out->fd) < 0 ? errno : 0;
		out->fd = -1;
	}
	tw_output_discard(out);
	if (error) /* another thread may have met it */
		errno = error;
	return error;
}

void tw_put_double(struct tw_output *out, double value)
{
	char *p = tw_output_room(out, TW_DOUBLE_MAX);
	tw_output_took(out, (size_t)(tw_double_digits(p, value) - p));
}

void tw_put_u64(struct tw_output *out, uint64_t value)
{
	char *p = tw_output_room(out, TW_DIGITS_MAX);
	tw_output_took(out, (size_t)(tw_digits(p, value) - p));
}

void tw_put_task(struct tw_output *out, uint64_t id)
{
	char *p = tw_output_room(out, TW_DIGITS_MAX);
	tw_output_took(out, (size_t)(tw_task_digits(p, id) - p));
}

void tw_put_i64(struct tw_output *out, int64_t value)
{
	if (value < 0)
		tw_put_char(out, '-');
	tw_put_u64(out, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void tw_put_hex(struct tw_output *out, uint64_t value)
{
	char *p = tw_output_room(out, 18);
	unsigned digits = 1;
	while (digits < 16 && value >> (4 * digits))
		digits++;
	p[0] = '0';
	p[1] = 'x';
	for (unsigned i = 0; i < digits; i++)
		p[2 + i] = "0123456789abcdef"[(value >> (4 * (digits - 1 - i))) & 15];
	tw_output_took(out, 2 + digits);
}

static void put_formatted(struct tw_output *out, const char *format, va_list arguments)
{
	char line[1024];
	va_list again;
	va_copy(again, arguments);
	int n = vsnprintf(line, sizeof line, format, arguments);
	char *whole = n >= (int)sizeof line ? malloc((size_t)n + 1) : NULL;
	if (whole)
		vsnprintf(whole, (size_t)n + 1, format, again);
	va_end(again);
	if (n >= (int)sizeof line && !whole)
		out->error = ENOMEM;
	else if (n >= 0)
		tw_put(out, whole ? whole : line, (size_t)n);
	free(whole);
}

/* The decimal point of printf() is the locale's, which a program that uses the library may have chosen. */
void tw_putf(struct tw_output *out, const char *format, ...)
{
	bool has_point = strcmp(nl_langinfo(RADIXCHAR), ".") == 0;
	locale_t c = has_point ? (locale_t)0 : newlocale(LC_ALL_MASK, "C", (locale_t)0);
	locale_t own = c ? uselocale(c) : (locale_t)0;
	va_list arguments;
	va_start(arguments, format);
	put_formatted(out, format, arguments);
	va_end(arguments);
	if (!c)
		return;
	uselocale(own);
	freelocale(c);
}
