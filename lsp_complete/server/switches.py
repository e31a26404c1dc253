"""What a user has switched by a command, over the settings: until the editor closes, or the setting itself changes."""

from dataclasses import dataclass, replace

from lsp_complete.config.settings import Settings


@dataclass(frozen=True, slots=True)
class Switches:
    """`is_flipped` turns the setting `enabled` over; `languages` are those whose part in `disabled_languages` is."""

    is_flipped: bool = False
    languages: frozenset[str] = frozenset()

    def over(self, settings: Settings) -> Settings:
        disabled = self.languages.symmetric_difference(settings.disabled_languages)
        ordered = [name for name in settings.disabled_languages if name in disabled]
        ordered += sorted(disabled.difference(ordered))
        enabled = settings.enabled is not self.is_flipped
        return settings.model_copy(update={"enabled": enabled, "disabled_languages": tuple(ordered)})

    def toggled(self) -> "Switches":
        return replace(self, is_flipped=not self.is_flipped)

    def language_toggled(self, language: str) -> "Switches":
        return replace(self, languages=self.languages ^ {language})

    def kept(self, old: Settings, new: Settings) -> "Switches":
        """Whoever changes a setting means what they write."""
        return Switches(
            self.is_flipped and old.enabled == new.enabled,
            self.languages if old.disabled_languages == new.disabled_languages else frozenset(),
        )
