# What is written after somebody else read the file is another version of it.
sh -c 'echo first > data'
cat data > copy1
sh -c 'echo second > data'
cat data > copy2
