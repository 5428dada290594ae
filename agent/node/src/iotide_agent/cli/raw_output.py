"""The command `iotide run output`: what the tools of a run wrote, as files of an archive."""

import io
import re
import tarfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, Final

import typer

from iotide_agent.cli.answers import Artefact, RunDetail
from iotide_agent.cli.problems import writing
from iotide_agent.cli.server import opened
from iotide_agent.cli.speaking import say

_STEP: Final = re.compile(r"^\d{3}-")
"""Before the names of files, so that those of all steps differ."""
_MOST_SECONDS: Final = 600.0


def save_output(
    context: typer.Context,
    run: Annotated[int, typer.Argument(metavar="ID", min=1, help="Number of the run.")],
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Name of the archive; run-ID.tar.gz by default.")
    ] = None,
) -> None:
    """Save what the tools of a run printed and wrote, under their own names, as a tar.gz."""
    file = output or Path(f"run-{run}.tar.gz")
    with opened(context) as api:
        detail = RunDetail.of(api.get(f"/runs/{run}"))
        artefacts = [Artefact.of(found) for found in api.items(f"/runs/{run}/artefacts", {})]
        with writing(file), tarfile.open(file, "w:gz") as archive:
            for artefact, path in zip(artefacts, paths_of(detail, artefacts), strict=True):
                content = api.get_bytes(f"/artefacts/{artefact.id}", _MOST_SECONDS)
                entry = tarfile.TarInfo(str(path))
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    say(f"{file} has {len(artefacts)} files")


def paths_of(run: RunDetail, artefacts: Sequence[Artefact]) -> list[PurePosixPath]:
    """Return where each file goes: with the tool's own name if no other step has it, by attempt and node if several."""
    folders = dict(_folders(run)) if len({artefact.order_id for artefact in artefacts}) > 1 else {}
    names = [(artefact.order_id, PurePosixPath(artefact.name).name) for artefact in artefacts]
    count = Counter((order, _STEP.sub("", name, 1)) for order, name in names)
    paths = []
    for order, name in names:
        own = _STEP.sub("", name, 1)
        folder = folders.get(order, f"order-{order}" if folders else "")
        paths.append(PurePosixPath(f"run-{run.id}", folder, own if count[order, own] == 1 else name))
    return paths


def _folders(run: RunDetail) -> Iterator[tuple[int, str]]:
    for attempt in run.attempts:
        for order in attempt.orders:
            yield order.id, f"attempt-{attempt.ordinal}/{PurePosixPath(order.node_name).name}"
