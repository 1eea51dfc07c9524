# Lines of TraceLog that are odd or wrong: the rest is there
trackway dump --json "$DATA/tracelog/odd.log"
