# a command that does not exist is wrong use
trackway nosuchcommand
