"""Tell public IP addresses from private, reserved and special-purpose ones.

Sources: the IANA special-purpose address registries (RFC 6890 and its updates); the metadata
addresses at which cloud providers hand credentials to their own machines.
"""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

Address = IPv4Address | IPv6Address

_FORBIDDEN_4 = {
    ip_network(network): words
    for network, words in {
        "0.0.0.0/8": "an address of this machine",
        "10.0.0.0/8": "a private address",
        "100.64.0.0/10": "an address shared behind a provider's NAT",
        "127.0.0.0/8": "a loopback address",
        "168.63.129.16/32": "a cloud provider's service for its own machines",
        "169.254.0.0/16": "a link-local address, where clouds keep credentials",
        "172.16.0.0/12": "a private address",
        "192.0.0.0/24": "an address kept for protocols",
        "192.0.2.0/24": "an address kept for documentation",
        "192.88.99.0/24": "an address of 6to4 relays",
        "192.168.0.0/16": "a private address",
        "198.18.0.0/15": "an address kept for benchmarks",
        "198.51.100.0/24": "an address kept for documentation",
        "203.0.113.0/24": "an address kept for documentation",
        "224.0.0.0/4": "a multicast address",
        "240.0.0.0/4": "a reserved address",
    }.items()
}
_FORBIDDEN_6 = {
    ip_network(network): words
    for network, words in {
        "::/128": "an address of this machine",
        "::1/128": "a loopback address",
        "::ffff:0:0/96": "an IPv4 address in IPv6's clothes",
        "::/96": "an IPv4 address in IPv6's clothes",
        "64:ff9b:1::/48": "an address of a local translator to IPv4",
        "2001::/32": "a Teredo address, which leads to an IPv4 address",
        "2001::/23": "an address kept for protocols",
        "2001:db8::/32": "an address kept for documentation",
        "2002::/16": "a 6to4 address, which leads to an IPv4 address",
        "3fff::/20": "an address kept for documentation",
        "fc00::/7": "a private address",
        "fe80::/10": "a link-local address",
        "fec0::/10": "a private address",
        "ff00::/8": "a multicast address",
    }.items()
}
_GLOBAL_6 = ip_network("2000::/3")
"""All IPv6 space allocated so far for public unicast addresses."""
_NAT64 = ip_network("64:ff9b::/96")
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)
"""Values of bits 64 to 95 of an address whose last 32 bits are an IPv4 address (RFC 5214)."""


def describe_non_public(address: str) -> str | None:
    """Describe an IP address that is not public; return None for a public one.

    An IPv4 address embedded in an IPv6 address is checked as well.

    Raises:
        ValueError: `address` is not an IP address.
    """
    parsed = ip_address(address)
    if isinstance(parsed, IPv4Address):
        return _describe_non_public_4(parsed)
    if parsed.scope_id is not None:
        return "an address of one network interface"
    for network, words in _FORBIDDEN_6.items():
        if parsed in network:
            return words
    if parsed in _NAT64 or int(parsed) >> 32 & 0xFFFF_FFFF in _ISATAP:
        inside = IPv4Address(int(parsed) & 0xFFFF_FFFF)
        why = _describe_non_public_4(inside)
        if why:
            return f"a way to {inside}, {why}"
    if parsed not in _GLOBAL_6 and parsed not in _NAT64:
        return "a reserved address"
    return None if parsed.is_global else "no public address"


def _describe_non_public_4(address: IPv4Address) -> str | None:
    for network, words in _FORBIDDEN_4.items():
        if address in network:
            return words
    return None if address.is_global else "no public address"
