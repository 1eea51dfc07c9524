# alloc --by module: a class that functions of two modules allocate has a row in each
{
	echo 'mod ldf 0xB6B00000 0xB4000000 0xB6C00000 0x00000000 "/lib/One.dll"'
	echo 'mod ldf 0xB6B00100 0xB4100000 0xB6C00100 0x00000000 "/lib/Two.dll"'
	echo 'cls nam 0x00000000 "Thing"'
	echo 'fun inf 0x00000002 0xB6E00000 0x00000000 0xB6B00000 0x06000001 0xB2000000:0x80'
	echo 'fun nam 0x00000002 "One::make" "void" "()"'
	echo 'fun inf 0x00000003 0xB6E00100 0x00000000 0xB6B00100 0x06000001 0xB2000100:0x80'
	echo 'fun nam 0x00000003 "Two::make" "void" "()"'
	echo 'thr crt 0xB6A01000 0x00000000'
	# One alone: 2 objects of 20 bytes; Two, called by One: 3 of 90; One alone again: 1 of 8.
	echo 'sam str 0x00000000 10 1 0:0 0x2'
	echo 'sam mem 0x00000000 10 0x0:2:20'
	echo 'sam str 0x00000000 20 1 1:1 0x3'
	echo 'sam mem 0x00000000 20 0x0:3:90'
	echo 'sam str 0x00000000 30 1 1:2'
	echo 'sam mem 0x00000000 30 0x0:1:8'
} >two.log
# Two: 90 bytes, 3 objects. One: 20 + 8 bytes, 2 + 1 objects.
trackway alloc --by module --csv two.log
