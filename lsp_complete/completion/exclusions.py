"""What the settings say about what stays on the machine, as the policy takes it."""

from lsp_complete.config.settings import Settings
from lsp_complete.context.exclusions import Exclusions
from lsp_complete.text.scopes import Scope


def exclusions_of(settings: Settings) -> Exclusions:
    return Exclusions(
        settings.exclude,
        settings.disabled_languages,
        settings.disabled_repositories,
        tuple(map(Scope, settings.disabled_scopes)),
        settings.max_file_kib * 1024,
    )
