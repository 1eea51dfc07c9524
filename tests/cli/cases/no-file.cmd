# a file that does not exist: one line, status 2
trackway info nosuchfile.xray
