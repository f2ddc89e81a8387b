"""The proxies that environment variables name."""

from urllib.request import getproxies, proxy_bypass

from yarl import URL

from tasks.configuration.errors import ConfigurationError


class Proxies:
    """Chooses the proxy of a request.

    Args:
        wanted: whether the configuration allows proxies at all.

    Raises:
        ConfigurationError: one of them is not an HTTP proxy.
    """

    def __init__(self, wanted: bool) -> None:
        proxies = getproxies() if wanted else {}
        found = {scheme: proxies.get(scheme) or proxies.get("all") for scheme in ("http", "https")}
        self._by_scheme = {scheme: proxy for scheme, proxy in found.items() if proxy}
        self.host_ports = frozenset(_host_port(*one) for one in self._by_scheme.items())
        """`host:port` of each proxy."""

    def for_host(self, scheme: str, host: str) -> str | None:
        """Return the proxy for a host, or None."""
        proxy = self._by_scheme.get(scheme)
        return None if proxy is None or proxy_bypass(host) else proxy


def _host_port(scheme: str, proxy: str) -> str:
    try:
        url = URL(proxy)
        if url.scheme in ("http", "https") and url.host:
            host = url.host.lower()
            return f"[{host}]:{url.port}" if ":" in host else f"{host}:{url.port}"
    except ValueError:
        pass
    raise ConfigurationError(
        f"The proxy for {scheme} in the environment is not an http(s) URL. Correct HTTP_PROXY, "
        "HTTPS_PROXY or ALL_PROXY, or set `allowed.environment_proxies` to false in "
        "configs/web.yaml."
    )
