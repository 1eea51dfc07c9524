# merge: rows that are made before their time take a quarter of the memory, and what is beyond that is taken off the reorder window
"$PYTHON" - <<'END'
import struct
head, provider = [0x0016547846040010], [0x0000000000110010, 0x10033, 1, 2]

def write(name, words):
    open(name, "wb").write(b"".join(struct.pack("<Q", word) for word in words))

# Where tables are forgotten, rows are made at once: so they are of each chunk. One event comes late by so many others.
for late in (30000, 42000):
    words, count = list(head), 70000
    for i in range(count):
        words += provider if i % 1000 == 0 else []
        words += [0x8000800001000024, 10 * (i - late if i == count - 10 else i) + 10000000]
    write(f"late-{late}.fxt", words)
write("other.fxt", head + provider + [0x8000800001000024, 5])
END
for late in 30000 42000; do
	echo "$late"
	trackway merge --align none --memory 16M "late-$late.fxt" other.fxt -o both.fxt 2>&1 | grep -o 'fxt.late-record'
done
