"""What can go wrong with a model's file. Every message is meant for the user."""


class ModelError(Exception):
    """No usable model file."""


class SourceFailed(ModelError):
    """One source could not give the file; the next one is tried."""

    def __init__(self, source: str, reason: str) -> None:
        super().__init__(f"{source}: {reason}")
        self.source = source
        self.reason = reason


class WrongHash(SourceFailed):
    """A source gave other bytes than the pinned hash says. They have been removed."""
