"""What a user keeps on the machine, beyond what is kept there anyway (policy.py)."""

from dataclasses import dataclass

from lsp_complete.text.scopes import Scope

# A larger file is data, and every keystroke in it would copy megabytes.
MAX_FILE_BYTES = 2 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Exclusions:
    """`globs` are patterns of .gitignore, `languages` ids, `repositories` patterns of the addresses of git remotes."""

    globs: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()
    scopes: tuple[Scope, ...] = ()
    max_file_bytes: int = MAX_FILE_BYTES


NO_EXCLUSIONS = Exclusions()
