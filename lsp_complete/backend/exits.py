"""What no suggestion may bring: credentials, and code that stands word for word in a list of public code.

They work like the stops of stops.py, behind them: each passes on what surely may pass and holds back the rest.
"""

import re
from collections.abc import Sequence
from typing import Protocol

from lsp_complete.backend.stops import Stop
from lsp_complete.backend.winnowing import Blocklist, is_verbatim
from lsp_complete.protocol.completion import Finish

# Formats that are nothing but credentials, by their issuers' documentation.
_CREDENTIAL = re.compile(
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"
    r"|\bgh[opusr]_[A-Za-z0-9]{36,}|\bgithub_pat_\w{60,}|\bglpat-[\w-]{20,}"
    r"|\bxox[abposr]-[A-Za-z0-9-]{10,}|\b[rs]k_live_[A-Za-z0-9]{16,}|\bsk-[\w-]{32,}"
    r"|\bAIza[\w-]{35}|\bnpm_[A-Za-z0-9]{36}|\bhf_[A-Za-z0-9]{30,}|\bpypi-[\w-]{70,}"
    r"|\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]+"
    r"|-----BEGIN (?:[A-Z]+ )?PRIVATE KEY"
)
# What has been passed on and is still looked at: the start of a key's header.
_NUM_SEEN = 40


class Exit(Stop, Protocol):
    """`reason` names it in the metrics."""

    reason: str


class CredentialExit:
    """Holds back the word that is being written, since only a whole one can be told from a credential."""

    finish = Finish.FILTERED
    reason = "credential"

    def __init__(self, prefix: str) -> None:
        self._seen = prefix[-_NUM_SEEN:]
        self._held = ""
        self.stopped = False

    def feed(self, text: str) -> str:
        self._held += text
        return self._pass(len(_whole_words(self._held)))

    def rest(self) -> str:
        return self._pass(len(self._held))

    def _pass(self, length: int) -> str:
        """Up to the word that a credential stands in."""
        found = [m.start() for m in _CREDENTIAL.finditer(self._seen + self._held) if m.end() > len(self._seen)]
        if found and not self.stopped:
            self.stopped = True
            return _whole_words(self._held[: max(0, found[0] - len(self._seen))])
        if self.stopped:
            return ""
        passed, self._held = self._held[:length], self._held[length:]
        self._seen = (self._seen + passed)[-_NUM_SEEN:]
        return passed


def _whole_words(text: str) -> str:
    """The text without the word that it ends in."""
    return re.sub(r"\S+\Z", "", text)


class VerbatimExit:
    """Holds back everything: that a text is copied is known at its end."""

    finish = Finish.FILTERED
    reason = "verbatim"

    def __init__(self, prefix: str, blocklist: Blocklist) -> None:
        self._prefix, self._blocklist = prefix, blocklist
        self._held = ""
        self.stopped = False

    def feed(self, text: str) -> str:
        self._held += text
        return ""

    def rest(self) -> str:
        self.stopped = self.stopped or is_verbatim(self._prefix, self._held, self._blocklist)
        held, self._held = self._held, ""
        return "" if self.stopped else held


class BlankExit:
    """Passes nothing on before there is something to see."""

    finish = Finish.FILTERED
    reason = "empty"
    stopped = False

    def __init__(self) -> None:
        self._held = ""
        self._has_text = False

    def feed(self, text: str) -> str:
        self._held += text
        self._has_text = self._has_text or bool(text.strip())
        return self.rest() if self._has_text else ""

    def rest(self) -> str:
        held, self._held = self._held, ""
        return held if self._has_text else ""


class Exits:
    """Makes the exits of a request. Without `is_on` there are none."""

    def __init__(self, is_on: bool = False, blocklist: Blocklist | None = None) -> None:
        self._is_on, self._blocklist = is_on, blocklist

    def of(self, prefix: str) -> Sequence[Exit]:
        if not self._is_on:
            return ()
        verbatim = [VerbatimExit(prefix, self._blocklist)] if self._blocklist else []
        return (BlankExit(), CredentialExit(prefix), *verbatim)
