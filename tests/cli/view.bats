# view.bats - the server of views: what it shows is what stat says, and nobody else is answered.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

# Begins to serve, and waits for the address.
begin_view() {
	trackway view --no-open "$@" <&0 >address 2>err 3>&- & # in the background the input is none otherwise
	view=$!
	for _ in $(seq 600); do
		[ ! -s address ] || return 0
		kill -0 "$view" 2>/dev/null || fail "$(cat err)"
		sleep 0.05
	done
	fail "no address"
}

end_view() {
	kill "$view"
	wait "$view"
}

teardown() {
	[ -z "${view:-}" ] || kill -9 "$view" 2>/dev/null || true
}

client() { # a script in Python, with the session of view_client.py as `page`
	PYTHONPATH=$TRACKWAY_SOURCE/tests/cli "$PYTHON" - "$@"
}

@test "view: names and totals are those of stat, in every format" {
	for file in "$DATA/fxt/oneshot_all.fxt" "$DATA/fxt/streaming.fxt" "$DATA/xray/v5.xray" "$DATA/xray/basic-v3.xray" \
		"$DATA/chrome/phases.json" "$DATA/chrome/overhang.json"; do
		trackway stat --json "$file" >stat
		begin_view "$file"
		client stat <<-'END'
			import json, sys, view_client
			page = view_client.Page(open("address").read().strip())
			trace = page.whole()
			said = {}
			for line in open(sys.argv[1], encoding="utf-8"):
			    row = json.loads(line)
			    said[row["name"] or ""] = (row["count"], row["total_ns"], row["self_ns"])
			asked = {row["name"]: tuple(int(row[key]) for key in ("count", "total", "self"))
			         for row in page.json("/api/stat")["functions"]}
			assert asked == said, (asked, said)
			# All of the picture, at a pixel a row and at the most: as many calls as there are.
			for width in (1, 16384):
			    rows = page.window(0, int(trace["end"]) + 1, width)
			    calls = sum(sum(row["count"]) for row in rows if row["kind"] == 0 and row["of"] in ("thread", "process"))
			    assert calls == sum(count for count, _, _ in said.values()), (width, calls, said)
		END
		end_view
	done
}

@test "view: counters of threads have the names of these" {
	begin_view "$DATA/tracelog/q5-thrcpu.log"
	client <<-'END'
		import view_client
		names = [track["name"] for track in view_client.Page(open("address").read().strip()).whole()["list"]]
		assert "thread CPU OS thread 100" in names and "thread CPU ?" in names, names
	END
	end_view
}

@test "view: tracks are in one order, from a file, a pipe and what is packed" {
	# Three threads, one behind the other, each with slices and a counter.
	"$PYTHON" - >threads.fxt <<-'END'
		import struct, sys
		def words(*numbers):
		    return struct.pack(f"<{len(numbers)}Q", *numbers)
		def string(number, text):
		    return words(2 | 2 << 4 | number << 16 | len(text) << 32) + text.ljust(8, b"\0")
		archive = bytearray(words(0x0016547846040010, 1 | 2 << 4, 10**9))
		archive += string(1, b"c") + string(2, b"f") + string(3, b"value")
		archive += b"".join(words(3 | 3 << 4 | thread << 16, 7, 100 + thread) for thread in (1, 2, 3))
		for thread in (3, 2, 1):
		    names = thread << 24 | 1 << 32 | 2 << 48
		    for ts in range(thread, 200000, 10):
		        archive += words(4 | 3 << 4 | 4 << 16 | names, ts, ts + 5)
		        if ts % 50 == thread:
		            archive += words(4 | 4 << 4 | 1 << 16 | 1 << 20 | names, ts, 1 | 1 << 4 | 3 << 16 | ts << 32, thread)
		sys.stdout.buffer.write(archive)
	END
	gzip -k threads.fxt
	trackway check threads.fxt
	for input in threads.fxt threads.fxt.gz; do
		for pipe in no yes; do
			if [ "$pipe" = yes ]; then
				mkfifo pipe
				cat "$input" >pipe &
				begin_view --reorder-window 64K - <pipe
				rm pipe
			else
				begin_view --reorder-window 64K "$input"
			fi
			client >>tracks <<-'END'
				import view_client
				trace = view_client.Page(open("address").read().strip()).whole()
				print([(track["name"], track["slices"], track["lanes"]) for track in trace["list"]])
			END
			end_view
		done
	done
	[ "$(wc -l <tracks)" -eq 4 ]
	[ "$(sort -u tracks | wc -l)" -eq 1 ] || fail "$(cat tracks)"
}

@test "view: the page is told the options that decide what is shown" {
	begin_view --thread 1,main --from-time 1.5us --thread 2 --to-time 1s --no-demangle --jobs 1 --port 0 "$DATA/chrome/phases.json"
	client <<-'END'
		import view_client
		trace = view_client.Page(open("address").read().strip()).whole()
		assert (trace["from_time"], trace["to_time"]) == ("1500", "1000000000"), trace
		assert [(option["name"], option["value"]) for option in trace["options"]] == [("thread", "1,main"), ("from-time", "1.5us"),
		    ("thread", "2"), ("to-time", "1s"), ("no-demangle", None)], trace["options"]
	END
	end_view
}

@test "view: a file that is no trace is told, and left out of several" {
	: >empty.json
	echo none >text.json
	begin_view empty.json "$DATA/chrome/phases.json" text.json --process 1
	[ "$(grep -c 'left out: ' err)" -eq 2 ]
	grep -q 'left out: empty.json: the file is empty' err
	client <<-'END'
		import view_client
		page = view_client.Page(open("address").read().strip())
		names = [file["path"].rsplit("/", 1)[-1] for file in page.whole()["files"]]
		assert names == ["phases.json"], names
	END
	kill "$view"
	wait "$view" && fail "exit status 0" || [ "$?" -eq 1 ]
	run trackway view --no-open empty.json text.json
	[ "$status" -eq 2 ]
	[[ "$output" = *"none of the files is a trace" ]]
}

@test "view: a path that is no UTF-8 is told byte by byte, and SQL has the file by these" {
	for file in $'x\xff.json' $'y\xc3.json'; do
		echo '[{"ph":"X","name":"f","pid":1,"tid":2,"ts":0,"dur":100}]' >"$file"
	done
	begin_view --category $'c\xfe' $'x\xff.json' $'y\xc3.json'
	client <<-'END'
		import os, urllib.parse, view_client
		page = view_client.Page(open("address").read().strip())
		trace = page.whole()
		assert [os.fsencode(file["path"]) for file in trace["files"]] == [b"x\xff.json", b"y\xc3.json"], trace["files"]
		assert os.fsencode(trace["options"][0]["value"]) == b"c\xfe", trace["options"]
		query = "select count(*) from slice where file = cast(x'78ff2e6a736f6e' as text)"
		assert page.json("/api/sql?" + urllib.parse.urlencode({"query": query}))["rows"] == [[1]]
	END
	end_view
}

@test "view: with too few files that can be open there is no server, and it is told why" {
	for most in 7 8 9 10 12 16; do
		run "$PYTHON" -c 'import os, resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, 2 * (int(sys.argv[1]),)); os.execvp(sys.argv[2], sys.argv[2:])' \
			"$most" timeout 30 trackway view --no-open "$DATA/chrome/phases.json"
		[ "$status" -eq 2 ] || fail "$most: $status: $output"
		[[ "$output" == "trackway: error: "*"Too many open files"* ]] || fail "$most: $output"
		[ "${#lines[@]}" -eq 1 ] || fail "$most: $output"
	done
}

@test "view: how much of a packed file or a pipe is copied is told before" {
	gzip -c "$DATA/fxt/mg_a.fxt" >a.fxt.gz
	zstd -q "$DATA/fxt/mg_b.fxt" -o b.fxt.zst
	zstd -q -c <"$DATA/fxt/mg_b.fxt" | cat >c.fxt.zst
	TMPDIR=$PWD begin_view a.fxt.gz b.fxt.zst c.fxt.zst "$DATA/fxt/mg_a.fxt"
	end_view
	diff - err <<-END
		trackway: a.fxt.gz: is unpacked to a file in $PWD: 320 bytes or more, by what it says
		trackway: b.fxt.zst: is unpacked to a file in $PWD: 320 bytes or more, by what it says
		trackway: c.fxt.zst: is unpacked to a file in $PWD: how large it becomes is not known
	END
	# The last bytes of one that is cut off are no size.
	gzip -c "$DATA/fxt/oneshot_all.fxt" | head -c 1500 >cut.fxt.gz
	run env TMPDIR="$PWD" trackway view --export page.html cut.fxt.gz
	[ "$status" = 1 ]
	[[ $output = *"cut.fxt.gz: is unpacked to a file in $PWD: how large it becomes is not known"* ]] || fail "$output"
	cat "$DATA/fxt/mg_a.fxt" | TMPDIR=$PWD timeout 60 trackway view --export page.html - 2>err
	grep -qx "trackway: <stdin>: a pipe is copied to a file in $PWD: how large it becomes is not known" err
}

@test "view: nobody without the cookie, from another page, or by another name is answered" {
	begin_view "$DATA/chrome/phases.json"
	client <<-'END'
		import http.client, socket, urllib.parse, view_client
		address = open("address").read().strip()
		page = view_client.Page(address)
		port = page.port
		def status(path, method="GET", **headers):
		    link = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
		    link.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
		    answer = link.getresponse()
		    body = answer.read()
		    assert answer.status < 400 or b"Browser" not in body
		    return answer.status
		cookie = page.cookie
		assert status("/api/trace", Cookie=cookie) == 200
		assert status("/api/trace") == 403
		assert status("/app.js") == 403
		assert status("/?token=0123456789abcdef0123456789abcdef") == 403
		assert status("/api/trace?" + urllib.parse.urlsplit(address).query) == 403
		assert status("/api/trace", Cookie=cookie[:-1] + "x") == 403
		assert status("/api/trace", Cookie=cookie, Host="rebound.example") == 403
		assert status("/api/trace", Cookie=cookie, Host=f"rebound.example:{port}") == 403
		assert status("/api/trace", Cookie=cookie, Origin="http://rebound.example") == 403
		assert status("/api/trace", Cookie=cookie, Origin="null") == 403
		assert status("/api/trace", Cookie=cookie, Sec_Fetch_Site="cross-site") == 403
		for method in "POST", "PUT", "DELETE", "OPTIONS":
		    assert status("/api/trace", method, Cookie=cookie) == 405, method
		for path in "/../etc/passwd", "/%2e%2e/etc/passwd", "/app.js/../x", "//app.js", "/api/trace/", "/app.js%00":
		    assert status(path, Cookie=cookie) in (400, 404), path
		assert status("/" + "x" * 100000, Cookie=cookie) in (400, 404, 414, 431)
		# Cut off in the middle, and not at all HTTP; and a hundred who say nothing.
		for text in b"GET /api/tra", b"\x16\x03\x01\x00", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n1":
		    with socket.create_connection(("127.0.0.1", port)) as link:
		        link.sendall(text)
		idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
		for link in idle[::2]:
		    link.sendall(b"GET /api/tra")
		assert status("/api/progress", Cookie=cookie) == 200
		for link in idle:
		    link.close()
		assert page.json("/api/progress")["state"] == "done"
		# It listens on this machine alone.
		for family, other in ((socket.AF_INET, "127.0.0.2"), (socket.AF_INET6, "::1")):
		    try:
		        socket.create_connection((other, port), timeout=5).close()
		    except OSError:
		        continue
		    raise AssertionError(other)
	END
	end_view
}

@test "view: two headers where one decides, a body, a zero byte and a blank before a colon are refused at once" {
	begin_view "$DATA/chrome/phases.json"
	client <<-'END'
		import view_client
		page = view_client.Page(open("address").read().strip())
		line = b"GET /api/progress HTTP/1.1"
		assert page.raw(line) == page.raw(line, b"Content-Length: 0") == page.raw(line, b"Accept: a", b"Accept: b") == 200
		for headers in ((b"Host: rebound.example",), (b"hOST: rebound.example",), (b"Cookie: a=b",),
		                (b"Sec-Fetch-Site: none", b"Sec-Fetch-Site: cross-site"), (b"Content-Length: 4",),
		                (b"Transfer-Encoding: chunked",), (b"Content-Length: 4", b"Transfer-Encoding: chunked"),
		                (b"Content-Length: 4", b"Expect: 100-continue")):
		    assert page.raw(line, *headers) == 400, headers
		    assert page.raw(line.replace(b"GET", b"HEAD"), *headers) == 400, headers
		for address in b"/api/progress\0", b"/api/progress\0x", b"/api/progress?a=\0b", b"/\0?a=b", b"/api/progress\0HTTP/1.1\0":
		    assert page.raw(b"GET " + address + b" HTTP/1.1") == 400, address
		# Also at the end of a value, and in the last header; and no header goes on in another line.
		for header in b"Accept: a\0b", b"Accept: \0", b"X: a\r\n b", b"Content-Length : 5", b"Content-Length\t: 5", b"X : 1":
		    assert page.raw(line, header) == page.raw(line, header, b"Accept: b") == 400, header
		assert page.raw(line, b"Accept: ", b"X:", b"Y:  a  ") == 200
		# However many parameters there are.
		assert page.raw(b"GET /api/progress?" + 60000 * b"&" + b" HTTP/1.1") == 200
		assert page.raw(b"GET /api/progress?" + 3000 * b"a&" + b" HTTP/1.1") == 400
		assert page.raw(b"GET /api/search?text=a&limit=1&starts=0 HTTP/1.1") == 200
	END
	end_view
}

@test "view: who says nothing, or a byte at a time, keeps no page out, however many they are" {
	begin_view "$DATA/chrome/phases.json"
	client <<-'END'
		import socket, time, view_client
		page = view_client.Page(open("address").read().strip())
		def strangers(count):
		    links = []
		    for _ in range(count):
		        link = socket.socket()
		        link.setblocking(False) # who is not taken at once does not keep the rest waiting
		        link.connect_ex(("127.0.0.1", page.port))
		        links.append(link)
		    return links
		def say(links, text):
		    for link in links:
		        try:
		            link.send(text)
		        except OSError: # it was closed
		            pass
		begun = time.monotonic()
		for count in 128, 200:
		    for text in b"", b"GET /api/tra", b"GET /api/trace HTTP/1.1\r\n\r\n":
		        links = strangers(count)
		        time.sleep(0.2)
		        for i in range(len(text)):
		            say(links, text[i:i + 1])
		        assert page.raw(b"GET /api/progress HTTP/1.1") == 200
		        assert view_client.Page(open("address").read().strip()).json("/api/progress")
		        for link in links:
		            link.close()
		assert time.monotonic() - begun < 30 # they were closed after 60 s
		# A page that was there before, and rests, goes on with its connection; who has said nothing does not.
		link, = strangers(1)
		port = page.link.sock.getsockname()[1]
		link.settimeout(30)
		assert link.recv(1) == b""
		assert page.json("/api/progress") and page.link.sock.getsockname()[1] == port
	END
	end_view
}

@test "view: a question whose connection is closed is ended, and keeps nobody else waiting" {
	begin_view "$DATA/chrome/phases.json"
	client <<-'END'
		import socket, time, urllib.parse, view_client
		page = view_client.Page(open("address").read().strip())
		page.whole()
		endless = urllib.parse.quote("with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n")
		def ask(name):
		    link = socket.create_connection(("127.0.0.1", page.port))
		    link.sendall((f"GET /api/sql?question={name}&query={endless} HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\n"
		                  f"Cookie: {page.cookie}\r\n\r\n").encode())
		    return link
		def wait_for(name, found):
		    while page.json(f"/api/question?question={name}")["found"] != found:
		        time.sleep(0.02)
		links = [ask(f"a-{i}") for i in range(6)]
		for i in range(6):
		    wait_for(f"a-{i}", True)
		answer, body = page.get("/api/sql?query=select+1")
		assert answer.status == 503 and body.count(b"sql for ") == 6, (answer.status, body)
		# The others have two places of their own.
		assert page.json("/api/stat")["functions"]
		assert page.json("/api/question?question=a-0")["asked"] == "sql"
		assert page.json("/api/trace")["state"] == "done"
		for i, link in enumerate(links):
		    link.close()
		    wait_for(f"a-{i}", False)
		link = ask("b")
		wait_for("b", True)
		assert page.json("/api/cancel?question=b") == {"found": True}
		assert b" 409 " in link.recv(100)
		assert page.json("/api/sql?query=select+count(*)+from+slice")["rows"][0][0] > 0
		link = ask("c")
		wait_for("c", True)
	END
	end_view
}

@test "view: a statement in SQL may do what it may in trackway sql, and is told the same" {
	begin_view "$DATA/chrome/phases.json"
	client "$TRACKWAY" "$DATA/chrome/phases.json" <<-'END'
		import json, subprocess, sys, urllib.parse, view_client
		page = view_client.Page(open("address").read().strip())
		tool, trace = sys.argv[1:]
		for text in ("create temp table a (x)", "create temp view v as select 1", "savepoint s", "begin ;", "reindex ;", "end ;",
		             "create table a (x); select 1", "create temp table a as select 7 as x; select x from a", "attach 'x' as y",
		             "vacuum ;", "analyze ;", "pragma user_version", "pragma journal_mode = off", "drop table slice",
		             "delete from slice", "insert into slice values (1)", "update slice set name = 1",
		             "create virtual table x using fts5(y)", "alter table slice rename to x", "select load_extension('x')",
		             "select 1 + 1 as two"):
		    said = subprocess.run([tool, "sql", "--json", trace, text], capture_output=True, text=True)
		    answer, body = page.get("/api/sql?query=" + urllib.parse.quote(text))
		    body = json.loads(body)
		    if said.returncode:
		        words = said.stderr.strip().partition("error: query:")[2].partition(": ")[2]
		        assert answer.status == 400 and words and body["error"] == words, (text, said.stderr, body)
		    else:
		        rows = [list(json.loads(line).values()) for line in said.stdout.splitlines()]
		        assert answer.status == 200 and body["rows"] == rows, (text, said.stdout, body)
	END
	end_view
}

@test "view: headers of the page let it load nothing from elsewhere" {
	begin_view "$DATA/chrome/phases.json"
	client <<-'END'
		import re
		import view_client
		page = view_client.Page(open("address").read().strip())
		answer, body = page.get("/")
		policy = answer.getheader("Content-Security-Policy")
		assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy, policy
		assert b"//" not in body.replace(b"http://www.w3.org/", b""), body
		for name, value in (("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
		                    ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin")):
		    assert page.get("/api/trace")[0].getheader(name) == value, name
		assert re.fullmatch(r"answer;dur=\d+\.\d{3}, cpu;dur=\d+\.\d{3}", page.get("/api/trace")[0].getheader("Server-Timing"))
		assert "HttpOnly" in page.set_cookie and "SameSite=Strict" in page.set_cookie
	END
	end_view
}

@test "view: names full of markup and control characters are text, and damage is told" {
	printf '%s' '[{"ph":"X","name":"</script><b>\u0000\u001b[31m\"","pid":1,"tid":1,"ts":0,"dur":5},' \
		'{"ph":"M","name":"process_name","pid":1,"args":{"name":"<img src=x onerror=alert(1)>"}},' \
		'{"ph":"X","name":"cut' >markup.json
	begin_view markup.json
	client <<-'END'
		import view_client
		page = view_client.Page(open("address").read().strip())
		trace = page.whole()
		assert trace["list"][0]["name"] == "<img src=x onerror=alert(1)>", trace
		row, = page.window(0, 5000, 10)
		assert row["names"][0].startswith("</script><b>"), row
		assert trace["findings"] and trace["findings"][0]["rule"].startswith("chrome."), trace
	END
	end_view
}

@test "view: several files are on one clock; a port that is taken, and no trace, are told" {
	begin_view "$DATA/fxt/mg_a.fxt" "$DATA/fxt/mg_b.fxt"
	client <<-'END'
		import view_client
		page = view_client.Page(open("address").read().strip())
		files = page.whole()["files"]
		assert [int(file["size"]) > 0 for file in files] == [True, True], files
	END
	port=$(sed 's/.*:\([0-9]*\).*/\1/' address)
	run timeout 60 trackway view --no-open --port "$port" "$DATA/chrome/phases.json"
	[ "$status" = 2 ]
	[[ $output == *"no server on 127.0.0.1: Address already in use"* ]] || fail "$output"
	end_view
	: >empty
	run timeout 60 trackway view --no-open empty
	[ "$status" = 2 ]
	run timeout 60 trackway view --no-open --port 65536 "$DATA/chrome/phases.json"
	[ "$status" = 2 ]
}

@test "view: a page that --export writes has all slices and stat's numbers, loads nothing, and no name breaks it" {
	printf '%s' '[{"ph":"X","name":"</script><b>\u0000\u001b[31m\"\u2028<!--","pid":1,"tid":1,"ts":0,"dur":5},' \
		'{"ph":"X","name":"a&b","pid":1,"tid":1,"ts":5,"dur":0},{"ph":"X","name":"a&b","pid":1,"tid":1,"ts":5,"dur":0},' \
		'{"ph":"C","name":"c","pid":1,"ts":1,"args":{"x":7}}]' >markup.json
	for file in markup.json "$DATA/fxt/oneshot_all.fxt" "$DATA/xray/v5.xray"; do
		run timeout 60 trackway view --export out.html "$file"
		[ "$status" = 0 ]
		[[ $output == "trackway: out.html: "*"iB" ]] || fail "$output"
		trackway stat --json "$file" >stat
		client stat <<-'END'
			import base64, html.parser, json, struct, sys, view_client
			class Parser(html.parser.HTMLParser):
			    def __init__(self):
			        super().__init__()
			        self.tags, self.texts = [], []
			    def handle_starttag(self, tag, attributes):
			        self.tags.append((tag, dict(attributes)))
			    def handle_data(self, text):
			        self.texts.append((self.tags[-1] if self.tags else None, text))
			text = open("out.html", encoding="utf-8").read()
			parser = Parser()
			parser.feed(text)
			scripts = [attributes for tag, attributes in parser.tags if tag == "script"]
			assert scripts == [{"type": "application/json", "id": "trackway-data"}, {}], scripts
			assert all(attributes.get("src", attributes.get("href", "#"))[:1] in "#d" for _, attributes in parser.tags)
			policy = [each["content"] for tag, each in parser.tags if each.get("http-equiv") == "Content-Security-Policy"]
			assert len(policy) == 1 and policy[0].startswith("default-src 'none'; "), policy
			inside = "".join(each for (tag, attributes), each in parser.texts[1:] if attributes.get("id") == "trackway-data")
			assert not set("<>&\u2028\u2029") & set(inside)
			data = json.loads(inside)
			said = {}
			for line in open(sys.argv[1], encoding="utf-8"):
			    row = json.loads(line)
			    said[row["name"] or ""] = (row["count"], row["total_ns"], row["self_ns"])
			asked = {row["name"]: tuple(int(row[key]) for key in ("count", "total", "self"))
			         for row in data["stat"]["functions"]}
			assert asked == said, (asked, said)
			assert data["version"] == 1 and data["trace"]["state"] == "done" and data["flame"].startswith('{"id":0,')
			body = base64.b64decode(data["window"], validate=True)
			_, _, _, _, rows, first, names, _ = view_client.HEAD.unpack_from(body)
			assert first == 0
			at, calls = view_client.HEAD.size, 0
			for _ in range(rows):
			    row, at = view_client.Page.row(body, at)
			    if row["kind"] == 0 and data["trace"]["list"][row["track"]]["kind"] in ("thread", "process"):
			        assert set(row["count"]) == {1}, row
			        calls += len(row["count"])
			assert calls == sum(count for count, _, _ in said.values()), (calls, said)
		END
	done
	head -c 4096 "$DATA/fxt/oneshot_all.fxt" >cut.fxt
	run timeout 60 trackway view --export out.html cut.fxt
	[ "$status" = 1 ]
	[[ $output == *"damaged: the page tells 1 error"* ]] || fail "$output"
	grep -q '"finding_count":"1"' out.html
	# Whether there is a place for it is known before anything is read; what cannot be written leaves nothing.
	run timeout 60 trackway view --export nowhere/out.html markup.json
	[ "$status" = 2 ]
	[ "$output" = 'trackway: error: nowhere/out.html: No such file or directory' ] || fail "$output"
	run timeout 60 trackway view --export /dev/full markup.json
	[ "$status" = 2 ]
	[[ $output == 'trackway: /dev/full: '*'iB'$'\n''trackway: error: /dev/full: the page cannot be written: No space left on device' ]] || fail "$output"
	mkdir small
	run bash -c 'trap "" XFSZ; ulimit -f 8; "$TRACKWAY" view --export small/out.html markup.json'
	[ "$status" = 2 ]
	[[ $output == 'trackway: small/out.html: '*'iB'$'\n''trackway: error: small/out.html: the page cannot be written: File too large' ]] || fail "$output"
	[ -z "$(ls -A small)" ]
	# A page without anything is told to be one.
	run trackway view --export out.html --thread 99 markup.json
	[ "$status" = 0 ]
	[[ $output == 'trackway: no event passes the filters: --thread 99'$'\n''trackway: out.html: '* ]] || fail "$output"
	# A whole address has its state behind "#".
	trackway view --export out.html --state 'http://127.0.0.1:8080/#tab=functions' markup.json
	grep -q '"state":"tab=functions"' out.html
	# Times that are none move nothing.
	trackway view --export out.html --state 'starts=%zz' markup.json
	run env TMPDIR="$PWD/nowhere" "$TRACKWAY" view --export out.html "$DATA/fxt/flow3.fxt"
	[ "$status" = 2 ]
	[ "$output" = "trackway: error: $PWD/nowhere: no room for a temporary file: No such file or directory" ] || fail "$output"
	# What the end of the reading adds has no room: that is no trace without slices.
	run bash -c 'trap "" XFSZ; ulimit -f 0; "$TRACKWAY" view --export /dev/null "$DATA/fxt/flow3.fxt"'
	[ "$status" = 2 ]
	[[ $output == *"trackway: error: /dev/null has not all: "*': the index cannot be written: File too large' ]] || fail "$output"
	# Who looks at the terminal is told, too.
	(exec > >(cat >served) 2>&1; trap "" XFSZ; ulimit -f 0; exec "$TRACKWAY" view --no-open "$DATA/fxt/flow3.fxt" 3>&-) &
	view=$!
	for _ in {1..600}; do
		grep -q error served 2>/dev/null && break
		sleep 0.05
	done
	end_view
	grep -q '^trackway: error: not all can be shown: .*: the index cannot be written: File too large$' served || fail "$(cat served)"
	run trackway view --export markup.json markup.json
	[ "$status" = 2 ]
	[[ $output == *"is the output too"* ]] || fail "$output"
}

@test "view: several files have their own formats and starts; what becomes of a file is told" {
	cp "$DATA/fxt/mg_a.fxt" a.fxt
	cp "$DATA/chrome/phases.json" b.json
	begin_view --offset b.json=5ms a.fxt b.json
	client <<-'END'
		import os, view_client
		page = view_client.Page(open("address").read().strip())
		def changes():
		    return [file["changed"] for file in page.json("/api/trace")["files"]]
		files = page.whole()["files"]
		assert [file["format"] for file in files] == ["fxt", "chrome"], files
		assert [file["start"] for file in files] == ["0", "5000000"], files
		assert changes() == [None, None]
		with open("a.fxt", "ab") as file:
		    file.write(bytes(8))
		os.truncate("b.json", 9)
		assert changes() == ["grown", "truncated"], changes()
		os.unlink("a.fxt")
		os.rename("b.json", "c.json")
		with open("b.json", "wb") as file:
		    file.write(b"[]")
		assert changes() == ["gone", "replaced"], changes()
		for path in "sql?query=select+1", "stat", "flame", "diff", "flows?from=0&to=9", "details?track=1&lane=0&depth=0&item=0":
		    answer, body = page.get("/api/" + path)
		    assert answer.status == 400 and b"a.fxt is gone: the picture is of what it was" in body, (path, body)
		assert page.window(0, 5000000, 100)
	END
	end_view
	run timeout 60 trackway view --no-open --offset none=5ms b.json c.json
	[ "$status" = 2 ]
	[[ $output == *"--offset"*"names none of the files"* ]] || fail "$output"
	run timeout 60 trackway view --no-open --offset b.json=5ms b.json
	[ "$status" = 2 ]
	[[ $output == *"--offset: there is one file"* ]] || fail "$output"
	for files in b.json "b.json c.json b.json"; do
		# shellcheck disable=SC2086
		run timeout 60 trackway view --no-open --diff $files
		[ "$status" = 2 ]
		[[ $output == *"--diff compares two files"* ]] || fail "$output"
	done
	# The time of a file that is left out is nobody else's.
	: >empty.json
	cp "$DATA/chrome/phases.json" d.json
	cp "$DATA/chrome/overhang.json" e.json
	begin_view --offset empty.json=7ms --offset e.json=3ms empty.json d.json e.json
	client <<-'END'
		import view_client
		page = view_client.Page(open("address").read().strip())
		files = page.whole()["files"]
		assert [(file["path"], file["start"]) for file in files] == [("d.json", "0"), ("e.json", "3000000")], files
	END
	kill "$view"
	wait "$view" && fail "exit status 0" || [ "$?" -eq 1 ]
}

@test "view: of several files each answer is of the file that the slice is of" {
	for name in a b; do
		printf '%s' '[{"ph":"X","name":"'$name'","pid":1,"tid":1,"ts":0,"dur":5,"args":{"of":"'$name'"}},' \
			'{"ph":"s","name":"f","cat":"c","id":7,"pid":1,"tid":1,"ts":1},' \
			'{"ph":"f","bp":"e","name":"f","cat":"c","id":7,"pid":1,"tid":1,"ts":3},' \
			'{"ph":"s","name":"next","cat":"c","id":8,"pid":1,"tid":1,"ts":2},' \
			'{"ph":"f","name":"next","cat":"c","id":8,"pid":1,"tid":1,"ts":50},' \
			'{"ph":"X","name":"n","pid":1,"tid":1,"ts":100,"dur":5}]' >$name.json
	done
	begin_view --offset b.json=1ms a.json b.json
	client <<-'END'
		import view_client
		page = view_client.Page(open("address").read().strip())
		of = {}
		for track in page.whole()["list"]:
		    if track["kind"] == "thread":
		        place = f"track={track['id']}&lane=0&depth=0&item=0"
		        name = page.json(f"/api/slice?{place}")["name"]
		        of[name] = [each["value"] for each in page.json(f"/api/details?{place}")["arguments"]]
		assert of == {"a": ["a"], "b": ["b"]}, of
		# Without "bp" an arrow ends at the next slice, at 100 us.
		ends = [tuple(flow[end]["time"] for end in ("from", "to")) + (flow["to"]["item"],)
		        for flow in page.json("/api/flows?from=0&to=2000000")["flows"]]
		assert sorted(ends) == [("1000", "3000", "0"), ("1001000", "1003000", "0"),
		                        ("1002000", "1100000", "1"), ("2000", "100000", "1")], ends
		for window, names in (("from=0&to=1000000", [["a"], ["n"]]), ("from=1000000&to=2000000", [["b"], ["n"]])):
		    assert page.json(f"/api/sql?query=select+name+from+slice&{window}")["rows"] == names, window
	END
	end_view
}

@test "view: a log from a pipe has the names of its programs" {
	main=$(nm "$TRACKWAY" | sed -n 's/^0*\([0-9a-f]*\) T main$/\1/p')
	"$PYTHON" "$TRACKWAY_SOURCE/tests/cli/hostile.py" objects log "$TRACKWAY" "$main"
	mkfifo pipe
	cat log >pipe &
	begin_view - <pipe
	client <<-'END'
		import view_client
		page = view_client.Page(open("address").read().strip())
		page.whole()
		names = [row["name"] for row in page.json("/api/stat")["functions"]]
		assert set(names) == {"main"}, names[:9]
	END
	end_view
}

@test "view: stretches that are lost are told where they are" {
	head -c 4096 "$DATA/fxt/oneshot_all.fxt" >cut.fxt
	begin_view cut.fxt
	client <<-'END'
		import view_client
		page = view_client.Page(open("address").read().strip())
		trace = page.whole()
		lost, = trace["lost"]
		# The record at 0x708 is the first that is cut: what is left of 4096 bytes.
		assert (trace["lost_count"], lost["offset"], lost["bytes"]) == ("1", "1800", "2296"), lost
		assert lost["track"] is None and int(lost["from"]) <= int(lost["to"]), lost
		# What is wrong there is told at the same time.
		assert [finding["time"] for finding in trace["findings"]] == [lost["from"]], trace
	END
	end_view
}

@test "view: in the background of a script, where Ctrl-C is ignored, SIGTERM ends it" {
	trap '' INT
	begin_view "$DATA/chrome/phases.json"
	trap - INT
	kill -INT "$view"
	client <<-'END'
		import view_client
		assert view_client.Page(open("address").read().strip()).json("/api/progress")
	END
	end_view
}

# Waits for what a thread writes.
appears() { # file
	for _ in $(seq 600); do
		[ ! -e "$1" ] || return 0
		sleep 0.05
	done
	fail "no $1: $(cat err)"
}

@test "view --index: the second time nothing is read, and a file that is another one is" {
	cp "$DATA/fxt/oneshot_all.fxt" t.fxt
	ask() { # the state of the first answer, and what is on the picture in the end
		client <<-'END'
			import json, view_client
			page = view_client.Page(open("address").read().strip())
			first = page.json("/api/progress")["state"]
			trace = page.whole()
			rows = page.window(0, int(trace["end"]) + 1, 1000)
			print(first if first == "done" else "reading")
			shown = {key: trace[key] for key in ("unit", "wall", "files", "list", "end", "events", "findings", "lost")}
			print(json.dumps([shown, rows], sort_keys=True))
		END
	}
	begin_view t.fxt
	ask | tail -n 1 >plain
	end_view
	[ ! -e t.fxt.twview ]
	begin_view --index t.fxt
	appears t.fxt.twview
	ask | tail -n 1 | cmp - plain
	end_view
	[ ! -s err ] || fail "$(<err)"
	cp t.fxt.twview first
	begin_view --index t.fxt
	ask >asked
	end_view
	[ "$(head -n 1 asked)" = done ]
	tail -n 1 asked | cmp - plain
	[ ! -s err ] || fail "$(<err)"
	cmp first t.fxt.twview
	cp "$DATA/fxt/streaming.fxt" t.fxt
	begin_view --index t.fxt
	client <<-'END'
		import view_client
		page = view_client.Page(open("address").read().strip())
		assert page.whole()["files"][0]["findings"] == "0"
	END
	end_view
	[ "$(<err)" = 'trackway: t.fxt.twview: not used: it is of another file, or of what the file was before' ] || fail "$(<err)"
	fails cmp -s first t.fxt.twview
	# A compressed file has one, and is not unpacked; a directory is one trace.
	gzip -k t.fxt
	"$PYTHON" "$TRACKWAY_SOURCE/tests/truth/xtrace.py" --threads 2 --turns 40 set >facts.json
	for trace in t.fxt.gz set; do
		begin_view --index "$trace"
		appears "$trace.twview"
		end_view
		begin_view --index "$trace"
		[ "$(ask | head -n 1)" = done ]
		end_view
		[ ! -s err ] || fail "$(<err)"
	done
}

@test "view --index: who hears that all has been read may kill the server" {
	"$PYTHON" - <<-'END'
		import array
		words = array.array("Q", [0x0016547846040010, 1 | 2 << 4, 10**9, 2 | 2 << 4 | 1 << 16 | 4 << 32, 0x6B726F77,
		                          3 | 3 << 4 | 1 << 16, 1, 1])
		for time in range(0, 2 * 10**8, 1000):
		    for kind in 2, 3: # a slice begins, and ends
		        words.extend((4 | 2 << 4 | kind << 16 | 1 << 24 | 1 << 48, time + kind))
		with open("t.fxt", "wb") as out:
		    words.tofile(out)
	END
	begin_view --index t.fxt
	client "$view" <<-'END'
		import os, sys, view_client
		page = view_client.Page(open("address").read().strip())
		while page.json("/api/progress")["state"] == "reading":
		    pass
		os.kill(int(sys.argv[1]), 9)
	END
	[ -s t.fxt.twview ]
	begin_view --index t.fxt
	end_view
	[ ! -s err ] || fail "$(<err)"
}

# As those of `sql`, which are looked at by the same rules.
@test "view --index: nothing is replaced that is no index, and wrong use is told" {
	cp "$DATA/fxt/oneshot_all.fxt" t.fxt
	refused() { # what is told
		begin_view --index t.fxt
		client <<-'END'
			import view_client
			view_client.Page(open("address").read().strip()).whole()
		END
		end_view
		grep -qxF "trackway: t.fxt.twview: $1" err || fail "$(<err)"
	}
	for precious in precious TWVIEW ''; do
		printf '%s' "$precious" >t.fxt.twview
		refused 'not kept: what has that name is no index, and stays'
		[ "$(<t.fxt.twview)" = "$precious" ]
	done
	rm t.fxt.twview
	ln -s target t.fxt.twview
	refused 'not kept: it is a symbolic link'
	[ ! -e target ]
	rm t.fxt.twview
	mkfifo t.fxt.twview
	refused 'not kept: it is no regular file'
	rm t.fxt.twview
	chmod 777 .
	refused 'not kept: other users may change its directory'
	chmod 755 .
	wrong() { # words options
		local words=$1
		shift
		run timeout 20 trackway view --no-open --index "$@"
		[ "$status" = 2 ]
		[[ "$output" == *"$words"* ]] || fail "$output"
	}
	wrong 'one file' t.fxt "$DATA/fxt/streaming.fxt"
	wrong 'standard input' - <t.fxt
	wrong 'no filter' --from-time 0 t.fxt
	wrong 'no filter' --function 'a*' t.fxt
	wrong '--export' --export out.html t.fxt
	[ ! -e out.html ]
	wrong 'empty' /dev/null
	[ "$(ls | xargs)" = 'address err t.fxt' ] || fail "$(ls)"
}

# An archive of 19 MB. Put in order in memory, its rows take the server to 75 MB; with the window of an archive that is not known
# to be late, to 55 MB. Meson has malloc() fill its blocks: memory that is never touched would count.
@test "view: an archive written thread by thread is put in order by way of a file, in little memory" {
	! grep -qa __asan_init "$TRACKWAY" || skip "the sanitizer's memory counts too"
	"$PYTHON" - <<-'END'
		import array
		words = array.array("Q", [0x0016547846040010, 1 | 2 << 4, 10**9, 2 | 2 << 4 | 1 << 16 | 4 << 32, 0x6B726F77])
		for thread in range(1, 5):
		    words.extend((3 | 3 << 4 | thread << 16, 1, thread))
		for thread in range(1, 5):
		    for time in range(0, 10**8, 1000):
		        for kind in 5, 7: # an operation begins, and ends
		            words.extend((4 | 3 << 4 | kind << 16 | thread << 24 | 1 << 48, time + kind, thread))
		with open("late.fxt", "wb") as out:
		    words.tofile(out)
	END
	unset MALLOC_PERTURB_
	begin_view late.fxt
	client "$view" <<-'END'
		import re, sys, view_client
		trace = view_client.Page(open("address").read().strip()).whole()
		assert sum(int(track["slices"]) for track in trace["list"]) == 400000
		most = int(re.search(r"VmHWM:\s*(\d+) kB", open(f"/proc/{sys.argv[1]}/status").read())[1])
		assert most < 58 << 10, most
	END
	end_view
}
