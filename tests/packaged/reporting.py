"""Results of the tests of packages."""


class Table:
    """Results by test and system; each is printed when it is known."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[str, str]] = {}

    def add(self, row: str, system: str, result: str) -> None:
        self._rows.setdefault(row, {})[system] = result
        say(f"{system}: {row}: {result}")

    def print(self) -> None:
        """Print all results as a table in Markdown."""
        systems = list(dict.fromkeys(system for found in self._rows.values() for system in found))
        lines = [["test", *systems], ["---"] * (1 + len(systems))]
        lines += [[row, *(found.get(system, "") for system in systems)] for row, found in self._rows.items()]
        for line in lines:
            say(f"| {' | '.join(line)} |")


def say(text: str) -> None:
    print(text, flush=True)
