"""Records a tiny run of each workload without outputs in tests/data, as inputs of its parser."""

import shutil

from factories.outcomes import run_groups
from factories.tiny_runs import MADE_BEFORE
from fuzzing.harness import DATA, keep
from fuzzing.texts import encode
from fuzzing.tool_targets import PLACE, ParsedOutput

RECORDED = ("create", "fill", "stream", "rawread", "command")


def main() -> None:
    """Record the runs; needs fio and some ten seconds."""
    for name in RECORDED:
        target = ParsedOutput(name)
        shutil.rmtree(DATA / "seeds" / name, ignore_errors=True)
        for number, options in enumerate(target.options):
            shutil.rmtree(PLACE, ignore_errors=True)
            target.place.directory.mkdir(parents=True)
            target.place.scratch.mkdir()
            if name in MADE_BEFORE:
                (target.place.directory / MADE_BEFORE[name]).write_bytes(bytes(4 * 1024**2))
            outcomes = run_groups(target.workload.plan(options, [target.place]), target.place)
            for step, outcome in enumerate(outcomes):
                texts = (outcome.stdout, outcome.stderr, *outcome.files.values())
                keep(DATA / "seeds" / name, encode((number, step, 0, 0), texts))
    shutil.rmtree(PLACE)


if __name__ == "__main__":
    main()
