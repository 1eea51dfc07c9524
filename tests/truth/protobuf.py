# protobuf.py - the fields of protobuf messages, read without any schema.
# SPDX-License-Identifier: Apache-2.0
"""Source: the protobuf document, "Encoding"."""
import struct


class Malformed(Exception):
    pass


def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise Malformed(f"varint at {at}")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(number, value) of each field in order: an int, or bytes."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == 0:
            value, at = varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(kind)
            if size is None:
                if kind != 2:
                    raise Malformed(f"field {number} of type {kind}")
                size, at = varint(data, at)
            if size > len(data) - at:
                raise Malformed(f"field {number} of {size} bytes")
            value, at = data[at:at + size], at + size
            if kind == 1:
                value = struct.unpack("<Q", value)[0]
        if number == 0:
            raise Malformed("field 0")
        yield number, value


def message(data):
    """The fields of a message by number: a list of values each."""
    found = {}
    for number, value in fields(data):
        found.setdefault(number, []).append(value)
    return found


def packed(data):
    """The varints of a packed field."""
    values, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def first(found, number, default=None):
    return found.get(number, [default])[0]
