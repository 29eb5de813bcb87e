# A file that is written under another name is the file with the last name, also over an older one.
echo old > result
cat result > result.tmp
echo new >> result.tmp
mv -f result.tmp result
cat result > copy
