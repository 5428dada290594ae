"""Prints ARCHITECTURE.md with the import layers that .importlinter enforces.

Usage: python tests/architecture.py
"""

import re
import sys
from configparser import ConfigParser
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
_CHAIN: Final = re.compile(r"(<!-- imports of (\w+), by ./dev generate -->\n).*?(?=\n\n)", re.DOTALL)
_LINE_CHARACTERS: Final = 118


def chain(part: str) -> str:
    """Return the layers of `iotide_<part>`, highest first, as lines of code in Markdown."""
    contracts = ConfigParser()
    contracts.read(ROOT / ".importlinter")
    layers = contracts[f"importlinter:contract:{part}-layers"]["layers"].replace(f"iotide_{part}.", "").split("\n")
    lines = [""]
    for layer in filter(None, layers):
        if len(lines[-1]) + len(layer) > _LINE_CHARACTERS:
            lines.append("")
        lines[-1] += f"> {layer} " if lines[-1] or len(lines) > 1 else f"{layer} "
    return "\n".join(["```", *map(str.rstrip, lines), "```"])


def main() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    sys.stdout.write(_CHAIN.sub(lambda found: found[1] + chain(found[2]), text))


if __name__ == "__main__":
    main()
