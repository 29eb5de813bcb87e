# SPDX-License-Identifier: MIT
"""Small workflows of which each way of recording has to make the same graph: a build, git, and pipes."""

BUILD = """
for i in 1 2 3; do printf 'int f%s(void) { return %s; }\\n' $i $i >f$i.c; done
printf '#include "all.h"\\nint main(void) { return f1() + f2() - 3; }\\n' >main.c
printf 'int f1(void);\\nint f2(void);\\nint f3(void);\\n' >all.h
printf 'prog: main.o f1.o f2.o f3.o\\n\\tgcc -o $@ $^\\nmain.o: all.h\\n%%.o: %%.c\\n\\tgcc -c -o $@ $<\\n' >Makefile
make && ./prog
"""
# git tries whether there are symbolic links: a file of a random name, removed, and a link of that name.  The link has the
# inode number of the file, and the kernel tells no generation with what stat(2) finds: the record takes it for the file.
KNOWN = ["--exclude", "path:*/.git/t??????"]
# git reads a file again if it was written in the same moment as the index, or renamed in another second: so the files are
# older, and the time of a rename does not count.
GIT = """
git init -q . && git config core.trustctime false && for i in 1 2 3; do echo $i >f$i; done && touch -t 202001010000 f? && git add . &&
git -c user.name=x -c user.email=x@y commit -qm one && git mv f1 f4 && git status >../status && git log -p >../log &&
git grep 2 >../grep
"""
PIPES = "seq 1 3000 >in; sort -r <in | tee copy | head -n 5 >out; wc -l <copy >count; cat out count >all; rm count"
DATES = {"GIT_AUTHOR_DATE": "1700000000 +0000", "GIT_COMMITTER_DATE": "1700000000 +0000"}
WORKFLOWS = {"make": ["sh", "-c", BUILD], "git": ["sh", "-c", GIT], "pipes": ["sh", "-c", PIPES]}
