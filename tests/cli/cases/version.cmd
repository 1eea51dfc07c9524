# the version, and what the build has
trackway --version
