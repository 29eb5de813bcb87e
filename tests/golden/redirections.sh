# The shell opens, the program writes; a program that is executed is an input.
echo input > in
cp /bin/cat ./tool
./tool < in > out
