"""Checks that the texts and names of the repository are plain English, as GLOSSARY.md has the words.

Usage: python tests/language/check.py [--words | --sample SEED] [PATH...]

Rules and their remedies are rows of words.toml. A finding is one line, `file:line: "found": remedy`; exit status 1 if
there is one. `--words` counts the words of prose by part; `--sample` prints 40 docstrings, 40 page texts, 10 errors and
10 paragraphs of docs, drawn with that seed.
"""

import argparse
import ast
import io
import random
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
LONGEST_SENTENCE_WORDS: Final = 30
NOUN_CLAUSES_AT_MOST: Final = 0.05
FEWEST_SPACES: Final = 2
"""In a string of code that is prose, and no name or key."""
_NOT_OURS: Final = re.compile(
    r"^(tests/(data|fuzzing/corpus|language/(words\.toml|test_))|frontend/(openapi\.json|src/api/schema\.d\.ts|testing/.*\.json)"
    r"|docs/access\.md|LICENSE|CHANGELOG\.md$(?#its own releases stay as they were))"
)
_CLAUSE: Final = re.compile(
    r"(What|Whether|Which|Who|Whose|Where|When|Why|How|That|Of|In|On|By|For|From|With|At|To|As|Into|Between|Beside|Under|Over|Per|Without|Within)\b"
)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])[\"')*]*\s+(?=[A-Z0-9\"'`(<{*\[])")
_CODE: Final = re.compile(r"`[^`]*`|\{[^{}]*\}|https?://\S+")
_SQL: Final = re.compile(r"\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|FROM|WHERE|JOIN|CREATE|ALTER|SET)\b")
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z'-]*")


@dataclass(frozen=True)
class Text:
    """A piece of prose.

    Attributes:
        kind: docstring, comment, message (a string of code with a space in it), page, or document.
        name: The public function or class of a docstring, or "".
    """

    path: str
    line: int
    kind: str
    prose: str
    name: str = ""


@dataclass(frozen=True)
class Rule:
    """A row of words.toml: what is found, in which kinds of text, and what to write instead."""

    pattern: re.Pattern[str]
    remedy: str
    kinds: frozenset[str]


def _table() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("words.toml").read_text())


def rules() -> tuple[list[Rule], list[Rule]]:
    """Return the rules for prose and those for parts of names."""
    table = _table()
    prose = [
        # A phrase may go over the end of a line.
        Rule(re.compile(row["find"].replace(" ", r"\s"), re.IGNORECASE), row["write"], frozenset(row.get("in", ())))
        for row in table["prose"]
    ]
    return prose, [Rule(re.compile(rf"(^|_){row['find']}(_|$)"), row["write"], frozenset()) for row in table["name"]]


def texts_of(path: str) -> Iterator[Text]:
    """Yield the prose of a file below the root; nothing for a kind of file that holds none."""
    if _NOT_OURS.search(path) or not (ROOT / path).is_file():
        return
    suffix = Path(path).suffix
    if suffix == ".py":
        yield from _of_python(path, _read(path))
    elif suffix == ".md":
        yield from _of_markdown(path, _read(path))
    elif suffix == ".po":
        yield from _of_catalogue(path, _read(path))
    elif suffix in {".ts", ".tsx", ".mjs", ".css", ".c"}:
        yield from _of_comments(
            path, _read(path), r"(?:^|\s)//+ ?(.*)$|^\s*(?:/\*\*?|\*(?!/)) ?(.*?)(?:\*/)?$|\{?/\*\*? ?(.*?)\*/"
        )
    elif suffix in {".sql", ".lua"}:
        yield from _of_comments(path, _read(path), r"(?:^|\s)-- ?(.*)$")
    elif suffix in {".sh", ".toml", ".yml", ".yaml", ".ini", ".conf", ".service"} or path in {
        "dev",
        ".importlinter",
        ".ci/run",
    }:
        yield from _of_comments(path, _read(path), r"(?:^|\s)# ?(.*)$")


def _read(path: str) -> str:
    return (ROOT / path).read_text(errors="replace")


def _of_python(path: str, source: str) -> Iterator[Text]:
    tree = ast.parse(source)
    docstrings = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node
        ):
            first = node.body[0]
            docstrings.add(id(first.value))  # type: ignore[attr-defined]  # get_docstring has seen the expression
            name = getattr(node, "name", "")
            public = name if not name.startswith("_") else ""
            yield Text(path, first.lineno, "docstring", ast.get_docstring(node) or "", public)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in docstrings:
            continue
        # Strings of tests are data and captured output.
        is_prose = node.value.strip().count(" ") >= FEWEST_SPACES and not path.startswith("tests/")
        if is_prose and not _SQL.search(node.value):
            yield Text(path, node.lineno, "message", node.value)
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = [token for token in tokens if token.type == tokenize.COMMENT]
    yield from _joined(path, [(comment.start[0], comment.string.lstrip("#: ")) for comment in comments])


def _joined(path: str, comments: list[tuple[int, str]]) -> Iterator[Text]:
    """Yield comments on successive lines as one text each."""
    block: list[str] = []
    start = last = -1
    for line, text in comments:
        if block and line != last + 1:
            yield Text(path, start, "comment", "\n".join(block))
            block = []
        if not block:
            start = line
        block.append(text)
        last = line
    if block:
        yield Text(path, start, "comment", "\n".join(block))


def _of_comments(path: str, source: str, pattern: str) -> Iterator[Text]:
    found = []
    for number, line in enumerate(source.splitlines(), 1):
        match = re.search(pattern, line)
        if match and not line.startswith("#!"):
            found.append((number, next(filter(None, match.groups()), "")))
    yield from _joined(path, found)


def _of_markdown(path: str, source: str) -> Iterator[Text]:
    block: list[str] = []
    start, fenced = 1, False
    for number, written in enumerate([*source.splitlines(), ""], 1):
        fence = written.lstrip().startswith("```")
        fenced = fenced != fence
        line = "" if fenced or fence or written.startswith(("    ", "<!--", "![")) else written
        parts = line.strip().strip("|").split(" | ") if line.startswith("|") else None
        starts = parts is not None or not line.strip() or re.match(r"\s*([-*]|\d+\.|#+) ", line)
        if starts and block:
            yield Text(path, start, "document", _plain(" ".join(block)))
            block = []
        if parts is not None:
            for cell in parts:
                yield Text(path, number, "document", _plain(cell))
        elif line.strip():
            if not block:
                start = number
            block.append(line.strip())
            if line.startswith("#"):  # a heading is no part of the text below it
                yield Text(path, number, "document", _plain(" ".join(block)))
                block = []


def _plain(markdown: str) -> str:
    """Return prose without marks: links as their texts, code as one word."""
    linked = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", markdown)
    return re.sub(r"^([-*]|\d+\.|#+) |\*\*|</?\w+[^>]*>", "", re.sub(r"`+[^`]*`+", "`code`", linked))


def _of_catalogue(path: str, source: str) -> Iterator[Text]:
    line = 0
    for entry in source.split("\n\n"):
        where = re.search(r"^#: (\S+)", entry, re.MULTILINE)
        message = re.search(r'^msgid ((?:".*"\n?)+)', entry, re.MULTILINE)
        if where and message:
            offset = entry[: message.start()].count("\n")
            prose = "".join(re.findall(r'"(.*)"', message.group(1))).replace('\\"', '"').replace("\\n", "\n")
            yield Text(path, line + offset + 1, "page", re.sub(r"</?\d+/?>", "", prose), where.group(1))
        line += entry.count("\n") + 2


def sentences(prose: str) -> list[str]:
    """Return the sentences of a text, code and places for values counted as one word each."""
    return [
        sentence
        for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\w+:) )", prose)
        for sentence in _SENTENCE_END.split(" ".join(block.split()))
    ]


def findings(texts: Iterable[Text], prose_rules: list[Rule]) -> Iterator[tuple[str, int, str, str]]:
    """Yield path, line, what was found, and its remedy."""
    for text in texts:
        plain = re.sub(r"\n +", "\n", _CODE.sub(lambda found: "\n" * found.group().count("\n") + "X", text.prose))
        for rule in prose_rules:
            if rule.kinds and text.kind not in rule.kinds:
                continue
            for match in rule.pattern.finditer(plain):
                yield (
                    text.path,
                    text.line + plain.count("\n", 0, match.start()),
                    " ".join(match.group().split()),
                    rule.remedy,
                )
        if text.kind in {"page", "document"}:
            for sentence in sentences(text.prose):
                words = len(_WORD.findall(sentence))
                if words > LONGEST_SENTENCE_WORDS:
                    yield text.path, text.line, f"{sentence[:60]}...", f"split this sentence of {words} words"


def bad_names(path: str, name_rules: list[Rule]) -> Iterator[tuple[str, int, str, str]]:
    """Yield names that a file defines with a part that is an idiom."""
    if _NOT_OURS.search(path) or Path(path).suffix not in {".py", ".ts", ".tsx"}:
        return
    contracts = {name for row in _table()["contract"] for name in row["names"]}
    for line, name in _names_of(path):
        if name in contracts:
            continue
        parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
        for rule in name_rules:
            if rule.pattern.search(parts):
                yield path, line, name, f"name it otherwise: {rule.remedy}"


def _names_of(path: str) -> Iterator[tuple[int, str]]:
    source = _read(path)
    if path.endswith(".py"):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield node.lineno, node.name
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.lineno, node.id
            elif isinstance(node, ast.arg):
                yield node.lineno, node.arg
            elif (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and re.fullmatch(r"[a-z]+(_[a-z]+)+", node.value)
            ):
                yield node.lineno, node.value  # a code, a log event, a column
    else:
        for number, line in enumerate(source.splitlines(), 1):
            for match in re.finditer(
                r"\b(?:function|const|let|class|interface|type)\s+(\w+)|^\s*(?:readonly )?(\w+)\??: ", line
            ):
                yield number, match.group(1) or match.group(2)
    yield 1, Path(path).stem


def clause_share(texts: Iterable[Text]) -> tuple[float, list[Text]]:
    """Return the share of public docstrings that open with a noun clause or a preposition, and those docstrings."""
    public = [text for text in texts if text.kind == "docstring" and text.name and not text.path.startswith("tests/")]
    opened = [text for text in public if _CLAUSE.match(text.prose)]
    return len(opened) / max(len(public), 1), opened


def all_findings(paths: Sequence[str]) -> list[tuple[str, int, str, str]]:
    """Return path, line, finding and remedy of all texts and names in files below the root, sorted."""
    prose_rules, name_rules = rules()
    texts = [text for path in paths for text in texts_of(path)]
    found = {*findings(texts, prose_rules), *(finding for path in paths for finding in bad_names(path, name_rules))}
    share, opened = clause_share(texts)
    if share > NOUN_CLAUSES_AT_MOST:
        found |= {(text.path, text.line, text.prose.split("\n")[0][:60], "open with a verb") for text in opened}
    return sorted(found)


def part(path: str) -> str:
    """Return the part of the product that a file belongs to."""
    for prefix in (
        "backend/src",
        "agent/node",
        "agent/wire",
        "frontend",
        "tests",
        "migrations",
        "deploy",
        "docs/adr",
        "docs",
        "examples",
    ):
        if path.startswith(f"{prefix}/"):
            return prefix
    return "top level"


def words(texts: Iterable[Text]) -> str:
    """Return a table of the words of prose by part and kind."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for text in texts:
        counts[part(text.path)][text.kind] += len(_WORD.findall(text.prose))
    kinds = ["docstring", "comment", "message", "page", "document"]
    rows = [f"{'part':12}" + "".join(f"{kind:>11}" for kind in kinds)]
    rows += [f"{name:12}" + "".join(f"{count[kind]:11}" for kind in kinds) for name, count in sorted(counts.items())]
    return "\n".join(rows)


def sample(texts: list[Text], seed: int) -> str:
    """Return texts of each kind, drawn with the seed."""
    draw = random.Random(seed)  # noqa: S311 - drawn again with the same seed; no secret
    ours = [text for text in texts if not text.path.startswith("tests/")]
    kinds = {
        "docstrings": (40, [text for text in ours if text.kind == "docstring"]),
        "page texts": (40, [text for text in ours if text.kind == "page"]),
        "errors": (10, [text for text in ours if text.kind == "message" and "errors" in text.path]),
        "paragraphs": (10, [text for text in ours if text.kind == "document" and text.prose.count(" ") > 15]),
    }
    lines = [f"seed {seed}"]
    for name, (count, population) in kinds.items():
        lines.append(f"\n## {count} {name} of {len(population)}")
        drawn = draw.sample(population, count)
        lines += [f"- {text.path}:{text.line}: {' '.join(text.prose.split())}" for text in drawn]
    return "\n".join(lines)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def main(arguments: list[str]) -> int:
    """Check the files named, or all of the repository; return the exit status."""
    parser = argparse.ArgumentParser(description="Check that texts and names are plain English.")
    parser.add_argument("--words", action="store_true")
    parser.add_argument("--sample", type=int, metavar="SEED")
    parser.add_argument("paths", nargs="*")
    given = parser.parse_args(arguments)
    listed = subprocess.run(
        ["git", "ls-files", "--", *given.paths], cwd=ROOT, capture_output=True, text=True, check=True
    )
    paths = listed.stdout.splitlines()
    texts = [text for path in paths for text in texts_of(path)]
    if given.words:
        _say(words(texts))
        return 0
    if given.sample is not None:
        _say(sample(texts, given.sample))
        return 0
    found = all_findings(paths)
    for path, line, what, remedy in found:
        _say(f'{path}:{line}: "{what}": {remedy}')
    share, _ = clause_share(texts)
    _say(f"language: {len(texts)} texts, {len(found)} findings, {share:.1%} of public docstrings open with a clause")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
