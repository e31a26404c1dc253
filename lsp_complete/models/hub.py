"""The Hugging Face hub as a source of model files.

Asks once, briefly, whether the hub is there: behind a firewall the next source should not have to wait.
"""

import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsp_complete.models.catalogue import ModelEntry
from lsp_complete.models.errors import SourceFailed
from lsp_complete.models.source import Fetched, Progress, hash_file

# A hub that can be reached answers a HEAD well within a second.
_PROBE_S = 3.0
# What huggingface_hub takes for yes.
_YES = {"1", "ON", "YES", "TRUE"}
_MAX_REASON_CHARS = 200


@dataclass(frozen=True, slots=True)
class Hub:
    """`endpoint`: by default the one that huggingface_hub is configured for."""

    endpoint: str | None = None
    name: str = "Hugging Face hub"
    num_copies: int = 1

    def fetch(self, entry: ModelEntry, folder: Path, progress: Progress) -> Fetched:
        if os.environ.get("HF_HUB_OFFLINE", "").upper() in _YES:
            raise SourceFailed(self.name, "switched off by HF_HUB_OFFLINE")
        try:
            self._probe(entry)
            path = self._download(entry, folder, progress)
        except ImportError as error:
            raise SourceFailed(self.name, "huggingface_hub is not installed") from error
        except SourceFailed:
            raise
        except Exception as error:  # a library over a network: whatever it raises, the next source is tried
            raise SourceFailed(self.name, _reason(error)) from error
        return Fetched(path, hash_file(path, "checking", progress))

    def _probe(self, entry: ModelEntry) -> None:
        """In a thread of its own: a name lookup knows no timeout. Raises what the hub's client raises."""
        from huggingface_hub import get_hf_file_metadata, hf_hub_url

        url = hf_hub_url(entry.repo, entry.file_name, endpoint=self.endpoint)
        answers: list[Exception | None] = []

        def ask() -> None:
            try:
                get_hf_file_metadata(url, timeout=_PROBE_S)
            except Exception as error:
                answers.append(error)
            else:
                answers.append(None)

        thread = threading.Thread(target=ask, daemon=True, name="hub-probe")
        thread.start()
        thread.join(_PROBE_S + 1)
        if not answers:
            raise SourceFailed(self.name, f"no answer within {_PROBE_S:.0f} s")
        if answers[0] is not None:
            raise answers[0]

    def _download(self, entry: ModelEntry, folder: Path, progress: Progress) -> Path:
        from huggingface_hub import hf_hub_download

        return Path(
            hf_hub_download(
                entry.repo,
                entry.file_name,
                local_dir=folder,
                endpoint=self.endpoint,
                tqdm_class=_bar_class(self.name, entry.num_bytes, progress),
            )
        )


def _bar_class(source: str, total_bytes: int, progress: Progress) -> type[Any]:
    """A progress bar of the hub's own kind that draws nothing and reports instead. The hub may make several for one
    file, of which the furthest counts."""
    from huggingface_hub.utils.tqdm import tqdm

    furthest = 0

    class Bar(tqdm):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **{**kwargs, "disable": True})  # type: ignore[no-untyped-call]
            self.done_bytes = int(kwargs.get("initial") or 0)

        def update(self, n: float | None = 1) -> None:
            nonlocal furthest
            self.done_bytes += int(n or 0)
            furthest = max(furthest, self.done_bytes)
            progress(source, furthest, total_bytes)

    return Bar


def _reason(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:_MAX_REASON_CHARS].rstrip(": ")
