# without a magic number an archive is known even where its first record is longer than what is looked at first
log() { # MESSAGE of 304 bytes, on thread 2 of process 1: 42 words
	printf '\251\2\60\1\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0%304s' "$1"
}
{ log one; log two; } > app.fxt
trackway info app.fxt | grep -E '^(format|records)'
trackway log app.fxt | sed 's/  */ /g'
trackway log - < app.fxt | wc -l
# one that is cut there is not taken for one
{ log one; log two | head -c 40; } | trackway info - 2>/dev/null
