"""Ready-made campaigns for the browser's builder, from the plans in examples/; see `./dev generate`.

The comment at the head of a plan is its text: `# Title: summary.` and `# Question: ...?`.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any, Final

from iotide_agent.cli.plan_file import read_plan

EXAMPLES: Final = Path(__file__).parents[1] / "examples"
QUESTIONS: Final = ("quick-check", "iozone-surface", "metadata", "scaling", "mixed")
READY_MADE: Final = (*QUESTIONS, *(f"experiment-{number}" for number in range(1, 10)))
_HEAD: Final = re.compile(r"(?P<title>[^:]+): (?P<summary>.+?\.) Question: (?P<question>[^?]+\?)")


def head_of(text: str) -> dict[str, str]:
    """Return title, summary and question of a plan; raise ValueError if its head lacks one."""
    lines = text.split("\nname:", maxsplit=1)[0].splitlines()
    words = " ".join(line.removeprefix("#").strip() for line in lines)
    match = _HEAD.match(words)
    if match is None:
        raise ValueError(f"begin with `# Title: summary.` and `# Question: ...?`: {words[:80]}")
    parts = match.groupdict()
    return {name: part[0].upper() + part[1:] for name, part in parts.items()}


def ready_made() -> list[dict[str, Any]]:
    """Return each ready-made campaign: key, title, summary, question and complete plan."""
    return [
        {"key": key, **head_of(path.read_text()), "plan": read_plan(path).model_dump(mode="json")}
        for key in READY_MADE
        for path in [EXAMPLES / f"{key}.yaml"]
    ]


if __name__ == "__main__":
    sys.stdout.write(f"{json.dumps(ready_made(), indent=2)}\n")
