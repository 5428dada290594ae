"""Builds the documentation that a server shows at /docs, and the man pages of the commands.

Usage: python docs/site/build_site.py

It writes docs/site/dist/html and docs/site/dist/man. Exit status 1 if a link leads nowhere, or if a page has an inline
script or loads something from another server: the server's policy forbids both.
"""

import json
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from api_reference import api_pages
from command_reference import command_pages
from site_pages import LINK, REFERENCE, ROOT, page_of_directory
from sphinx.cmd.build import build_main

HERE: Final = Path(__file__).parent
_REFUSED: Final = re.compile(
    r"<script(?![^>]*\ssrc=)[^>]*>|<[^>]+\son\w+=[^>]*>|<(?!a\b)[^>]+\s(?:src|href)=[\"']?(?:\w+:)?//[^>]*>"
)


def main() -> None:
    _write_reference()
    made = HERE / "dist"
    shutil.rmtree(made, ignore_errors=True)
    with TemporaryDirectory() as trees:
        for builder, name in (("site", "html"), ("man", "man")):
            options = ["-q", "-W", "--keep-going", "-b", builder, "-c", str(HERE), "-d", trees]
            if build_main([*options, str(ROOT), str(made / name)]) != 0:
                sys.exit(1)
    (made / "html/.buildinfo").unlink()
    (made / "html/_static/licences.txt").write_text("\n\n".join(licences()))
    _show_pictures(made / "html")
    found = list(refused(made / "html"))
    sys.exit("\n".join(found) if found else 0)


def licences() -> Iterator[str]:
    """Yield the licence of each package that leaves files or texts of its own in the pages."""
    for name in tomllib.loads((ROOT / "deploy/release/licences.toml").read_text())["documentation"]:
        package = distribution(name)
        for file in sorted(package.files or (), key=str):
            if file.match("*.dist-info/licenses/[CL]*"):  # COPYING, LICENSE
                yield f"== {name} {package.version}\n{Path(str(package.locate_file(file))).read_text()}"


def _write_reference() -> None:
    top = ROOT / REFERENCE
    shutil.rmtree(top, ignore_errors=True)
    document = json.loads((ROOT / "frontend/openapi.json").read_text())
    for name, text in (*command_pages(), *api_pages(document), *_directories(top)):
        page = top / f"{name}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text + "\n")


def _directories(top: Path) -> Iterator[tuple[str, str]]:
    """Yield a page of files for each directory of the repository that a document links to."""
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("deploy/*.md")]
    linked = {
        (document.parent / link[1]).resolve() for document in documents for link in LINK.finditer(document.read_text())
    }
    for directory in sorted(path for path in linked if path.is_dir()):
        page = page_of_directory(directory)
        if page.is_relative_to(top):
            yield str(page.relative_to(top).with_suffix("")), _files(directory)


def _files(directory: Path) -> str:
    parts = [f"---\norphan: true\n---\n# {directory.relative_to(ROOT)}"]
    for file in sorted(directory.iterdir()):
        if file.is_file():
            text = file.read_text().rstrip()
            parts.append(f"## {file.name}\n[Download](/{file.relative_to(ROOT)})\n\n``````\n{text}\n``````")
    return "\n\n".join(parts)


def _show_pictures(directory: Path) -> None:
    """Lead links to pictures, which Sphinx copies a second time as downloads, to those that the pages show."""
    copies = [copy for copy in (directory / "_downloads").rglob("*") if (directory / "_images" / copy.name).is_file()]
    for page in directory.rglob("*.html"):
        text = page.read_text()
        for copy in copies:
            path = copy.relative_to(directory).as_posix()
            text = re.sub(rf'download="" (href="[./]*){re.escape(path)}"', rf'\1_images/{copy.name}"', text)
        page.write_text(text)
    for copy in copies:
        shutil.rmtree(copy.parent)


def refused(directory: Path) -> Iterator[str]:
    for page in sorted(directory.rglob("*.html")):
        for found in _REFUSED.finditer(page.read_text()):
            yield f"{page}: {found[0][:200]}"


if __name__ == "__main__":
    main()
