"""The words of GLOSSARY.md for the browser's glossary; see `./dev generate`."""

import json
import re
import sys
from pathlib import Path
from typing import Final

_FILE: Final = Path(__file__).parents[1] / "GLOSSARY.md"
_ROW: Final = re.compile(r"^\| (?P<word>.+?) \| ?(?P<meaning>.*?) ?\|$")
_MARKS: Final = re.compile(r"\*\*|`|\[(?P<shown>[^\]]+)\]\([^)]+\)")


def glossary() -> list[dict[str, str]]:
    """Return each word with its meaning and the title above it, in the order of the page."""
    words: list[dict[str, str]] = []
    title = ""
    for line in _FILE.read_text().splitlines():
        row = _ROW.match(line)
        if row is None or row["word"] in {"word", "---"}:
            continue
        if row["meaning"]:
            words.append({"title": title, "word": _plain(row["word"]), "meaning": _plain(row["meaning"])})
        else:
            title = _plain(row["word"])
    return words


def _plain(text: str) -> str:
    return _MARKS.sub(lambda mark: mark["shown"] or "", text)


if __name__ == "__main__":
    sys.stdout.write(f"{json.dumps(glossary(), indent=2, ensure_ascii=False)}\n")
