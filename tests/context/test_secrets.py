import inspect
import statistics
import time

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
    assert not any(contains_secret(inspect.getsource(each)) for each in (inspect, statistics))


@given(st.text(alphabet=st.sampled_from("aA1:=\"'\n\r -@/._k\x85"), max_size=200), st.sampled_from(SECRETS))
def test_length_and_line_ends_always_stay(text: str, secret: str) -> None:
    redacted, _ = redact(text + secret + text)
    assert len(redacted) == len(text + secret + text)
    assert [char for char in redacted if char in "\r\n"] == [char for char in text + secret + text if char in "\r\n"]


def test_four_kilobytes_take_less_than_two_milliseconds() -> None:
    text = (inspect.getsource(inspect)[:3800] + '\nkey = secret + token + "sk-" + "://" + "eyJ"\n' * 8)[:4096]
    times = []
    for _ in range(20):
        start = time.perf_counter()
        redact(text)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.002, f"{min(times) * 1000:.2f} ms"
