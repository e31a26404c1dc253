"""Which proxy the environment names for a service. The tunnel itself is tested in test_tunnel.py."""

import pytest

from lsp_complete.client.proxies import BadProxy, Proxy, proxy_for

EVERYTHING = {"HTTP_PROXY": "http://web:3128", "HTTPS_PROXY": "http://tls:3128", "ALL_PROXY": "http://all:3128"}


def proxy_host(host: str, environ: dict[str, str], *, scheme: str = "https", port: int = 443) -> str | None:
    proxy = proxy_for(scheme, host, port, environ)
    return proxy.host if proxy else None


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.8.9.10",
        "::1",
        "[::1]",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "a.localhost",
        "::ffff:127.0.0.1",
    ],
)
def test_this_machine_is_never_behind_a_proxy(host: str) -> None:
    assert proxy_host(host, EVERYTHING | {"NO_PROXY": ""}) is None


@pytest.mark.parametrize(
    "host", ["10.0.0.7", "128.0.0.1", "::2", "localhost.example.com", "mylocalhost", "127.example.com"]
)
def test_any_other_machine_is(host: str) -> None:
    assert proxy_host(host, EVERYTHING) == "tls"


def test_each_scheme_has_its_variable_and_all_proxy_is_for_the_rest() -> None:
    assert proxy_host("ai.corp", EVERYTHING, scheme="http") == "web"
    assert proxy_host("ai.corp", EVERYTHING, scheme="https") == "tls"
    assert proxy_host("ai.corp", {"ALL_PROXY": "http://all:3128"}) == "all"
    assert proxy_host("ai.corp", {"HTTP_PROXY": "http://web:3128"}, scheme="https") is None
    assert proxy_host("ai.corp", {}) is None


def test_both_spellings_are_read_and_lower_case_comes_first() -> None:
    assert proxy_host("ai.corp", {"https_proxy": "http://low:1"}) == "low"
    assert proxy_host("ai.corp", {"https_proxy": "http://low:1", "HTTPS_PROXY": "http://up:1"}) == "low"
    assert proxy_host("ai.corp", {"https_proxy": "", "HTTPS_PROXY": "http://up:1"}) is None
    assert proxy_host("ai.corp", {"HTTPS_PROXY": "http://up:1", "no_proxy": "ai.corp"}) is None
    assert proxy_host("ai.corp", {"HTTPS_PROXY": "http://up:1", "NO_PROXY": "ai.corp"}) is None


@pytest.mark.parametrize(
    ("no_proxy", "host", "is_direct"),
    [
        ("*", "ai.corp", True),
        ("ai.corp", "ai.corp", True),
        ("AI.Corp", "ai.corp", True),
        ("other,ai.corp", "ai.corp", True),
        ("other ai.corp", "ai.corp", True),
        (" other , ai.corp ", "ai.corp", True),
        ("corp", "ai.corp", True),
        (".corp", "ai.corp", True),
        ("*.corp", "ai.corp", True),
        (".ai.corp", "ai.corp", True),
        ("orp", "ai.corp", False),
        ("ai.corp", "my-ai.corp", False),
        ("ai.corp", "ai.corp.evil", False),
        ("ai.corp:8443", "ai.corp", True),
        ("ai.corp:443", "ai.corp", False),
        (".corp:8443", "ai.corp", True),
        ("10.0.0.7", "10.0.0.7", True),
        ("10.0.0.7:8443", "10.0.0.7", True),
        ("10.0.0.7:80", "10.0.0.7", False),
        ("0.0.7", "10.0.0.7", False),
        ("10.0.0.70", "10.0.0.7", False),
        ("fd00::7", "fd00::7", True),
        ("fd00:0::7", "fd00::7", True),
        ("[fd00::7]:8443", "fd00::7", True),
        ("[fd00::7]:80", "fd00::7", False),
        ("", "ai.corp", False),
        (",, ,", "ai.corp", False),
        (".", "ai.corp", False),
        (":8443", "ai.corp", False),
        ("[", "ai.corp", False),
    ],
)
def test_no_proxy_takes_hosts_suffixes_ports_and_a_star(no_proxy: str, host: str, is_direct: bool) -> None:
    environ = {"HTTPS_PROXY": "http://up:1", "NO_PROXY": no_proxy}
    assert (proxy_host(host, environ, port=8443) is None) is is_direct


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://up:3128", Proxy("up", 3128)),
        ("up:3128", Proxy("up", 3128)),
        ("http://up:3128/", Proxy("up", 3128)),
        ("http://up", Proxy("up", 80)),
        ("http://[fd00::1]:3128", Proxy("fd00::1", 3128)),
        ("http://user:p%40ss@up:3128", Proxy("up", 3128, b"Basic dXNlcjpwQHNz")),
    ],
)
def test_a_proxy_is_written_with_or_without_scheme_port_and_credentials(text: str, expected: Proxy) -> None:
    assert proxy_for("https", "ai.corp", 443, {"https_proxy": text}) == expected


@pytest.mark.parametrize(
    "text", ["socks5://u:secret@up:1080", "https://u:secret@up", "http://u:secret@up:port", "http://"]
)
def test_a_proxy_that_cannot_be_used_is_named_without_its_credentials(text: str) -> None:
    with pytest.raises(BadProxy, match="proxy") as failure:
        proxy_for("https", "ai.corp", 443, {"https_proxy": text})
    assert "secret" not in str(failure.value)


def test_a_proxy_shows_no_credentials() -> None:
    proxy = proxy_for("https", "ai.corp", 443, {"https_proxy": "http://user:secret@up:3128"})
    assert proxy is not None
    assert (proxy.name, "dXNlcjpzZWNyZXQ=" in repr(proxy)) == ("proxy up:3128", False)
