"""Checks the links of all Markdown files: each leads to a file of the repository and to one of its headings.

Usage: python tests/links.py

A finding is one line, `file:line: problem`; exit status 1 if there is one. Other servers are not asked.
"""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from os.path import normpath
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.anchors import anchors_plugin

ROOT: Final = Path(__file__).parents[1]
INDEX: Final = "docs/README.md"
_PARSER: Final = MarkdownIt().enable("table").use(anchors_plugin, max_level=6)


@dataclass(frozen=True)
class Document:
    """Anchors of a Markdown file, and its links with their lines."""

    anchors: frozenset[str]
    links: tuple[tuple[int, str], ...]


def read(text: str) -> Document:
    tokens = _PARSER.parse(text)
    anchors = frozenset(str(token.attrs["id"]) for token in tokens if "id" in token.attrs)
    return Document(anchors, tuple(_links(tokens)))


def _links(tokens: list[Token]) -> Iterator[tuple[int, str]]:
    line = 0
    for token in tokens:
        line = token.map[0] + 1 if token.map else line
        for inline in token.children or ():
            for part in (inline, *(inline.children or ())):
                target = part.attrs.get("href", part.attrs.get("src"))
                if target is not None:
                    yield line, str(target)


def problems(documents: dict[str, Document], files: frozenset[str]) -> Iterator[str]:
    """Yield a line for each link to a missing file or heading, and for each page of docs/ that the index leaves out."""
    for name, document in documents.items():
        for line, target in document.links:
            url = urlsplit(target)
            if url.scheme or url.netloc:
                continue
            path = normpath(Path(name).parent / unquote(url.path)) if url.path else name
            if path not in files:
                yield f'{name}:{line}: "{target}": no such file or directory in git'
            elif url.fragment and url.fragment not in documents.get(path, document).anchors:
                yield f'{name}:{line}: "{target}": {path} has no heading "{url.fragment}"'
    listed = {normpath(f"docs/{target}") for _, target in documents[INDEX].links}
    for name in documents:
        if Path(name).parent == Path("docs") and name not in {INDEX, *listed}:
            yield f"{INDEX}:1: add {name} to a section; the menu at /docs is made from it"


def main() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    files = frozenset(listed) | {str(parent) for name in listed for parent in Path(name).parents}
    documents = {name: read((ROOT / name).read_text()) for name in listed if name.endswith(".md")}
    found = list(problems(documents, files))
    sys.exit("\n".join(found) if found else 0)


if __name__ == "__main__":
    main()
