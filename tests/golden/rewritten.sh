# What is written after another process read the file is another version of it.
sh -c 'echo first > data'
cat data > copy1
sh -c 'echo second > data'
cat data > copy2
