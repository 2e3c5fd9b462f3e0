"""The errors that callers may want to catch; each says what was given and what is allowed."""

from __future__ import annotations


class OptionError(ValueError):
    """An option of a game that does not exist, or a value that it does not take."""


class DealError(ValueError):
    """A position to start from that is not a position of the game."""


class IllegalActionError(ValueError):
    """An action that the rules do not allow now; nothing has changed."""
