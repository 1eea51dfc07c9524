# convert of a log of the Visual Studio adaptor: numbers of lines are no instruction pointers
trackway convert "$DATA/tracelog/vs.log" --to tracelog --dialect d2
