# the version, one line
trackway --version
