"""Search by the words of a text, with what PostgreSQL has without extensions: what is indexed, and what is asked."""

import re
from typing import Final

_MOST_CHARACTERS: Final = 50_000
"""Of a text; PostgreSQL refuses to index more than a megabyte of words, and a change must not fail by that."""
_BETWEEN_WORDS: Final = r"/._:@~?=&+\#<>-"
"""PostgreSQL would take a path, a host name, an address or a tag for one word, of which nobody types the beginning."""
_WORD: Final = re.compile(r"[^\W_]+")


def words_of(text_sql: str) -> str:
    """The SQL of all words in a text, for an index and for the search that uses it.

    Args:
        text_sql: an immutable expression; JSON among it has its line ends written as two characters.
    """
    shortened = rf"left(replace({text_sql}, '\n', ' '), {_MOST_CHARACTERS})"
    separated = f"translate({shortened}, '{_BETWEEN_WORDS}', repeat(' ', {len(_BETWEEN_WORDS)}))"
    return f"to_tsvector('simple', {separated})"


def query_of(typed: str) -> str | None:
    """What a text must have to hold every word that was typed, or its beginning; None where no word was typed."""
    return " & ".join(f"{word}:*" for word in _WORD.findall(typed)) or None
