# A file stays itself when it has no name any more.
exec 5<> data
rm data
echo text >&5
cat <&5
exec 5>&-
