# stat: classes, modules, lines and threads of a log
for by in class module line thread whole-thread; do
	trackway stat --by $by "$DATA/tracelog/kinds.log"
done
