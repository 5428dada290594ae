"""The language check finds planted sentences and names of each kind, and leaves plain ones alone."""

from pathlib import Path

import pytest
from language import check

PLAIN = '''"""Queues of nodes."""


def next_run(node_id: int) -> int:
    """Return the run that starts next on the node; raise QUEUE_EMPTY without one."""
    # The newest run waits longest, so that no owner starves.
    return node_id
'''
FILES = {
    "module.py": PLAIN,
    "page.po": '#: src/Page.tsx\nmsgid "{0} runs are waiting"\nmsgstr ""\n',
    "guide.md": "# How do I drain a node?\nNothing new starts on a drained node.\n\n    iotide drain node node07\n",
    "part.ts": "/** Returns the runs of a campaign. */\nexport const runs = 1;\n",
}
PLANTED = {
    "an idiom in a docstring": ("module.py", "Return the run", "Tell of the run", "Tell"),
    "an idiom in a comment": ("module.py", "The newest run", "So many runs", "So many"),
    "an idiom over the end of a line": ("module.py", "no owner starves", "no run is made\n    # good", "made good"),
    "an idiom in a message": ("module.py", "return node_id", 'raise ValueError("ask somebody else here")', "somebody"),
    "an idiom on a page": ("page.po", "are waiting", "are put off", "put off"),
    "an idiom in a document": ("guide.md", "Nothing new", "What is new goes on and", "goes on"),
    "an idiom in a comment of TypeScript": ("part.ts", "the runs", "the news", "news"),
    "a flag's code on a page": ("page.po", "are waiting", "are CACHE_SIZE", "CACHE_SIZE"),
    "a sentence whose subject is a clause": (
        "guide.md",
        "Nothing new",
        "What is new never",
        "What is new never starts",
    ),
    "a long sentence in a document": (
        "guide.md",
        "a drained node",
        "a node " + "and a node " * 15,
        "Nothing new starts",
    ),
    "a long sentence on a page": ("page.po", "are waiting", "wait " + "and wait " * 20, "{0} runs wait"),
    "an idiom in a name of Python": ("module.py", "next_run", "tell_run", "tell_run"),
    "an idiom in the name of an argument": ("module.py", "node_id: int", "whose_node: int", "whose_node"),
    "an idiom in a name of TypeScript": ("part.ts", "const runs", "const heardRuns", "heardRuns"),
    "a docstring that opens with a clause": ("module.py", "Return the run that", "Whether the run", "Whether the run"),
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(check, "ROOT", tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def found(root: Path) -> list[str]:
    paths = sorted(path.name for path in root.iterdir())
    return [f"{path}:{line}: {what}" for path, line, what, _ in check.all_findings(paths)]


def test_plain_texts_and_names_have_no_finding(root: Path) -> None:
    assert found(root) == []


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_sentence_is_found_with_its_file(root: Path, kind: str) -> None:
    name, plain, planted, expected = PLANTED[kind]
    text = (root / name).read_text()
    assert plain in text
    (root / name).write_text(text.replace(plain, planted))
    assert any(one.startswith(f"{name}:") and expected in one for one in found(root)), found(root)


def test_a_finding_names_its_line(root: Path) -> None:
    (root / "module.py").write_text(
        PLAIN.replace("The newest run waits", "The newest waits,\n    # told by the queue,")
    )
    assert found(root) == ["module.py:7: told"]
