"""Texts of others as a terminal may show them: what begins another line or moves the cursor is written out."""


def visible(text: str, *, kept: str = "") -> str:
    """The text with each character that cannot be printed as its escape: a terminal would obey some of them.

    Args:
        kept: such characters that stay what they are, for instance ends of lines that are ours.
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in kept else char.encode("unicode_escape").decode() for char in text
    )
