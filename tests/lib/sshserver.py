# SPDX-License-Identifier: MIT
"""An SSH server of a test's own."""
import os
import socket
import subprocess
import time

SSHD = "/usr/sbin/sshd"


class Server:
    """As a context: the server listens at a free port.  words: of ssh, up to the address.  refused: why no client gets in, or ''."""

    def __init__(self, base, address="127.0.0.1"):
        self.base, self.address = base, address

    def __enter__(self):
        for key in "host", "user":
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.base / key], check=True)
        with socket.socket() as free:
            free.bind((self.address, 0))
            self.port = free.getsockname()[1]
        conf = self.base / "conf"
        conf.write_text(f"Port {self.port}\nListenAddress {self.address}\nHostKey {self.base}/host\nAuthorizedKeysFile {self.base}/user.pub\n"
                        "PidFile none\nStrictModes no\nUsePAM no\nAcceptEnv FTRAC_RUN\nSubsystem sftp internal-sftp\n")
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        self.process = subprocess.Popen([SSHD, "-D", "-f", conf], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.options = ["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "BatchMode=yes", "-o", "LogLevel=ERROR",
                        "-o", f"IdentityFile={self.base}/user"]
        self.words = ["ssh", "-F", "none", *self.options, "-p", str(self.port)]
        self.refused = self.ask()
        return self

    def ask(self):
        for _ in range(100):
            done = subprocess.run([*self.words, "127.0.0.1" if self.address == "0.0.0.0" else self.address, "true"], stdin=subprocess.DEVNULL,
                                  capture_output=True, check=False)
            if done.returncode == 0:
                return ""
            time.sleep(0.1)
        return done.stderr.decode()

    def __exit__(self, *exception):
        self.process.terminate()
        self.process.wait()
