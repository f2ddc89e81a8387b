"""The way from an isolated program to our sandbox server, and nowhere else.

The program knows the address of this relay, on the loopback. seccomp hands each `connect` of the
program to `ConnectAnswerer`, which makes the connection for it: always to the relay, whatever the
program's memory says by then. The relay sends what it is asked on to the sandbox server, with the
job's token, which the program never sees.
"""

import ctypes
import errno
import fcntl
import http.client
import os
import socket
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

MAX_BODY_BYTES = 1 << 20
MAX_ANSWER_BYTES = 64 << 20
TIMEOUT_SECONDS = 120
NOT_SENT_ON = frozenset({
    "authorization", "connection", "content-length", "cookie", "expect", "host", "keep-alive",
    "origin", "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade", "x-api-key",
})  # fmt: skip
"""Headers of the one connection, or ours to set."""
PIDFD_GETFD = 438
PIDFD_THREAD = os.O_EXCL
"""Flag of pidfd_open (Linux 6.9): the thread that asks need not be the program's first."""


class SandboxRelay(ThreadingHTTPServer):
    """An HTTP server on a free port of the loopback, which asks one other server."""

    daemon_threads = True

    def __init__(self, url: str, token: str | None) -> None:
        super().__init__(("127.0.0.1", 0), _Relayed)
        self.target = urlsplit(url.rstrip("/"))
        self.token = token

    @property
    def address(self) -> str:
        """Its URL, for the program."""
        return f"http://127.0.0.1:{self.server_port}"

    def start(self) -> None:
        """Serve in a thread, until this process ends."""
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a program may close its connection at any time."""


class _Relayed(BaseHTTPRequestHandler):
    """One connection of the program."""

    protocol_version = "HTTP/1.1"
    timeout = TIMEOUT_SECONDS
    server: SandboxRelay

    def do_GET(self) -> None:
        self._send_on()

    def do_POST(self) -> None:
        self._send_on()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (its name)
        """Log nothing."""

    def _send_on(self) -> None:
        length = self.headers.get("Content-Length", "0")
        if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            self._answer(413, b'{"error": "the body is too large, or has no length"}')
            return
        body = self.rfile.read(int(length)) or None
        headers = {k: v for k, v in self.headers.items() if k.lower() not in NOT_SENT_ON}
        if self.server.token:
            headers["Authorization"] = f"Bearer {self.server.token}"
        try:
            self._answer(*self._ask(body, headers))
        except (OSError, http.client.HTTPException, ValueError):
            self._answer(502, b'{"error": "the sandbox server does not answer"}')

    def _ask(self, body: bytes | None, headers: dict[str, str]) -> tuple[int, bytes, str]:
        target = self.server.target
        https = target.scheme == "https"
        kind = http.client.HTTPSConnection if https else http.client.HTTPConnection
        connection = kind(target.hostname or "", target.port, timeout=TIMEOUT_SECONDS)
        try:
            path = self.path if self.path.startswith("/") else f"/{self.path}"
            connection.request(self.command, target.path + path, body, headers)
            answer = connection.getresponse()
            content = answer.read(MAX_ANSWER_BYTES + 1)
            if len(content) > MAX_ANSWER_BYTES:
                raise ValueError("too large")
            return answer.status, content, answer.getheader("Content-Type", "")
        finally:
            connection.close()

    def _answer(self, status: int, content: bytes, kind: str = "application/json") -> None:
        self.send_response_only(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


class _Call(ctypes.Structure):
    """seccomp_notif, with its seccomp_data."""

    _fields_ = [
        ("id", ctypes.c_uint64),
        ("pid", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("number", ctypes.c_int32),
        ("architecture", ctypes.c_uint32),
        ("instruction", ctypes.c_uint64),
        ("arguments", ctypes.c_uint64 * 6),
    ]


class _Reply(ctypes.Structure):
    """seccomp_notif_resp."""

    _fields_ = [
        ("id", ctypes.c_uint64),
        ("value", ctypes.c_int64),
        ("error", ctypes.c_int32),
        ("flags", ctypes.c_uint32),
    ]


def _request(number: int, size: int, direction: int) -> int:
    """The number of an `ioctl` of seccomp's listener (its letter is `!`)."""
    return direction << 30 | size << 16 | ord("!") << 8 | number


_RECEIVE = _request(0, ctypes.sizeof(_Call), 3)
_SEND = _request(1, ctypes.sizeof(_Reply), 3)
_IS_VALID = _request(2, 8, 1)


class ConnectAnswerer:
    """Answers every `connect` of a program by a connection to one port of the loopback."""

    def __init__(self, listener: int, port: int) -> None:
        """listener: what seccomp gave the program's launcher."""
        self._listener = listener
        self._port = port

    def start(self) -> None:
        """Answer in a thread, until the program and all that it started have ended."""
        threading.Thread(target=self._answer_all, daemon=True).start()

    def _answer_all(self) -> None:
        while True:
            call = _Call()
            try:
                fcntl.ioctl(self._listener, _RECEIVE, call)
            except InterruptedError:
                continue
            except OSError as error:
                if error.errno == errno.ENOENT:  # the caller was killed meanwhile
                    continue
                return
            problem = self._connect(call)
            with suppress(OSError):
                fcntl.ioctl(self._listener, _SEND, _Reply(call.id, 0, -problem, 0))

    def _connect(self, call: _Call) -> int:
        """Connect the caller's socket; return 0 or the error's number."""
        try:
            process = os.pidfd_open(call.pid, PIDFD_THREAD)
            try:
                taken = ctypes.CDLL(None, use_errno=True).syscall(
                    PIDFD_GETFD, process, ctypes.c_int(call.arguments[0] & 0xFFFFFFFF), 0
                )
            finally:
                os.close(process)
            if taken < 0:
                return ctypes.get_errno()
            with socket.socket(fileno=taken) as of_caller:
                # The caller may have ended, and another process have its number.
                fcntl.ioctl(self._listener, _IS_VALID, ctypes.c_uint64(call.id))
                at = "::ffff:127.0.0.1" if of_caller.family == socket.AF_INET6 else "127.0.0.1"
                return of_caller.connect_ex((at, self._port))
        except OSError as error:
            return error.errno or errno.ECONNREFUSED
