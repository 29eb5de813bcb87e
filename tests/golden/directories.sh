# Paths follow a directory that is renamed.
mkdir old
echo x > old/file
mv old new
cat new/file > out
rm -r new
