"""clickhouse_native.py - a second reader of what `convert --to clickhouse` writes: a tar archive of blocks of the Native
format, by ClickHouse's documents ("Native Format", "LowCardinality Data Type"); it knows nothing of the writer."""
# SPDX-License-Identifier: Apache-2.0

import datetime
import io
import struct
import tarfile

NUMBERS = {"UInt8": "B", "UInt16": "H", "UInt32": "I", "UInt64": "Q", "Float64": "d", "Date": "H", "DateTime": "I"}


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        piece = self.data[self.at:self.at + size]
        assert len(piece) == size, "cut"
        self.at += size
        return piece

    def count(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def text(self):
        return self.take(self.count())

    def numbers(self, code, rows):
        return list(struct.unpack(f"<{rows}{code}", self.take(rows * struct.calcsize("<" + code))))


def low_cardinality(cursor, rows):
    version, flags, keys = cursor.numbers("Q", 3)
    assert version == 1 and flags & ~255 == 0x600, hex(flags)
    texts = [cursor.text() for _ in range(keys)]
    assert texts[0] == b""
    assert cursor.numbers("Q", 1) == [rows]
    return [texts[index] for index in cursor.numbers("BHIQ"[flags & 255], rows)]


def column(cursor, kind, rows):
    if kind in NUMBERS:
        return cursor.numbers(NUMBERS[kind], rows)
    if kind == "String":
        return [cursor.text() for _ in range(rows)]
    if kind == "LowCardinality(String)":
        return low_cardinality(cursor, rows)
    assert kind == "Array(String)", kind
    ends = cursor.numbers("Q", rows)
    texts = [cursor.text() for _ in range(ends[-1])]
    return [texts[start:end] for start, end in zip([0] + ends, ends)]


def block(data):
    """The rows of one block, each a dict; texts are bytes."""
    cursor = Cursor(data)
    columns, rows = cursor.count(), cursor.count()
    table = {}
    for _ in range(columns):
        name, kind = cursor.text().decode(), cursor.text().decode()
        table[name] = column(cursor, kind, rows)
    assert cursor.at == len(data), "bytes behind the block"
    return [dict(zip(table, row)) for row in zip(*table.values())]


def archive(data):
    """(name, bytes) of each entry; the last entry is the trace's."""
    with tarfile.open(fileobj=io.BytesIO(data), mode="r|") as tar:
        entries = [(entry.name, tar.extractfile(entry).read()) for entry in tar]
    assert entries[0][0] == "schema.sql" and entries[-1][0] == "trace/00000000.native"
    return entries


def tables(data):
    """The rows of all tables by name."""
    found = {}
    for name, body in archive(data)[1:]:
        table, number = name.split("/")
        rows = block(body)
        assert {row["block"] for row in rows} == {int(number.split(".")[0])}, name
        found.setdefault(table, []).extend(rows)
    return found


def day(number):
    return (datetime.date(1970, 1, 1) + datetime.timedelta(number)).isoformat()
