"""Who else may use the service: a file with a name and a credential on each line."""

from pathlib import Path

# Shorter ones can be guessed.
_MIN_CHARACTERS = 16


def read_tenants(path: Path) -> dict[str, str]:
    """Credential -> name. Raises OSError that names the line and never what stands there."""
    tenants = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, credential = line.strip().partition(" ")
        if len(credential.strip()) < _MIN_CHARACTERS:
            raise OSError(f"{path.name}, line {number}: not a name and a credential of {_MIN_CHARACTERS} characters")
        tenants[credential.strip()] = name
    return tenants
