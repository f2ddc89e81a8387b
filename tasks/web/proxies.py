"""The proxies that the environment names, for those who may only reach the web through one."""

from urllib.request import getproxies, proxy_bypass

from yarl import URL

from tasks.configuration.errors import ConfigurationError


class Proxies:
    """Which proxy a request goes through.

    Args:
        wanted: whether the configuration asks for proxies at all.

    Raises:
        ConfigurationError: one of them is no HTTP proxy.
    """

    def __init__(self, wanted: bool) -> None:
        named = getproxies() if wanted else {}
        found = {scheme: named.get(scheme) or named.get("all") for scheme in ("http", "https")}
        self._by_scheme = {scheme: proxy for scheme, proxy in found.items() if proxy}
        self.places = frozenset(_place(*one) for one in self._by_scheme.items())
        """`host:port` of each."""

    def for_host(self, scheme: str, host: str) -> str | None:
        """The proxy on the way to a host; None where there is none."""
        proxy = self._by_scheme.get(scheme)
        return None if proxy is None or proxy_bypass(host) else proxy


def _place(scheme: str, proxy: str) -> str:
    try:
        url = URL(proxy)
        if url.scheme in ("http", "https") and url.host:
            host = url.host.lower()
            return f"[{host}]:{url.port}" if ":" in host else f"{host}:{url.port}"
    except ValueError:
        pass
    raise ConfigurationError(
        f"The proxy that the environment names for {scheme} is no http(s) address. Correct "
        "HTTP_PROXY and its like, or set `allowed.environment_proxies` to false in "
        "configs/web.yaml."
    )
