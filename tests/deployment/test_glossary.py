"""The browser's glossary has the words of GLOSSARY.md."""

import json
from pathlib import Path

from glossary import glossary

WRITTEN = Path(__file__).parents[2] / "frontend/src/lib/glossary.json"


def test_the_browsers_glossary_is_that_of_the_document() -> None:
    assert json.loads(WRITTEN.read_text()) == glossary(), "run ./dev generate"


def test_every_word_has_a_title_and_a_meaning_without_marks() -> None:
    words = glossary()
    assert len(words) > 50
    assert all(one["title"] and one["word"] and one["meaning"] for one in words)
    assert not any("**" in text or "`" in text or "](" in text for one in words for text in one.values())
