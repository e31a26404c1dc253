import argparse
import getpass
import hashlib
import inspect
import secrets
import ssl
import statistics
import time
import tokenize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_complete.context.secrets import contains_secret, redact

KEY_BLOCK = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRIVATE KEY-----"
# Put together here so that no scanner takes this file for a leak.
SECRETS = [
    KEY_BLOCK,
    "AKIA" + "IOSFODNN7RQ2MPLE",
    'aws_secret_access_key = "' + "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzKEY" + '"',
    "ghp_" + "a1B2" * 9,
    "github_pat_" + "a1B2" * 8,
    "glpat-" + "a1B2" * 5,
    "xoxb-" + "123456789012-abcdefGHIJ",
    "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "sk-ant-" + "a1B2c3D4e5F6g7H8i9J0k",
    "eyJhbGciOiJIUzI1" + ".eyJzdWIiOiIxMjM0" + ".SflKxwRJSMeKKF2QT4",
    "AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q",
    "postgres://admin:" + "s3cr3tpw@db.internal/app",
    'api_key = "' + "9f8a7b6c5d4e3f2a" + '"',
    'const apiKey: string = "' + "9f8a7b6c5d4e3f2a" + '"',
    "{'password': '" + "Tr0ub4dor&3x" + "'}",
    'DB_PASSWORD="' + "hunter2-a9Zk1" + '"',
    "Authorization: Bearer " + "a1B2c3D4e5F6g7H8i9J0k",
    "gloas-" + "a1B2" * 16,
    "GR13489" + "41" + "a1B2c3D4e5F6g7H8i9J0",
    "xapp-1-" + "A1B2C3-123456-abcdef0123456789",
    "https://hooks.slack." + "com/services/T0A1B2C3D/B0A1B2C3D/a1B2c3D4e5F6g7H8i9J0",
    "https://discord.com/api/web" + "hooks/123456789012345678/" + "a1B2" * 17,
    "whsec_" + "a1B2c3D4e5F6g7H8i9J0",
    "sk-proj-" + "a1B2c3D4e5F6g7H8i9J0",
    "hf_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7",
    "npm_" + "a1B2" * 9,
    "//registry.npmjs.org/:_auth" + "Token=0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f",
    "pypi-" + "AgEIcHlwaS5vcmc" + "a1B2" * 20,
    "SG." + "a1B2c3D4e5F6g7H8i9J0kL." + "a1B2" * 10 + "abc",
    "AC" + "0a1b2c3d" * 4,
    "SK" + "0a1b2c3d" * 4,
    "0a1b2c3d" * 4 + "-us12",
    "sq0csp-" + "a1B2" * 10 + "abc",
    "dop_v1_" + "0a1b2c3d" * 8,
    "ya29." + "a1B2c3D4e5F6g7H8i9J0",
    "GOCSPX-" + "a1B2" * 7,
    "AccountKey=" + "a1B2" * 21 + "ab==",
    "https://x.blob.core.windows.net/c?sv=2022&sig=" + "a1B2" * 11 + "%3D",
    "TOKEN: 12345678:" + "AA" + "a1B2" * 8 + "c",
    '"' + "AKCp" + "a1B2c3D4e5F6g7H8i9J0" + '"',
    "DB_PASSWORD=" + "9f8a7b6c5d4e3f2a",
    "secret_key: " + "9f8a7b6c5d4e3f2a  # of production",
    'os.environ.setdefault("API_KEY", "' + "9f8a7b6c5d4e3f2a" + '")',
    "PuTTY-User-Key-File-" + "2: ssh-rsa\nPrivate-Lines: 1\nAAAA\nPrivate-MAC: 00ff",
    f"{'MIIEow' + 'IBAAKCAQEAz7Yw9c2LkQp4dGv1' * 2 + 'x4Rt'}\n" * 3 + "a1B2=",
]
ORDINARY = [
    'token = "identifier"',
    'api_key = os.environ["API_KEY"]',
    'password = "<your password here1>"',
    "token = tokenizer.next_token(text)",
    'secret_name = "database-credentials"',
    "api_key: str = '${API_KEY_2}'",
    "if token == 'STRING' or token == 'NUMBER':",
    "url = 'https://example.org:8080/path@2'",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "sk-test-000",
    "password = getpass()",
    'password = getpass("Password: ")',
    "secret_key = convertUtf8ToBase64",
    "token = next(tokens)  # of 16384 at most",
    "assert response.headers['x-token-id'] == token",
    'def login(password: str = "") -> None: ...',
    "key = hashlib.sha256(text).hexdigest()",
    "API_SKIP = 1",
    "sig=value",
    "see http://localhost:8080/login",
    "class Account_SKU0a1b2c3d: ...",
    "password = 'correct-horse-battery-staple'",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_a_credential_is_covered_and_nothing_moves(secret: str) -> None:
    text = f"before()\n{secret}\nafter()\n"
    redacted, num_found = redact(text)
    assert num_found == 1
    assert "*" * 6 in redacted
    assert [len(line) for line in redacted.split("\n")] == [len(line) for line in text.split("\n")]
    assert redacted.startswith("before()\n")
    assert redacted.endswith("\nafter()\n")
    assert not contains_secret(redacted)


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_code_is_left_alone(text: str) -> None:
    assert redact(text) == (text, 0)


def test_a_key_block_that_is_cut_off_is_covered_to_the_end() -> None:
    assert "MIIEow" not in redact(KEY_BLOCK[:45])[0]


def test_ordinary_modules_hold_no_secret() -> None:
    modules = (inspect, statistics, argparse, secrets, getpass, tokenize, ssl, hashlib)
    assert not any(contains_secret(inspect.getsource(each)) for each in modules)


@given(st.text(alphabet=st.sampled_from("aA1:=\"'\n\r -@/._k\x85"), max_size=200), st.sampled_from(SECRETS))
def test_length_and_line_ends_always_stay(text: str, secret: str) -> None:
    redacted, _ = redact(text + secret + text)
    assert len(redacted) == len(text + secret + text)
    assert [char for char in redacted if char in "\r\n"] == [char for char in text + secret + text if char in "\r\n"]


@given(st.sampled_from(SECRETS), st.integers(0, 2000), st.integers(0, 2000), st.integers(0, 300))
def test_what_is_covered_does_not_depend_on_where_one_looks(secret: str, before: int, after: int, cut: int) -> None:
    """A credential that reaches into the part that is looked at is covered there as it is in the whole text."""
    text = "x = f(1)\n" * (before // 9) + secret + "\ny = g(2)" * (after // 9)
    whole, _ = redact(text)
    start = before // 9 * 9 + cut % len(secret)
    part, _ = redact(text, start, len(text))
    assert part[start:] == whole[start:]
    assert redact(text, 0, start)[0][:start] == whole[:start]


def test_four_kilobytes_take_less_than_two_milliseconds() -> None:
    text = (inspect.getsource(inspect)[:3800] + '\nkey = secret + token + "sk-" + "://" + "eyJ"\n' * 8)[:4096]
    times = []
    for _ in range(20):
        start = time.perf_counter()
        redact(text)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.002, f"{min(times) * 1000:.2f} ms"
