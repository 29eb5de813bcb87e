# SPDX-License-Identifier: MIT
"""talkers.py SEED: processes that talk in pairs through random kinds of sockets, with messages of random sizes.

Sockets of each pair are made by socketpair(2) or by a connection; datagrams are small enough to get through.
"""
import os
import random
import socket
import sys
import tempfile

KINDS = ("pair", "udp", "tcp", "tcp6", "unix")


def send(rng, sock, data):
    way = rng.randrange(4)
    if way == 0:
        sock.sendall(data)
    elif way == 1:
        os.write(sock.fileno(), data)
    elif way == 2:
        sock.sendmsg([data[:len(data) // 2], data[len(data) // 2:]])
    else:
        os.writev(sock.fileno(), [data])


def receive(rng, sock, n):
    while n > 0:
        way = rng.randrange(3)
        got = sock.recv(n) if way == 0 else os.read(sock.fileno(), n) if way == 1 else sock.recvmsg(n)[0]
        if not got:
            sys.exit(f"talkers.py: {n} bytes did not come")
        n -= len(got)


def talk(rng, sock, turns, first):
    """turns: sizes, of one side and the other in turn."""
    for i, n in enumerate(turns):
        if (i % 2 == 0) == first:
            send(rng, sock, b"x" * n)
        else:
            receive(rng, sock, n)


def listener(kind, directory):
    families = {"tcp": socket.AF_INET, "tcp6": socket.AF_INET6, "unix": socket.AF_UNIX}
    sock = socket.socket(families[kind])
    sock.bind({"tcp": ("127.0.0.1", 0), "tcp6": ("::1", 0), "unix": f"{directory}/{len(os.listdir(directory))}"}[kind])
    sock.listen()
    return sock


def two_sockets(rng, kind):
    if kind == "pair":
        return socket.socketpair(type=rng.choice([socket.SOCK_STREAM, socket.SOCK_SEQPACKET]))
    a, b = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    a.bind(("127.0.0.1", 0))
    b.connect(a.getsockname())
    a.connect(b.getsockname())
    return a, b


def child(function):
    pid = os.fork()
    if pid == 0:
        function()
        os._exit(0)
    return pid


def pair(rng, kind, turns, directory):
    """Two children that talk; their ids."""
    seeds = rng.randrange(1 << 30), rng.randrange(1 << 30)
    if kind in ("pair", "udp"):
        a, b = two_sockets(rng, kind)
        pids = [child(lambda: (b.close(), talk(random.Random(seeds[0]), a, turns, True))),
                child(lambda: (a.close(), talk(random.Random(seeds[1]), b, turns, False)))]
        a.close()
        b.close()
        return pids
    at = listener(kind, directory)

    def connect():
        to = at.getsockname()
        at.close()
        sock = socket.socket(at.family)
        sock.connect(to)
        talk(random.Random(seeds[0]), sock, turns, True)

    pids = [child(lambda: talk(random.Random(seeds[1]), at.accept()[0], turns, False)), child(connect)]
    at.close()
    return pids


def main():
    rng = random.Random(int(sys.argv[1]))
    with tempfile.TemporaryDirectory() as directory:
        pids = []
        for _ in range(rng.randrange(2, 7)):
            kind = rng.choice(KINDS)
            turns = [rng.randrange(1, 4000 if kind in ("pair", "udp") else 60000) for _ in range(rng.randrange(1, 9))]
            pids += pair(rng, kind, turns, directory)
            if rng.randrange(2):
                pids = [pid for pid in pids if os.waitpid(pid, 0)[1] != 0]
        if any([os.waitpid(pid, 0)[1] for pid in pids]):
            sys.exit("talkers.py: a process failed")


main()
