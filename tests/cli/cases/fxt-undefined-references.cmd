# a string or thread that is not registered is told of alike, wherever in a record it stands and whatever reads it
"${PYTHON:-python3}" - <<'PROGRAM'
import struct

def words(*numbers):
    return struct.pack(f"<{len(numbers)}Q", *numbers)

def event(kind, name, *more, thread=1, arguments=0, category=1):
    header = 4 | 2 + len(more) << 4 | kind << 16 | arguments << 20 | thread << 24 | category << 32 | name << 48
    return words(header, 10, *more)

start = words(0x0016547846040010, 1 | 2 << 4 | 1 << 16 | 1 << 20 | 1 << 52, 0x70, 1 | 2 << 4, 10**9)
start += words(2 | 2 << 4 | 1 << 16 | 1 << 32, 0x61, 3 | 3 << 4 | 1 << 16, 7, 8)
number, text = 1 | 1 << 4, 6 | 1 << 4  # arguments: a signed number, a text by reference
odd = {
    "instant": event(0, 9), "begin": event(2, 9), "complete": event(4, 9, 20), "counter": event(1, 9, number | 1 << 16, 3, arguments=1),
    "flow": event(8, 9, 3), "category": event(2, 1, category=9), "thread": event(2, 1, thread=9), "instant-thread": event(0, 1, thread=9),
    "argument": event(2, 1, number | 9 << 16, arguments=1), "instant-argument": event(0, 1, number | 9 << 16, arguments=1),
    "text": event(3, 1, text | 1 << 16 | 9 << 32, arguments=1), "async-text": event(5, 1, text | 1 << 16 | 9 << 32, 3, arguments=1),
    "wakeup": words(8 | 4 << 4 | 1 << 16 | 2 << 60, 10, 8, number | 9 << 16),
    "log": words(9 | 3 << 4 | 1 << 16 | 9 << 32, 10, 0x61), "none": event(0, 1),
}
for name, record in odd.items():
    # enough before and behind it that the fast loops are at work
    open(name + ".fxt", "wb").write(start + 100 * (event(2, 1) + event(3, 1)) + record + 100 * (event(2, 1) + event(3, 1)))
PROGRAM
for file in *.fxt; do
	for command in info stat stacks 'flame --folded' graph 'convert --to jsonl -o -' "stat --category '*'" 'stat --jobs 1'; do
		eval "trackway $command $file" >out 2>err
		echo "$? $(grep -o '\[.*\]$' err)"
	done | sort -u | sed "s/^/$file: /"
done
