# merge: integers stay what they are, signed or not, at the ends of 32 and of 64 bits
"$PYTHON" - <<'END'
import struct
int64 = [0, -1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, -2**31, -2**31 - 1, -2**32, 2**63 - 1, -2**63]
uint64 = [0, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63, 2**64 - 1]
words = [0x0016547846040010, 0x0000000000110010, 0x10033, 1, 2, 2 | 2 << 4 | 1 << 16 | 1 << 32, ord("n")]
for i, value in enumerate(int64 + uint64):
    kind = 3 if i < len(int64) else 4
    words += [4 | 4 << 4 | 1 << 20 | 1 << 24 | 1 << 48, 10 * i, kind | 2 << 4 | 1 << 16, value % 2**64]
open("a.fxt", "wb").write(b"".join(struct.pack("<Q", word) for word in words))
END
trackway merge a.fxt a.fxt -o both.fxt
trackway dump --json both.fxt | grep -o '"type":"[a-z0-9]*","value":[-0-9]*' | uniq -c | sed 's/^ *//'
