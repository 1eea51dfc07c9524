# dump of one thread's calls of one function
trackway dump --thread 102 --function '#3' "$DATA/xray/v5.xray"
