"""Search by words: what PostgreSQL is asked for what somebody typed."""

import re
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+")


def query_of(typed: str) -> str | None:
    """What a text must have to hold every word that was typed, or its beginning; None where no word was typed."""
    return " & ".join(f"{word}:*" for word in _WORD.findall(typed)) or None
