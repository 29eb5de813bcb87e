# SPDX-License-Identifier: MIT
"""channels.py NAME: processes that talk through channels which are used in turn, or by calls that only look like reads and writes.

Prints the role and the id of each process.  FLOWS says what flows: scenario -> {(writer, reader): bytes, None: not known}.
"""
import ctypes
import os
import socket
import sys
import tempfile
import time

FLOWS = {
    "fifo": {("w0", "r0"): 1000, ("w1", "r1"): 2000, ("w2", "r2"): 3000},
    "fifo_kept": {("w0", "r0"): None, ("w1", "r0"): None, ("w0", "r1"): None, ("w1", "r1"): None},
    "late": {("w0", "r0"): None, ("w0", "r1"): None, ("w1", "r1"): None},
    "udp": {("w0", "r0"): 100, ("w1", "r1"): 200},
    "unix_datagram": {("w0", "r0"): 100, ("w1", "r1"): 200},
    "abstract": {("w0", "r0"): 70},
    "abstract_message": {("w0", "r0"): 70},
    "several_messages": {("w0", "r0"): 30, ("w0", "r1"): 50},
    "answers": {("client", "server"): 10, ("server", "other"): None, ("client", "other"): None},
    "peek": {("w0", "r0"): 100},
    "cut": {("w0", "r0"): 10},
    "tee": {("w0", "tee"): 100, ("tee", "r0"): 100},
    "vmsplice": {("w0", "r0"): 100},
    "received_at_once": {("w0", "r0"): 80},
    "passed": {("gives", "r0"): 1, ("w0", "r0"): 90},
    "executed": {("w0", "r0"): 40, ("r0", "r1"): 40},
    "readers": {("w0", "r0"): 10, ("w0", "r1"): 20, ("w0", "r2"): 30},
    "own": {("w0", "r0"): 5},
    "substitution": {("w0", "r0"): 30, ("w1", "r0"): 50},
    "closed_early": {("w0", "r0"): 10},
    "broken": {},
    "rounds": {("asks", "answers"): 5, ("answers", "asks"): 5},
    "one_round": {("asks", "answers"): 1, ("answers", "asks"): 1},
}
LIBC = ctypes.CDLL(None, use_errno=True)


class Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


class Message(ctypes.Structure):
    """struct mmsghdr"""
    _fields_ = [("name", ctypes.c_void_p), ("name_length", ctypes.c_uint), ("parts", ctypes.c_void_p), ("n", ctypes.c_size_t),
                ("control", ctypes.c_void_p), ("control_length", ctypes.c_size_t), ("flags", ctypes.c_uint64), ("moved", ctypes.c_uint64)]


def start(role, function):
    pid = os.fork()
    if pid == 0:
        function()
        os._exit(0)
    print(role, pid)
    return pid


def end(*pids):
    for pid in pids:
        if os.waitpid(pid, 0)[1]:
            sys.exit("channels.py: a process failed")


def both(writer, reader, n):
    end(start(f"r{n}", reader), start(f"w{n}", writer))


def read_all(fd):
    while os.read(fd, 65536):
        pass


def write_to(path, n):
    os.write(os.open(path, os.O_WRONLY), bytes(n))


def moved(n, wanted):
    if n != wanted:
        sys.exit(f"channels.py: {n} bytes instead of {wanted}: {os.strerror(ctypes.get_errno())}")


def fifo(directory):
    """Used three times; all ends are closed between."""
    path = f"{directory}/ff"
    os.mkfifo(path)
    for n in range(3):
        both(lambda n=n: write_to(path, 1000 * (n + 1)), lambda: read_all(os.open(path, os.O_RDONLY)), n)


def fifo_kept(directory):
    """Two writers and two readers, and the FIFO is never without an end."""
    path = f"{directory}/ff"
    os.mkfifo(path)
    keep = os.open(path, os.O_RDWR)
    w0, w1 = (start(role, lambda n=n: write_to(path, n)) for role, n in (("w0", 600), ("w1", 500)))
    end(w0, w1)
    for role in ("r0", "r1"):
        end(start(role, lambda: moved(len(os.read(os.open(path, os.O_RDONLY), 550)), 550)))
    os.close(keep)


def late(directory):
    """One reader has ended before the second writer writes."""
    path = f"{directory}/ff"
    os.mkfifo(path)
    keep = os.open(path, os.O_RDWR)
    end(start("w0", lambda: write_to(path, 100)))
    end(start("r0", lambda: os.read(os.open(path, os.O_RDONLY), 60)))
    end(start("w1", lambda: write_to(path, 100)))
    end(start("r1", lambda: os.read(os.open(path, os.O_RDONLY), 140)))
    os.close(keep)


def take(sock, n):
    moved(len(sock.recv(1000)), n)


def datagrams(family, address, n, number):
    def receive():
        sock = socket.socket(family, socket.SOCK_DGRAM)
        sock.bind(address)
        os.write(there[1], b"x")
        take(sock, n)
    there = os.pipe()
    reader = start(f"r{number}", receive)
    os.read(there[0], 1)
    end(start(f"w{number}", lambda: socket.socket(family, socket.SOCK_DGRAM).sendto(bytes(n), address)), reader)


def udp(_):
    """A port that is bound again."""
    with socket.socket(type=socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        address = sock.getsockname()
    datagrams(socket.AF_INET, address, 100, 0)
    datagrams(socket.AF_INET, address, 200, 1)


def unix_datagram(directory):
    datagrams(socket.AF_UNIX, f"{directory}/s", 100, 0)
    os.unlink(f"{directory}/s")
    datagrams(socket.AF_UNIX, f"{directory}/s", 200, 1)


def abstract(directory):
    datagrams(socket.AF_UNIX, f"\0{directory}", 70, 0)


def between(writer, reader, sockets):
    """Each has its socket alone."""
    r = start("r0", lambda: (sockets[0].close(), reader(sockets[1])))
    w = start("w0", lambda: (sockets[1].close(), writer(sockets[0])))
    for sock in sockets:
        sock.close()
    end(r, w)


def bound(address, family=socket.AF_UNIX):
    sock = socket.socket(family, socket.SOCK_DGRAM)
    sock.bind(address)
    return sock


def abstract_message(directory):
    name = f"\0{directory}"
    between(lambda s: s.sendmsg([bytes(70)], [], 0, name), lambda s: moved(len(s.recvmsg(100)[0]), 70),
            (socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM), bound(name)))


def several_messages(directory):
    """sendmmsg(2) to two receivers."""
    paths = [f"{directory}/{n}" for n in range(2)]
    readers = [bound(path) for path in paths]
    names = [ctypes.create_string_buffer(b"\1\0" + path.encode() + b"\0") for path in paths]
    data = ctypes.create_string_buffer(100)
    parts = [Part(ctypes.addressof(data), n) for n in (30, 50)]
    messages = (Message * 2)(*(Message(ctypes.addressof(name), len(name.raw) - 1, ctypes.addressof(part), 1)
                               for name, part in zip(names, parts)))

    def write():
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        moved(LIBC.sendmmsg(sock.fileno(), messages, 2, 0), 2)
    end(start("w0", write), *(start(f"r{n}", lambda n=n: take(readers[n], (30, 50)[n])) for n in range(2)))


def answers(_):
    """The server receives from the client, but answers to another process; the client sends to that one, too."""
    server, other = (bound(("127.0.0.1", 0), socket.AF_INET) for _ in range(2))
    to_server, to_other = server.getsockname(), other.getsockname()

    def serve():
        other.close()
        server.recvfrom(100)
        server.sendto(bytes(20), to_other)

    def ask():
        server.close()
        other.close()
        sock = socket.socket(type=socket.SOCK_DGRAM)
        sock.sendto(bytes(10), to_server)
        sock.sendto(bytes(30), to_other)

    def receive():
        server.close()
        moved(sum(len(other.recvfrom(100)[0]) for _ in range(2)), 50)
    pids = [start("server", serve), start("other", receive), start("client", ask)]
    end(*pids)


def peek(_):
    between(lambda s: s.send(bytes(100)), lambda s: [moved(len(s.recv(200, flags)), 100) for flags in (socket.MSG_PEEK, socket.MSG_PEEK, 0)],
            socket.socketpair())


def cut(_):
    """Of a datagram the rest is lost, whatever the call returns."""
    def read(sock):
        moved(sock.recv_into(bytearray(10), 10, socket.MSG_TRUNC), 100)
    between(lambda s: s.send(bytes(100)), read, socket.socketpair(type=socket.SOCK_DGRAM))


def tee(_):
    """tee(2) leaves the data where they are."""
    (a, b), (c, d) = os.pipe(), os.pipe()
    end(start("w0", lambda: os.write(b, bytes(100))))

    def copy():
        moved(LIBC.tee(a, d, 100, 0), 100)
        moved(len(os.read(a, 100)), 100)
    end(start("tee", copy))
    end(start("r0", lambda: moved(len(os.read(c, 100)), 100)))


def vmsplice(_):
    """From a pipe it reads, into a pipe it writes."""
    a, b = os.pipe()
    data = ctypes.create_string_buffer(100)
    part = Part(ctypes.addressof(data), 100)
    end(start("w0", lambda: moved(LIBC.vmsplice(b, ctypes.byref(part), 1, 0), 100)))
    end(start("r0", lambda: moved(LIBC.vmsplice(a, ctypes.byref(part), 1, 0), 100)))


def received_at_once(directory):
    """recvmmsg(2)"""
    reader, path = bound(f"{directory}/r"), f"{directory}/r"
    data = ctypes.create_string_buffer(200)
    parts = [Part(ctypes.addressof(data), 100), Part(ctypes.addressof(data) + 100, 100)]
    messages = (Message * 2)(*(Message(None, 0, ctypes.addressof(part), 1) for part in parts))

    def write():
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        for n in (30, 50):
            sock.sendto(bytes(n), path)
    end(start("w0", write))
    end(start("r0", lambda: moved(LIBC.recvmmsg(reader.fileno(), messages, 2, 0, None), 2)))


def passed(_):
    """An end of a pipe goes to another process through a socket, with a byte of data."""
    here, there = socket.socketpair()
    a, b = os.pipe()
    end(start("w0", lambda: os.write(b, bytes(90))))

    def take_over():
        os.close(a)
        os.close(b)
        _, fds, _, _ = socket.recv_fds(there, 1, 1)
        moved(len(os.read(fds[0], 100)), 90)
    reader = start("r0", take_over)
    end(start("gives", lambda: socket.send_fds(here, [b"x"], [a])), reader)


def executed(_):
    """Pipes as standard streams of programs that are executed."""
    (a, b), (c, d) = os.pipe(), os.pipe()

    def cat(source, to):
        os.dup2(source, 0)
        os.dup2(to, 1)
        os.closerange(3, 20)
        os.execvp("cat", ["cat"])
    r1 = start("r1", lambda: cat(c, os.open("/dev/null", os.O_WRONLY)))
    r0 = start("r0", lambda: cat(a, d))
    for fd in (a, c, d):
        os.close(fd)
    w0 = start("w0", lambda: os.write(b, bytes(40)))
    os.close(b)
    end(w0, r0, r1)


def readers(_):
    """One after the other, from one pipe."""
    a, b = os.pipe()
    end(start("w0", lambda: os.write(b, bytes(60))))
    for role, n in (("r0", 10), ("r1", 20), ("r2", 30)):
        end(start(role, lambda n=n: moved(len(os.read(a, n)), n)))


def own(_):
    """A process reads a part of what it wrote itself."""
    a, b = os.pipe()

    def write():
        os.write(b, bytes(20))
        moved(len(os.read(a, 15)), 15)
    end(start("w0", write))
    end(start("r0", lambda: moved(len(os.read(a, 100)), 5)))


def substitution(_):
    """As diff <(w0) <(w1): two pipes that are opened again by their names."""
    ends = [os.pipe() for _ in range(2)]
    for n, (_, to) in enumerate(ends):
        end(start(f"w{n}", lambda n=n, to=to: os.write(to, bytes((30, 50)[n]))))
        os.close(to)

    def read():
        for fd, _ in ends:
            read_all(os.open(f"/proc/self/fd/{fd}", os.O_RDONLY))
    end(start("r0", read))


def closed_early(_):
    """The writer gets EPIPE for what it writes after the reader has ended."""
    a, b = os.pipe()
    def write():
        os.write(b, bytes(10))
        time.sleep(0.1)
        try:
            os.write(b, bytes(1000))
        except BrokenPipeError:
            return
        sys.exit("channels.py: the pipe still has a reader")
    writer, reader = start("w0", lambda: (os.close(a), write())), start("r0", lambda: moved(len(os.read(a, 10)), 10))
    os.close(a)
    os.close(b)
    end(writer, reader)


def broken(_):
    """Nothing flows if nothing is read, or all fails."""
    a, b = os.pipe()
    end(start("w0", lambda: os.write(b, bytes(10))))
    os.set_blocking(b, False)
    end(start("w1", lambda: os.write(b, b"")))
    os.close(b)
    there = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    there.bind(("127.0.0.1", 0))
    end(start("w2", lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(bytes(9), there.getsockname())))


def questions(n):
    """An answer takes 20 ms."""
    (a, b), (c, d) = os.pipe(), os.pipe()

    def ask():
        for _ in range(n):
            os.write(b, b"?")
            os.read(c, 1)

    def answer():
        for _ in range(n):
            os.read(a, 1)
            time.sleep(0.02)
            os.write(d, b"!")
    end(start("answers", answer), start("asks", ask))


def rounds(_):
    questions(5)


def one_round(_):
    questions(1)


def main():
    sys.stdout.reconfigure(line_buffering=True)
    with tempfile.TemporaryDirectory() as directory:
        globals()[sys.argv[1]](directory)


if __name__ == "__main__":
    main()
