"""Where the project's files lie on this machine, for this user."""

import os
from pathlib import Path

import platformdirs

_APP = "lsp-complete"


def config_file() -> Path:
    """The user's settings, TOML."""
    return Path(os.environ.get("LSP_COMPLETE_CONFIG") or platformdirs.user_config_path(_APP) / "config.toml")


def model_folder() -> Path:
    """Model files, large; safe to delete."""
    return Path(os.environ.get("LSP_COMPLETE_MODELS") or platformdirs.user_cache_path(_APP) / "models")


def index_folder() -> Path:
    """What is known of repositories; safe to delete."""
    return Path(os.environ.get("LSP_COMPLETE_INDEXES") or platformdirs.user_cache_path(_APP) / "index")


def tree_folder() -> Path:
    """Source trees that retrieval is measured on; safe to delete."""
    return Path(os.environ.get("LSP_COMPLETE_TREES") or platformdirs.user_cache_path(_APP) / "trees")


def state_folder() -> Path:
    """What became of suggestions, if it is remembered; safe to delete."""
    return Path(os.environ.get("LSP_COMPLETE_STATE") or platformdirs.user_state_path(_APP))


def log_folder() -> Path:
    return Path(os.environ.get("LSP_COMPLETE_LOGS") or platformdirs.user_log_path(_APP))


def audit_file() -> Path:
    """What left this machine; private to the user."""
    return log_folder() / "audit.jsonl"


def runtime_folder() -> Path:
    """Where the running service says how to reach it. Private to the user: made with mode 0700. Never below a folder
    that others can write to, as the usual substitutes of a missing XDG_RUNTIME_DIR are."""
    known = os.environ.get("LSP_COMPLETE_RUNTIME") or os.environ.get("XDG_RUNTIME_DIR")
    folder = Path(known) / _APP if known else platformdirs.user_state_path(_APP) / "run"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
