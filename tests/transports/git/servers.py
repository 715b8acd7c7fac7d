"""The real programs that serve a git repository: `git daemon`, `sshd`, and `git http-backend` behind a small server."""

import base64
import os
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
NO_SSHD = "there is no sshd: install the package openssh-server, as .ci/run does"

PATIENCE_SECONDS = 30.0


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
        assert isinstance(port, int)
        return port


def wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    """Wait until a program listens on a port of this machine."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, "the server ended"
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        threading.Event().wait(0.02)
    raise AssertionError("the server does not listen")


@contextmanager
def _running(command: list[str], port: int, log: Path) -> Iterator[None]:
    with log.open("wb") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said, start_new_session=True)
        try:
            wait_for(port, process)
            yield
        finally:
            process.terminate()
            process.wait(PATIENCE_SECONDS)


@contextmanager
def git_daemon(folder: Path, *, writable: bool = True) -> Iterator[str]:
    """Serve `folder`, and give the address that its repositories are under."""
    port = free_port()
    push = ["--enable=receive-pack"] if writable else []
    command = ["git", "daemon", "--listen=127.0.0.1", f"--port={port}", "--reuseaddr", "--export-all"]
    with _running([*command, f"--base-path={folder}", *push, str(folder)], port, folder / "daemon.log"):
        yield f"git://127.0.0.1:{port}"


@dataclass(frozen=True)
class Ssh:
    """A running sshd: its address, and what `GIT_SSH_COMMAND` must be to come in, or not to."""

    address: str
    command: str
    without_key: str
    with_another_host_key: str


@contextmanager
def sshd(folder: Path) -> Iterator[Ssh]:
    """Run sshd on this machine, for a key made here."""
    assert SSHD is not None, NO_SSHD
    for name in ("host", "other-host", "person"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name)]
        subprocess.run(command, check=True)
    shutil.copy(folder / "person.pub", folder / "authorized")
    port = free_port()
    (folder / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nPidFile none\nUsePAM no\nStrictModes no\n"
        f"AuthorizedKeysFile {folder}/authorized\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"
        "PermitRootLogin yes\nKexAlgorithms curve25519-sha256\n"
    )
    for name in ("host", "other-host"):
        key = (folder / f"{name}.pub").read_text()
        (folder / f"known-{name}").write_text(f"[127.0.0.1]:{port} {key}")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # where its unprivileged half lives
    ssh = "ssh -F none -o IdentitiesOnly=yes -o StrictHostKeyChecking=yes"
    with _running([SSHD, "-D", "-e", "-f", str(folder / "sshd_config")], port, folder / "sshd.log"):
        user = subprocess.run(["id", "-un"], check=True, capture_output=True, text=True).stdout.strip()
        yield Ssh(
            f"ssh://{user}@127.0.0.1:{port}",
            f"{ssh} -i {folder}/person -o UserKnownHostsFile={folder}/known-host",
            f"{ssh} -i {folder}/host -o UserKnownHostsFile={folder}/known-host",
            f"{ssh} -i {folder}/person -o UserKnownHostsFile={folder}/known-other-host",
        )


@dataclass
class SmartHttp:
    """`git http-backend` for the repositories in `folder`, for whoever has the `password` of ada.

    `refusing` is a status that everything is answered with, as hosts do that are down or have no more room.
    """

    folder: Path
    password: str = "token-1"
    refusing: int | None = None
    port: int = 0
    requests: list[str] = field(default_factory=list)

    def address(self, password: str | None = None) -> str:
        return f"http://ada:{password or self.password}@127.0.0.1:{self.port}"


@contextmanager
def smart_http(folder: Path, tls: ssl.SSLContext | None = None) -> Iterator[SmartHttp]:
    """Serve `folder` by http, or https with `tls`."""
    served = SmartHttp(folder)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            served.requests.append(self.command + " " + self.path)

        def do_GET(self) -> None:
            self._serve(b"")

        def do_POST(self) -> None:
            self._serve(self._body())

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding", "") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length", "0")))
            parts = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)

        def _serve(self, body: bytes) -> None:
            wanted = base64.b64encode(f"ada:{served.password}".encode()).decode()
            if served.refusing is not None:
                self._answer(served.refusing, [], b"")
            elif self.headers.get("Authorization") != f"Basic {wanted}":
                self._answer(401, [("WWW-Authenticate", 'Basic realm="mail"')], b"")
            else:
                self._run(body)

        def _run(self, body: bytes) -> None:
            path, _, query = self.path.partition("?")
            env = os.environ | {
                "GIT_PROJECT_ROOT": str(folder),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                "REMOTE_USER": "ada",
                "REMOTE_ADDR": "127.0.0.1",
            }
            out = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True).stdout
            head, _, content = out.partition(b"\r\n\r\n")
            lines = [line.split(": ", 1) for line in head.decode().split("\r\n")]
            headers = [(name, value) for name, value in lines]
            status = next((int(value.split(" ")[0]) for name, value in headers if name == "Status"), 200)
            self._answer(status, [pair for pair in headers if pair[0] != "Status"], content)

        def _answer(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    served.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
