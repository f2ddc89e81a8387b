"""Which addresses may be asked. Reports are written by machines that read what strangers wrote:
an address in one may lead into our own network.

A URL is read once, strictly, and put together afresh from what was read: nothing that another
reader could understand in another way is sent. Where it leads is checked again when a name has
been resolved and when a socket is made (`connecting`).
"""

import re
import socket
from ipaddress import IPv4Address, IPv6Address
from typing import NamedTuple
from urllib.parse import quote, urlsplit

import idna

from tasks.configuration.web import Allowed
from tasks.extraction.urls import MAX_LENGTH
from tasks.web.addresses import why_not_public
from tasks.web.errors import Refused, shown

PORTS = {"http": 80, "https": 443}
MOST_HOST = 253
_AMBIGUOUS = re.compile(r"[\x00-\x20\x7f-\x9f\\\s]")
"""Readers of URLs differ over what these mean: white space, control characters, backslashes."""
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
"""A host whose last label is a number is an IPv4 address, however it is spelt."""
_OURS = frozenset(
    {"localhost", "local", "internal", "intranet", "lan", "corp", "home", "arpa", "onion", "test",
     "example", "invalid", "alt"}
)  # fmt: skip
"""Last labels that name nothing on the public Internet (RFC 6761 and 6762, ICANN)."""
_PATH = "%/:@!$&'()*+,;=~|[]"
_QUERY = _PATH + "?`{}^"
"""What stays as it is written, besides letters and digits; the rest is percent-encoded."""


class Target(NamedTuple):
    """An address that may be asked, as far as it can be told before its name is resolved."""

    url: str
    """ASCII; without credentials and fragment."""
    scheme: str
    host: str
    """Lower case, ASCII; an IPv6 address without its brackets."""
    port: int


class Guard:
    """Says which addresses may be asked.

    Args:
        proxies: `host:port` of the proxies that stand between us and the web: connections may
            lead there, addresses may not.
    """

    def __init__(self, allowed: Allowed, proxies: frozenset[str] = frozenset()) -> None:
        self._ports = frozenset(allowed.ports)
        self._hosts = frozenset(host.strip().lower() for host in allowed.hosts)
        self._proxies = proxies

    def target(self, url: str) -> Target:
        """Read an address.

        Raises:
            Refused: it is none that we ask; says why.
        """
        if len(url) > 2 * MAX_LENGTH:
            raise Refused(f"the address has {len(url):,} characters; at most {2 * MAX_LENGTH:,}")
        if _AMBIGUOUS.search(url):
            raise Refused(f"{shown(url)!r} holds white space, a control character or a backslash")
        try:
            parts = urlsplit(url)
            name, port = parts.hostname, parts.port
        except ValueError as error:
            raise Refused(f"{shown(url)} cannot be read ({shown(str(error), 80)})") from None
        if parts.scheme not in PORTS:
            raise Refused(f"{shown(url)} is no http or https address")
        if not name:
            raise Refused(f"{shown(url)} names no host")
        host = _ipv6(name) if "[" in parts.netloc else _host(name)
        target_port = PORTS[parts.scheme] if port is None else port
        if not self._is_exception(host, target_port):
            self._check(host, target_port)
        return Target(_written(parts.scheme, host, port, parts.path, parts.query),
                      parts.scheme, host, target_port)  # fmt: skip

    def check_address(self, host: str, port: int, address: str, *, proxied: bool = False) -> None:
        """Check where a name leads.

        proxied: the address is not connected to; a proxy's own place is no exception then.

        Raises:
            Refused: its address is none that we connect to.
        """
        if self.is_exempt(host, port) if not proxied else self._is_exception(host, port):
            return
        why = why_not_public(address)
        if why:
            raise Refused(f"{host} is {address}, {why}")

    def is_exempt(self, host: str, port: int) -> bool:
        """Whether a connection to this place was allowed whatever its address is."""
        return self._is_exception(host, port) or _place(host, port) in self._proxies

    def may_connect(self, address: str, port: int) -> bool:
        """Whether a socket may lead to this IP address and port, by themselves."""
        return self.is_exempt(address, port) or (
            port in self._ports and why_not_public(address) is None
        )

    def _is_exception(self, host: str, port: int) -> bool:
        if _place(host, port) in self._hosts:
            return True
        return port in self._ports and _bracketed(host) in self._hosts

    def _check(self, host: str, port: int) -> None:
        if _place(host, port) in self._proxies:
            raise Refused(f"{host}:{port} is the proxy that stands between us and the web")
        if port not in self._ports:
            raise Refused(
                f"{host} is to be asked on port {port}; only {_listed(self._ports)} are asked "
                "(`allowed.ports` in configs/web.yaml)"
            )
        if ":" in host or _NUMBER.fullmatch(host.rpartition(".")[2]):
            why = why_not_public(host)
            if why:
                raise Refused(f"{host} is {why}")
        elif "." not in host or host.rpartition(".")[2] in _OURS:
            raise Refused(f"{host} is no name on the public Internet")


def _ipv6(name: str) -> str:
    try:
        return IPv6Address(_without_zone(name)).compressed
    except ValueError:
        raise Refused(f"[{shown(name, 60)}] is no IPv6 address") from None


def _without_zone(name: str) -> str:
    if "%" in name:
        raise ValueError("an IPv6 zone")
    return name


def _host(name: str) -> str:
    """A host as it is looked up: ASCII, an IPv4 address in its one usual form."""
    host = _ascii(name)
    host = host.removesuffix(".")
    labels = host.split(".")
    if len(host) > MOST_HOST or not all(_LABEL.fullmatch(label) for label in labels):
        raise Refused(f"{shown(name, 80)!r} is no name of a host")
    if not _NUMBER.fullmatch(labels[-1]):
        return host
    try:
        return str(IPv4Address(socket.inet_aton(host)))  # octal, hexadecimal, short forms too
    except OSError:
        raise Refused(f"{shown(name, 80)!r} is neither a name nor an IPv4 address") from None


def _ascii(name: str) -> str:
    if len(name) > MOST_HOST * 2:
        raise Refused(f"{shown(name, 80)!r} is no name of a host")
    if name.isascii():
        return name.lower()
    try:
        return idna.encode(name, uts46=True).decode("ascii").lower()
    except UnicodeError:
        raise Refused(f"{shown(name, 80)!r} is no name of a host") from None


def _written(scheme: str, host: str, port: int | None, path: str, query: str) -> str:
    place = _bracketed(host) if port in (None, PORTS[scheme]) else _place(host, port)
    written = f"{scheme}://{place}{quote(path or '/', _PATH, errors='replace')}"
    return f"{written}?{quote(query, _QUERY, errors='replace')}" if query else written


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _place(host: str, port: int | None) -> str:
    return f"{_bracketed(host)}:{port}"


def _listed(ports: frozenset[int]) -> str:
    return ", ".join(str(port) for port in sorted(ports))
