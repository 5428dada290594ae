"""Forms in the browser tests match those that agents announce."""

import json
from pathlib import Path

from announced_forms import forms

WRITTEN = Path(__file__).parents[3] / "frontend/testing/forms.json"


def test_the_browser_is_tested_on_the_forms_that_are_announced_now() -> None:
    assert json.loads(WRITTEN.read_text()) == forms(), "run ./dev generate"
