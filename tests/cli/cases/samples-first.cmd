# speedscope and pprof open on samples
trackway convert "$DATA/tracelog/kinds.log" -o out.speedscope.json 2>/dev/null
trackway convert "$DATA/tracelog/kinds.log" -o out.pprof 2>/dev/null
"$PYTHON" - <<'END'
import gzip, json
told = json.load(open("out.speedscope.json"))
print(told["profiles"][told["activeProfileIndex"]]["name"])

def fields(data):
    at = 0
    def varint():
        nonlocal at
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 128:
                return value
    while at < len(data):
        key = varint()
        value = varint()
        if key & 7 == 2:
            at, value = at + value, data[at:at + value]
        yield key >> 3, value

all = list(fields(gzip.open("out.pprof").read()))
texts = [value.decode() for key, value in all if key == 6]
print([texts[value] for key, value in all if key == 14])
END
