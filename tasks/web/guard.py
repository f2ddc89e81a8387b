"""Decide which URLs may be requested. Reports are written by models that read untrusted text, so
a URL in one may point into our own network.

A URL is parsed once, strictly, and rebuilt from its parts: nothing that another parser could
understand differently is sent. The address is checked again when the name has been resolved and
when the socket is created (`connections`).

Sources of what is public: the IANA special-purpose address registries (RFC 6890 and its updates);
the metadata addresses at which cloud providers hand credentials to their own machines.
"""

import re
import socket
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import NamedTuple
from urllib.parse import quote, urlsplit

import idna

from tasks.configuration.web import AllowedAddresses
from tasks.extraction.urls import MAX_LENGTH
from tasks.web.errors import AddressRefused, NonPublicAddress, printable

_FORBIDDEN = {
    ip_network(network): words
    for words, networks in {
        "an address of this machine": "0.0.0.0/8 ::/128",
        "a private address": "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7 fec0::/10",
        "an address shared behind a provider's NAT": "100.64.0.0/10",
        "a loopback address": "127.0.0.0/8 ::1/128",
        "a cloud provider's service for its own machines": "168.63.129.16/32",
        "a link-local address, where clouds keep credentials": "169.254.0.0/16",
        "a link-local address": "fe80::/10",
        "an IPv4 address in IPv6's clothes": "::ffff:0:0/96 ::/96",
        "an address of a local translator to IPv4": "64:ff9b:1::/48",
        "an address of 6to4 relays": "192.88.99.0/24",
        "a 6to4 address, which leads to an IPv4 address": "2002::/16",
        # Before the network that holds it.
        "a Teredo address, which leads to an IPv4 address": "2001::/32",
        "an address kept for protocols": "192.0.0.0/24 2001::/23",
        "an address kept for documentation": "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 "
        "2001:db8::/32 3fff::/20",
        "an address kept for benchmarks": "198.18.0.0/15",
        "a multicast address": "224.0.0.0/4 ff00::/8",
        "a reserved address": "240.0.0.0/4",
    }.items()
    for network in networks.split()
}
_GLOBAL_6 = ip_network("2000::/3")
"""All IPv6 space allocated so far for public unicast addresses."""
_NAT64 = ip_network("64:ff9b::/96")
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)
"""Values of bits 64 to 95 of an address whose last 32 bits are an IPv4 address (RFC 5214)."""
PORTS = {"http": 80, "https": 443}
MAX_HOST_LENGTH = 253
_AMBIGUOUS = re.compile(r"[\x00-\x20\x7f-\x9f\\\s]")
"""URL parsers disagree about these: white space, control characters, backslashes."""
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_IPV4_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
"""A host whose last label is a number is an IPv4 address, in whatever notation."""
_SPECIAL_DOMAINS = frozenset(
    {"localhost", "local", "internal", "intranet", "lan", "corp", "home", "arpa", "onion", "test",
     "example", "invalid", "alt"}
)  # fmt: skip
"""Top-level labels that do not exist on the public Internet (RFC 6761 and 6762, ICANN)."""
_PATH = "%/:@!$&'()*+,;=~|[]"
_QUERY = _PATH + "?`{}^"
"""Characters kept besides letters and digits; all others are percent-encoded."""


class CheckedUrl(NamedTuple):
    """A URL that may be requested, as far as is known before its name is resolved."""

    url: str
    """ASCII; without credentials and fragment."""
    scheme: str
    host: str
    """Lower-case ASCII; an IPv6 address without its brackets."""
    port: int


class Guard:
    """Decides which URLs may be requested.

    Args:
        proxies: `host:port` of our own proxies: connections may go there, URLs may not.
    """

    def __init__(self, allowed: AllowedAddresses, proxies: frozenset[str] = frozenset()) -> None:
        self._ports = frozenset(allowed.ports)
        self._hosts = frozenset(host.strip().lower() for host in allowed.hosts)
        self._proxies = proxies

    def check_url(self, url: str) -> CheckedUrl:
        """Parse and check a URL.

        Raises:
            AddressRefused: we do not request it; says why.
        """
        if len(url) > 2 * MAX_LENGTH:
            raise AddressRefused(
                f"the address has {len(url):,} characters; at most {2 * MAX_LENGTH:,}"
            )
        if _AMBIGUOUS.search(url):
            raise AddressRefused(
                f"{printable(url)!r} holds white space, a control character or a backslash"
            )
        try:
            parts = urlsplit(url)
            name, port = parts.hostname, parts.port
        except ValueError as error:
            raise AddressRefused(
                f"{printable(url)} cannot be read ({printable(str(error), 80)})"
            ) from None
        if parts.scheme not in PORTS:
            raise AddressRefused(f"{printable(url)} is no http or https address")
        if not name:
            raise AddressRefused(f"{printable(url)} names no host")
        host = _parse_ipv6(name) if "[" in parts.netloc else _parse_host(name)
        target_port = PORTS[parts.scheme] if port is None else port
        if not self._is_exception(host, target_port):
            self._check_target(host, target_port)
        is_usual = port in (None, PORTS[parts.scheme])
        place = _bracket_ipv6(host) if is_usual else _host_port(host, port)
        written = f"{parts.scheme}://{place}{quote(parts.path or '/', _PATH, errors='replace')}"
        if parts.query:
            written += f"?{quote(parts.query, _QUERY, errors='replace')}"
        return CheckedUrl(written, parts.scheme, host, target_port)

    def check_address(self, host: str, port: int, address: str, *, proxied: bool = False) -> None:
        """Check the address that a name resolved to.

        proxied: whether a proxy connects to it; the proxy's own address is no exception then.

        Raises:
            NonPublicAddress: we do not connect to this address.
        """
        if self.is_exempt(host, port) if not proxied else self._is_exception(host, port):
            return
        why = describe_non_public(address)
        if why:
            raise NonPublicAddress(f"{host} is {address}, {why}")

    def is_exempt(self, host: str, port: int) -> bool:
        """Return whether connections to this host and port are allowed whatever the address."""
        return self._is_exception(host, port) or _host_port(host, port) in self._proxies

    def may_connect(self, address: str, port: int) -> bool:
        """Return whether a socket may connect to this IP address and port."""
        return self.is_exempt(address, port) or (
            port in self._ports and describe_non_public(address) is None
        )

    def _is_exception(self, host: str, port: int) -> bool:
        if _host_port(host, port) in self._hosts:
            return True
        return port in self._ports and _bracket_ipv6(host) in self._hosts

    def _check_target(self, host: str, port: int) -> None:
        if _host_port(host, port) in self._proxies:
            raise AddressRefused(f"{host}:{port} is the proxy that stands between us and the web")
        if port not in self._ports:
            ports = ", ".join(map(str, sorted(self._ports)))
            raise AddressRefused(
                f"{host} is to be asked on port {port}; only {ports} are asked "
                "(`allowed.ports` in configs/web.yaml)"
            )
        if ":" in host or _IPV4_NUMBER.fullmatch(host.rpartition(".")[2]):
            why = describe_non_public(host)
            if why:
                raise AddressRefused(f"{host} is {why}")
        elif "." not in host or host.rpartition(".")[2] in _SPECIAL_DOMAINS:
            raise AddressRefused(f"{host} is no name on the public Internet")


def _parse_ipv6(name: str) -> str:
    try:
        address = IPv6Address(name)
    except ValueError:
        address = None
    if address is None or "%" in name:  # a zone is one of this machine's interfaces
        raise AddressRefused(f"[{printable(name, 60)}] is no IPv6 address")
    return address.compressed


def _parse_host(name: str) -> str:
    """Return the host as it is looked up: in ASCII, an IPv4 address in dotted decimals."""
    host = ""
    with suppress(UnicodeError):
        if len(name) <= 2 * MAX_HOST_LENGTH:
            ascii_name = name if name.isascii() else idna.encode(name, uts46=True).decode("ascii")
            host = ascii_name.lower().removesuffix(".")
    labels = host.split(".")
    if len(host) > MAX_HOST_LENGTH or not all(_LABEL.fullmatch(label) for label in labels):
        raise AddressRefused(f"{printable(name, 80)!r} is no name of a host")
    if not _IPV4_NUMBER.fullmatch(labels[-1]):
        return host
    try:
        return str(IPv4Address(socket.inet_aton(host)))  # octal, hexadecimal, short forms too
    except OSError:
        raise AddressRefused(
            f"{printable(name, 80)!r} is neither a name nor an IPv4 address"
        ) from None


def _bracket_ipv6(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _host_port(host: str, port: int | None) -> str:
    return f"{_bracket_ipv6(host)}:{port}"


def describe_non_public(address: str) -> str | None:
    """Describe an IP address that is not public; return None for a public one.

    An IPv4 address embedded in an IPv6 address is checked as well.

    Raises:
        ValueError: `address` is not an IP address.
    """
    parsed = ip_address(address)
    is_6 = parsed.version == 6
    if getattr(parsed, "scope_id", None) is not None:
        return "an address of one network interface"
    for network, words in _FORBIDDEN.items():
        if parsed in network:
            return words
    if is_6 and (parsed in _NAT64 or int(parsed) >> 32 & 0xFFFF_FFFF in _ISATAP):
        inside = IPv4Address(int(parsed) & 0xFFFF_FFFF)
        why = describe_non_public(str(inside))
        if why:
            return f"a way to {inside}, {why}"
    if is_6 and parsed not in _GLOBAL_6 and parsed not in _NAT64:
        return "a reserved address"
    return None if parsed.is_global else "no public address"
