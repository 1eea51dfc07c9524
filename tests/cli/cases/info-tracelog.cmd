# What is in a log of every kind of TraceLog record
trackway info "$DATA/tracelog/kinds.log"
