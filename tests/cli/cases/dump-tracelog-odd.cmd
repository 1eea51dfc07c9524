# What is no UTF-8 stands in quotes, whether the machine's char is signed or not
trackway dump "$DATA/tracelog/odd.log" 2>/dev/null
