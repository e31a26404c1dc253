"""What an installation may lack, and how it is brought."""

# Exit codes of the service that tell its starter what to say to the user.
EXIT_MODEL_MISSING = 3
EXIT_ENGINE_MISSING = 4

# The package is on no index yet. `--force`: pipx leaves a package alone that it has installed without the extra.
_HOW = "install lsp-complete with the extra `{0}`, in a checkout: pipx install --force '.[{0}]'"


def extra_of(engine: str) -> str:
    """The one that brings what an engine runs on."""
    return {"transformers": "gpu", "openai": "serve"}.get(engine, "cpu")


def how_to_install(extra: str) -> str:
    return _HOW.format(extra)
