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
from typing import Any
from urllib.parse import unquote, urlsplit

MAX_BODY_BYTES = 1 << 20
MAX_ANSWER_BYTES = 64 << 20
TIMEOUT_SECONDS = 120
MAX_CONNECTIONS = 32
SENT_ON = frozenset({"accept", "accept-language", "content-type", "last-event-id", "user-agent"})
"""Headers of the program that the sandbox server gets, beside those of MCP. Others could say who
asks, or mean something to a server before ours."""
PIDFD_GETFD = 438
PIDFD_THREAD = os.O_EXCL
"""Flag of pidfd_open (Linux 6.9): the thread that asks need not be the program's first."""


class SandboxRelay(ThreadingHTTPServer):
    """An HTTP server on a free port of the loopback, which asks one other server."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, url: str, token: str | None) -> None:
        super().__init__(("127.0.0.1", 0), _Relayed)
        self.target = urlsplit(url.rstrip("/"))
        self.token = token
        self._expected: set[int] = set()
        self._free = threading.BoundedSemaphore(MAX_CONNECTIONS)

    def expect(self, port: int) -> None:
        """Let a connection from this port of the loopback in: others are not the program's."""
        self._expected.add(port)

    def verify_request(self, request: object, client_address: Any) -> bool:
        """Whether a connection is served."""
        if client_address[1] not in self._expected:
            return False
        self._expected.discard(client_address[1])
        return self._free.acquire(blocking=False)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in a thread of its own."""
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # no thread could be started
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection until it ends."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

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
        path = unquote(self.path.partition("?")[0])
        if {".", ".."} & set(path.split("/")):  # a server before ours may follow them
            self._answer(400, b'{"error": "the path has dots to other folders"}')
            return
        headers = {k: v for k, v in self.headers.items() if _is_sent_on(k.lower())}
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


def _is_sent_on(header: str) -> bool:
    return header in SENT_ON or header.startswith("mcp-")


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
    """Answers every `connect` of a program by a connection to its relay."""

    def __init__(self, listener: int, relay: SandboxRelay) -> None:
        """listener: what seccomp gave the program's launcher."""
        self._listener = listener
        self._relay = relay

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
            with _as_socket(taken) as of_caller:
                # The caller may have ended, and another process have its number.
                fcntl.ioctl(self._listener, _IS_VALID, ctypes.c_uint64(call.id))
                return self._connect_to_relay(of_caller)
        except OSError as error:
            return error.errno or errno.ECONNREFUSED

    def _connect_to_relay(self, of_caller: socket.socket) -> int:
        if of_caller.family not in (socket.AF_INET, socket.AF_INET6):
            return errno.EAFNOSUPPORT
        at = "::ffff:127.0.0.1" if of_caller.family == socket.AF_INET6 else "127.0.0.1"
        with suppress(OSError):  # it is connected already, and is told so
            of_caller.bind((at, 0))
            self._relay.expect(of_caller.getsockname()[1])
        return of_caller.connect_ex((at, self._relay.server_port))


def _as_socket(descriptor: int) -> socket.socket:
    try:
        return socket.socket(fileno=descriptor)
    except OSError:  # it is a file, or so
        os.close(descriptor)
        raise
