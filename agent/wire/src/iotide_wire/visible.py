"""Escapes untrusted texts for a terminal: line breaks and cursor movements become visible."""


def visible(text: str, *, kept: str = "") -> str:
    """Return the text with each unprintable character as its escape, except those in `kept`."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in kept else char.encode("unicode_escape").decode() for char in text
    )
