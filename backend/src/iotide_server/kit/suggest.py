"""Remedies for names that nobody knows."""

from collections.abc import Collection
from difflib import get_close_matches

_MOST_SHOWN = 12


def choose_from(given: str, known: Collection[str]) -> str:
    """What to write instead of `given`: the name that was probably meant, else the names there are."""
    close = get_close_matches(given, known, n=1)
    if close:
        return f"did you mean {close[0]}?"
    if not known:
        return "there are none yet"
    shown = sorted(known)[:_MOST_SHOWN]
    more = f" and {len(known) - len(shown)} more" if len(known) > len(shown) else ""
    return f"choose one of {', '.join(shown)}{more}"
