# SPDX-License-Identifier: MIT
"""The scripts of programs.py: what is done on both sides, each in a directory of its own.

What a script prints, and what it leaves (but for what .ignored lists, one pattern a line), must not
depend on time and place.
"""

GIT = r"""
printf '%s\n' '*.git/*' '*.git' > .ignored
export GIT_AUTHOR_DATE='2020-01-01 00:00 +0000' GIT_COMMITTER_DATE='2020-01-01 00:00 +0000'
cat > .gitconfig <<END
[user]
	name = Me
	email = me@example.org
[init]
	defaultBranch = main
[advice]
	detachedHead = false
[gc]
	auto = 0
[safe]
	directory = *
END
git init -q repo
python3 - <<'END' | git -C repo fast-import --quiet
for n in range(300):
    text = f"line of commit {n}\n" * (n % 37 + 1)
    print(f"commit refs/heads/main\ncommitter Me <me@example.org> {1500000000 + n} +0000")
    print(f"data 9\ncommit {n % 10}\n", end="")
    print(f"M 100644 inline dir{n % 7}/file{n % 41}\ndata {len(text)}\n{text}")
END
cd repo
git reset -q --hard
git rev-parse HEAD 'HEAD^{tree}'
git log --oneline | wc -l
git status --porcelain
git checkout -q -b side HEAD~5
echo changed >> dir1/file1; mkdir new; echo new > new/file; ln -s file new/link; chmod +x new/file
git add -A; git commit -q -m side
git mv dir2 moved; git commit -q -m moved
git checkout -q main; git merge -q -m merged side
git ls-files -s | sha256sum
git stash list; echo x >> new/file; git stash -q; git diff --stat; git stash pop -q; git diff --stat
git checkout -q -- .
git worktree add -q ../tree side; git -C ../tree status --porcelain; git worktree list | wc -l
cd ..
git clone -q repo copy; git clone -q --no-local repo copy2; git clone -q --bare --no-hardlinks repo bare.git
git -C copy rev-parse HEAD; git -C copy2 rev-parse HEAD; git -C bare.git rev-parse HEAD
git -C repo fsck --full --strict --no-progress
git -C repo -c pack.threads=1 gc -q --prune=now
git -C repo fsck --full --strict --no-progress
git -C repo count-objects
git -C copy commit -q --allow-empty -m more; git -C copy push -q ../bare.git main; git -C copy2 pull -q ../bare.git main
git -C copy2 log --oneline | wc -l
git -C repo archive HEAD | sha256sum
git -C repo clean -ndx; git -C repo status --porcelain
"""

WAL = r"""
printf '%s\n' 'db*' > .ignored
cat > client.py <<'END'
import sqlite3, sys
db = sqlite3.connect("db", timeout=100, isolation_level=None)
db.execute("PRAGMA synchronous = NORMAL")
for i in range(60):
    db.execute("BEGIN IMMEDIATE")
    db.execute("UPDATE counter SET n = n + 1")
    db.execute("INSERT INTO log VALUES (?, ?, ?)", (int(sys.argv[1]), i, "x" * (i * 50)))
    db.execute("COMMIT" if i % 10 else "ROLLBACK")
    if i % 17 == 0:
        assert db.execute("SELECT count(*) FROM log").fetchone()[0] == \
            db.execute("SELECT n FROM counter").fetchone()[0] or True
END
python3 -c '
import sqlite3
db = sqlite3.connect("db")
print(db.execute("PRAGMA journal_mode = WAL").fetchone())
db.executescript("CREATE TABLE counter (n); INSERT INTO counter VALUES (0);"
                 "CREATE TABLE log (client, i, text, PRIMARY KEY (client, i));")
'
for i in 1 2 3 4 5; do python3 client.py $i & done
wait
cat > look.py <<'END'
import sqlite3
db = sqlite3.connect("db")
print(db.execute("PRAGMA integrity_check").fetchall(), db.execute("SELECT n FROM counter").fetchall())
print(db.execute("SELECT client, count(*), sum(length(text)) FROM log GROUP BY client").fetchall())
END
python3 look.py
python3 -c '
import sqlite3
db = sqlite3.connect("db", isolation_level=None)
print(db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall())
db.execute("VACUUM")
print(db.execute("PRAGMA journal_mode = DELETE").fetchone())
'
python3 look.py
"""

BUILD = r"""
mkdir src
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    cat > src/part$i.c <<END
#include "parts.h"
#include <stdio.h>
static const char text$i[] = "part $i";
int part$i(int n) { printf("%s %d\n", text$i, n); return n * $i; }
END
    echo "int part$i(int);" >> src/parts.h
done
cat > src/main.c <<'END'
#include "parts.h"
int main(void) { return part1(1) + part2(2) + part12(3) == 41 ? 0 : 1; }
END
cat > Makefile <<'END'
CFLAGS = -O1 -g -ffile-prefix-map=$(CURDIR)=. -Wall -Werror -fPIC
objects = $(patsubst %.c,%.o,$(wildcard src/part*.c))
all: static dynamic whole.o
	./static && LD_LIBRARY_PATH=. ./dynamic
static: src/main.o libparts.a
	$(CC) -o $@ src/main.o -L. -Wl,-Bstatic -lparts -Wl,-Bdynamic
dynamic: src/main.o libparts.so
	$(CC) -o $@ src/main.o -L. -lparts
libparts.a: $(objects)
	$(AR) rcsD $@ $^
libparts.so: $(objects)
	$(CC) -shared -o $@ $^
whole.o: $(objects)
	$(LD) -r -o $@ $^
%.d: %.c
	$(CC) -MM -MT $(@:.d=.o) -o $@ $<
-include $(objects:.o=.d)
clean:
	rm -f src/*.o src/*.d *.o *.a *.so static dynamic
END
make -s -j4 2>&1 | sort
make -s -j4 all | sort
nm libparts.a | grep -c ' T '
sleep 0.05; touch src/part3.c
make -q static || echo to be made again
make -s -j4 | sort
strip -o stripped dynamic; objcopy --only-keep-debug dynamic debug; ranlib libparts.a
sha256sum static dynamic whole.o libparts.a libparts.so stripped debug src/*.o
make -s clean; ls src | wc -l
gcc -flto -O2 -o lto src/*.c && ./lto | wc -l; rm lto
"""

FILES = r"""
mkdir -p a/b/c; for i in $(seq 60); do echo "content $i" > a/b/file$i; done
ln a/b/file1 a/hard; ln -s b/file2 a/soft; ln -s /nowhere a/dangling; mkfifo a/fifo
chmod 751 a/b; chmod 4755 a/b/file3; chmod 1777 a/b/c
touch -d '2001-02-03 04:05:06.123456789' a/b/file4; touch -d '1960-01-01' a/b/file5
setfattr -n user.name -v value a/b/file6; setfacl -m u:7:rw,g:8:r a/b/file7; setfacl -d -m u:7:rwx a/b/c
truncate -s 3M a/sparse; echo end >> a/sparse
touch -d '2010-01-01' a/b a/b/c a
cp -a a copy; diff -r --no-dereference a/b copy/b && echo same
getfacl -R -n copy 2>/dev/null | sha256sum; getfattr -P -R -h -d copy | sha256sum
stat -c '%n %a %h %s' copy/b/* copy/* | sha256sum; stat -c '%n %y' copy copy/b copy/b/c copy/b/file4 copy/b/file5
du -k --apparent-size copy/sparse
test "$(stat -c %b copy/sparse)" -lt 100 && echo sparse
tar --sort=name --acls --xattrs -cf a.tar a; mkdir out; tar -C out --acls --xattrs -xpf a.tar
tar -df a.tar; tar -C out -df a.tar; rm a.tar
find a -depth -print0 | sort -z | cpio -0o --quiet -H newc > a.cpio 2>/dev/null; mkdir cpio; (cd cpio; cpio -idm --quiet < ../a.cpio); ls -A cpio/a; rm a.cpio
zip -qry a.zip a -x a/fifo a/sparse; mkdir zip; unzip -q a.zip -d zip; diff -r --no-dereference a/b zip/a/b && echo same zip; unzip -tq a.zip; rm a.zip
mv copy moved; mv -n moved/b/file8 moved/b/file9; mv -f moved/b/file8 moved/b/file9; ls moved/b | wc -l
install -D -m 640 a/b/file1 inst/dir/file; ln -sfn dir inst/link; realpath --relative-to=. inst/link
find a -newer a/b/file4 -name 'file?' | sort; find a -type l -o -type p | sort; find a -links 2 -type f -o -perm -4000 | sort
find a/b -name 'file1*' -delete -print | wc -l; find out -size +1M -o -empty | sort
rename_test() { for f in a/b/file2?; do mv "$f" "$f.x"; done; ls a/b/*.x | wc -l; }; rename_test
rm -r out zip cpio; ls
chmod -R u+w,go-rwx moved; chown -R $(id -u):$(id -g) moved; stat -c %a moved/b/file4
"""

TEXT = r"""
cat > script <<'END'
#!/bin/bash
echo "by a script: $0 $#" | sed 's|.*/||'
exec 3<> both; echo one >&3; cat <&3; exec 3>&-
END
chmod +x script; ./script a b; bash ./script; . ./script 2>&1 | tail -n 1
cat > here <<END
$(echo expanded) $((6 * 7))
END
diff <(sort here) <(sort -r here | sort) && echo same; cat < here | tee one two > three; cmp one three
set -C; echo x > here 2>/dev/null || echo clobbered not; set +C; echo y >| here; cat here
seq 20000 > numbers; sort -T . -S 100k -R numbers | sort -n -T . -S 100k | cmp - numbers && echo sorted
sed -i 's/^1/I/' numbers; sed -i.bak -e 1d numbers; wc -l numbers numbers.bak; head -n 2 numbers; tail -n 1 numbers
tail -c +50000 numbers | md5sum; split -n 3 numbers part.; cat part.* | cmp - numbers && echo split; csplit -sz -f cs. numbers 100 200; wc -l cs.*
gzip -k numbers; zcat numbers.gz | cmp - numbers && rm numbers.gz; xz -k -T1 numbers && xz -dc numbers.xz | cmp - numbers && rm numbers.xz
cp numbers old; sed -i '500s/.*/patched/' numbers; diff -u --label a --label b old numbers > p || true; patch -s old < p; cmp old numbers && echo patched; rm p
(flock -n 9 && echo locked; (flock -n 8 || echo busy) 8< lock) 9> lock; flock lock echo free
(for i in $(seq 200); do echo "$i one"; done >> log & for i in $(seq 200); do echo "$i two"; done >> log & wait); sort log | uniq -c | awk '$1 != 1' ; wc -l < log; rm log
mkfifo pipe; (cat pipe > from.pipe &) ; seq 1000 > pipe; while [ "$(wc -l < from.pipe)" -lt 1000 ]; do sleep 0.05; done; md5sum from.pipe
perl -e 'open F, "+>", "perl" or die; print F "abc\n" x 1000; seek F, 3, 0; read F, $x, 4; print length $x, "\n"; truncate F, 10; print -s "perl", "\n"; opendir D, "."; @n = grep !/^\./, readdir D; print scalar(@n), "\n"; for (sort glob "cs.*") { print "$_ ", -M $_ < 1, "\n" } unlink "perl" or die; utime 5, 6, "here"; print((stat "here")[9], "\n")'
perl -MSDBM_File -MFcntl -e 'tie %h, "SDBM_File", "dbm", O_RDWR | O_CREAT, 0644 or die; $h{$_} = $_ * 2 for 1..2000; untie %h; tie %h, "SDBM_File", "dbm", O_RDONLY, 0; print scalar(keys %h), " $h{77}\n"'
rm -f dbm.*
python3 - <<'END'
import dbm.dumb, json, mmap, os, pathlib, pickle, shelve, shutil, tempfile
with dbm.dumb.open("shelf", "c") as d:
    for i in range(100): d[str(i)] = "v" * i
with dbm.dumb.open("shelf") as d: print(len(d), len(d["99"]))
for p in pathlib.Path(".").glob("shelf*"): p.unlink()
with tempfile.NamedTemporaryFile(dir=".") as f, tempfile.TemporaryFile(dir=".") as g:
    f.write(b"x" * 100000); f.flush(); f.seek(0); shutil.copyfileobj(f, g); print(g.tell(), os.fstat(g.fileno()).st_nlink)
with open("numbers", "r+b") as f, mmap.mmap(f.fileno(), 0) as m: print(m.find(b"patched"), len(m)); m[:5] = b"START"
shutil.copytree(".", "tree", symlinks=True, ignore=shutil.ignore_patterns("pipe", "tree")); print(len(os.listdir("tree"))); shutil.rmtree("tree")
END
head -c 5 numbers; echo
dd if=numbers of=dd bs=4096 count=10 skip=2 status=none; dd if=dd of=dd bs=100 seek=3 count=1 conv=notrunc status=none; dd if=/dev/zero of=dd bs=4k count=2 oflag=direct,append conv=notrunc status=none; dd if=dd iflag=direct,fullblock bs=64k status=none | md5sum; dd if=dd of=dd2 bs=7 conv=sync,fsync status=none; md5sum dd dd2
"""

PACKAGE = r"""
mkdir -p p/DEBIAN p/usr/share/doc/p p/etc
printf 'Package: p\nVersion: 1\nArchitecture: all\nMaintainer: Me <me@example.org>\nDescription: p\n' > p/DEBIAN/control
echo /etc/conf > p/DEBIAN/conffiles; echo conf > p/etc/conf; seq 1000 > p/usr/share/doc/p/text; ln -s text p/usr/share/doc/p/link
find p -exec touch -h -d 2020-01-01 {} +
SOURCE_DATE_EPOCH=1577836800 dpkg-deb -b --root-owner-group -Zxz p p.deb > /dev/null; sha256sum p.deb
dpkg-deb -x p.deb out; dpkg-deb -e p.deb out/control; dpkg-deb -c p.deb | awk '{print $1, $2, $3, $6, $7, $8}'; dpkg-deb -I p.deb | sha256sum
diff -r --no-dereference p/usr out/usr && echo same
"""

# A program follows what others do: all is done by clients of the same side.
INOTIFY = r"""
printf '%s\n' events said > .ignored
mkdir d; touch d/old
inotifywait -m -e create,modify,attrib,close_write,moved_from,moved_to,delete,open --format '%e %f' -o events d 2> said &
while ! grep -qs established said; do sleep 0.05; done
echo one > d/f; cat d/f > /dev/null; echo two >> d/f; chmod 600 d/f; mv d/f d/g; ln d/g d/h; rm d/g; mkdir d/sub; rmdir d/sub
touch d/old; python3 -c 'import os; os.truncate("d/old", 100); os.setxattr("d/old", "user.a", b"b")'; mv d/old out; touch d/end
while ! grep -qs "CREATE end" events; do sleep 0.05; done
sleep 0.2; kill %1; wait 2>/dev/null || true
uniq events # two alike in a row may be told as one
: > seen; (tail -n +1 --pid=$$ -s 0.1 -F d/grows 2>/dev/null > seen & echo $! > tail.pid); for i in 1 2 3 4 5; do echo line $i >> d/grows; done
while [ "$(wc -l < seen)" -lt 5 ]; do sleep 0.05; done; kill $(cat tail.pid); rm tail.pid; cat seen
"""

# Two processes and one mapping: each turn one writes, the other answers.
MAPPED = r"""
cat > both.py <<'END'
import mmap, os, sys
me, turns = int(sys.argv[1]), 300
fd = os.open("shared", os.O_RDWR)
m = mmap.mmap(fd, 8192)
for turn in range(turns):
    while m[0] != (2 * turn + me) & 255:
        os.sched_yield()
    at = 100 + (turn * 13) % 8000
    m[at] = (m[at] + turn + me) & 255
    m[0] = (2 * turn + me + 1) & 255
m.flush()
END
truncate -s 8192 shared; python3 both.py 0 & python3 both.py 1; wait
md5sum shared
"""

IMAGE = r"""
printf '%s\n' image > .ignored
truncate -s 32M image; mkfs.ext4 -q -F -U 00000000-0000-0000-0000-000000000001 image; mkdir at
unshare -m --propagation private sh -euc '
    mount -o loop image at; cp -a /usr/include/linux at/; ln at/linux/fs.h at/hard; diff -r /usr/include/linux at/linux && echo same
    umount at; mount -o loop,ro image at; diff -r /usr/include/linux at/linux && echo same; umount at
'
e2fsck -fn image > said 2>&1 && echo sound; rm said
"""

NAMESPACES = r"""
mkdir from to new root; echo x > from/f
unshare -m --propagation private sh -euc '
    mount --bind from to; cat to/f; echo y > to/g; mount -t tmpfs none new; echo z > new/h; cat new/h; mount --move new from; cat from/h; umount from; cat from/f
    umount to; ls to; mount -o bind,ro from to; touch to/x 2>/dev/null || echo read-only'
ls from
for d in bin lib lib64 usr proc; do mkdir root/$d; done
unshare -m --propagation private sh -euc 'for d in bin lib lib64 usr; do mount --rbind /$d root/$d; done; chroot root /bin/sh -c "cd /; ls; echo in > f; cat f"'
cat root/f
"""

VENV = r"""
printf '%s\n' env .cache .rustup > .ignored
python3 -m venv env
env/bin/pip --version | cut -d' ' -f1,2; env/bin/pip --disable-pip-version-check list --format=freeze
python3 - <<'END'
import base64, hashlib, zipfile
files = {"own/__init__.py": "def f(): return 42\ndef main(): print(f())\n",
         "own-1.0.dist-info/entry_points.txt": "[console_scripts]\nown = own:main\n",
         "own-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: own\nVersion: 1.0\n",
         "own-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
record = "".join(f"{n},sha256={base64.urlsafe_b64encode(hashlib.sha256(t.encode()).digest()).rstrip(b'=').decode()},{len(t)}\n" for n, t in files.items())
files["own-1.0.dist-info/RECORD"] = record + "own-1.0.dist-info/RECORD,,\n"
with zipfile.ZipFile("own-1.0-py3-none-any.whl", "w") as z:
    for n, t in files.items(): z.writestr(zipfile.ZipInfo(n), t)
END
env/bin/pip --disable-pip-version-check install -q --no-index --no-deps ./own-1.0-py3-none-any.whl
env/bin/own; env/bin/python -c 'import own, sys; print(own.f(), sys.prefix.rsplit("/")[-1])'
env/bin/pip check; env/bin/pip uninstall -qy own; env/bin/python -m compileall -q env/lib; find env -name __pycache__ | wc -l
"""

POSTGRES = r"""
printf '%s\n' db 'db/*' log run > .ignored
export PATH=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1):$PATH PGDATA=$PWD/db PGUSER=me PGHOST=$RUN
initdb -k -A trust -U me --locale=C -E UTF8 > run; grep -c ok run
cat >> db/postgresql.conf <<END
listen_addresses = ''
unix_socket_directories = '$RUN'
shared_buffers = 2MB
max_wal_size = 32MB
END
pg_ctl -s -w -l log start
createdb bench; pgbench -i -q -s 1 bench 2> run; pgbench -n -c 4 -j 2 -t $TURNS bench > run; grep -c "actually processed" run
check() {
    psql -At bench -c "SELECT (SELECT sum(abalance) FROM pgbench_accounts) = (SELECT sum(delta) FROM pgbench_history), (SELECT sum(bbalance) FROM pgbench_branches) = (SELECT sum(tbalance) FROM pgbench_tellers), (SELECT count(*) FROM pgbench_history), (SELECT count(*) FROM pgbench_accounts)"
}
check
psql -qAt bench -c "CREATE EXTENSION amcheck; CREATE TABLE t AS SELECT g, repeat('x', g % 900) AS x FROM generate_series(1, 5000) g; CREATE INDEX ON t (x, g); DELETE FROM t WHERE g % 3 = 0; CHECKPOINT"
pg_amcheck --heapallindexed bench && echo sound
pgbench -n -c 3 -t $TURNS bench > run; pg_ctl -s -m immediate stop
pg_ctl -s -w -l log start; grep -c 'redo done' log; check; psql -At bench -c 'SELECT count(*), md5(string_agg(x, g::text ORDER BY g)) FROM t'
psql -qAt bench -c 'VACUUM FULL t'; pg_amcheck --heapallindexed bench && echo sound
pg_dump bench -t t | grep -v '^\(--\|\\\)' | md5sum
pg_ctl -s -m fast stop
pg_checksums --check | grep -i 'bad'
"""
