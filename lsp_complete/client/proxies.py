"""Which HTTP proxy, if any, stands between this machine and a service. Pure functions of a given environment.

Reads HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, in lower case first, as curl does. This machine itself is never
behind a proxy, whatever the environment says. Knows no sockets: dial.py opens the tunnel.
"""

import base64
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, urlsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}
# What curl takes for a proxy that is written without a port.
_DEFAULT_PROXY_PORT = 1080


class BadProxy(ValueError):
    """The environment names a proxy that cannot be used. The message holds no credentials."""


@dataclass(frozen=True, slots=True)
class Proxy:
    """`authorization` is the value of a Proxy-Authorization header, empty without credentials."""

    host: str
    port: int
    authorization: bytes = field(default=b"", repr=False)

    @property
    def name(self) -> str:
        """How a message may call it."""
        return f"proxy {host_and_port(self.host, self.port)}"


def proxy_for(scheme: str, host: str, port: int, environ: Mapping[str, str]) -> Proxy | None:
    """The proxy for a service, None to go there directly. Raises BadProxy."""
    if is_loopback(host) or _is_excepted(host, port, _variable("no_proxy", environ) or ""):
        return None
    specific = _variable(f"{scheme}_proxy", environ)
    text = _variable("all_proxy", environ) if specific is None else specific
    return _parse(text) if text else None


def is_loopback(host: str) -> bool:
    """127.0.0.0/8, ::1, localhost and what ends in .localhost (RFC 6761)."""
    name = _normal(host)
    address = _address(name)
    if address is None:
        return name == "localhost" or name.endswith(".localhost")
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)


def host_and_port(host: str, port: int) -> str:
    """As in a URL: an IPv6 address stands in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _variable(name: str, environ: Mapping[str, str]) -> str | None:
    """The lower-case spelling counts, even empty: that is how one switches off what the system has set."""
    value = environ.get(name, environ.get(name.upper()))
    return None if value is None else value.strip()


def _is_excepted(host: str, port: int, no_proxy: str) -> bool:
    return any(_matches(entry, _normal(host), port) for entry in re.split(r"[,\s]+", no_proxy) if entry)


def _matches(entry: str, name: str, port: int) -> bool:
    """`*`, a host, a domain with all below it (with or without a leading `.` or `*.`), each with a port or without."""
    if entry == "*":
        return True
    pattern, wanted_port = _split_port(entry)
    pattern = _normal(pattern.removeprefix("*").removeprefix("."))
    if not pattern or wanted_port not in ("", str(port)):
        return False
    address = _address(name)
    if address is not None:
        return address == _address(pattern)
    return name == pattern or name.endswith("." + pattern)


def _split_port(entry: str) -> tuple[str, str]:
    """The host and the port of `host`, `host:port`, `[v6]`, `[v6]:port` or a bare IPv6 address."""
    if entry.count(":") > 1 and not entry.startswith("["):
        return entry, ""
    found = re.fullmatch(r"(\[[^\]]*\]|[^:]*)(?::(\d*))?", entry)
    return (found[1], found[2] or "") if found else (entry, "")


def _normal(host: str) -> str:
    return host.strip("[]").rstrip(".").lower()


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def _parse(text: str) -> Proxy:
    try:
        url = urlsplit(text if "://" in text else f"http://{text}")
        host, port = url.hostname, url.port
    except ValueError:
        raise BadProxy("the proxy in the environment is not a valid URL") from None
    if not host:
        raise BadProxy("the proxy in the environment has no host")
    proxy = Proxy(host, port or _DEFAULT_PORTS.get(url.scheme, _DEFAULT_PROXY_PORT), _authorization(url))
    if url.scheme != "http":
        raise BadProxy(f"{proxy.name}: only http:// proxies can be used")
    return proxy


def _authorization(url: SplitResult) -> bytes:
    if url.username is None:
        return b""
    pair = f"{unquote(url.username)}:{unquote(url.password or '')}"
    return b"Basic " + base64.b64encode(pair.encode())
