# Two names, one file; a symbolic link is another.
echo x > a
ln a b
ln -s a c
cat b c > /dev/null
rm a
cat b > out
