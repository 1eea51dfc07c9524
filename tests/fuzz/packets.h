/* packets.h - what a fuzzer's input says to one side of the tracer's protocol: packets, some with a descriptor. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_PACKETS_H
#define FUZZ_PACKETS_H

#include <stddef.h>
#include <stdint.h>

/* A packet is two bytes, which connection and descriptor (bits 0-3, 4-7) and how long, and its text. What is behind the
 * last of them, which has the length 0, is the content of files. */
struct fuzz_packet {
	unsigned connection, descriptor;
	const uint8_t *text;
	size_t size;
};

enum { FUZZ_PACKETS_MOST = 32 };

/* Takes the packet at the front of *bytes. Returns 0 where there is none. */
int fuzz_packet(const uint8_t **bytes, size_t *size, struct fuzz_packet *packet);

/* Makes a descriptor by its number; -1: none. */
int fuzz_descriptor(unsigned kind, const uint8_t *content, size_t size);

/* Sends it as it is; the descriptor is closed. */
void fuzz_send(int socket, const struct fuzz_packet *packet, int descriptor);

#endif
