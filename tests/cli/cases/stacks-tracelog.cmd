# stacks: rebuilt from what changed since the sample before
trackway stacks --weight wall "$DATA/tracelog/kinds.log"
