"""The command `iotide stripe`."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Final

import typer

from iotide_agent.cli.problems import Problem, RefusedError
from iotide_agent.cli.server import AsJson, show
from iotide_wire.geometry import START_BYTES, Device
from iotide_wire.scratch_vocabulary import Filesystem, Start
from iotide_wire.striping import StripingError, size_text
from iotide_wire.striping_answer import USUAL_FILESYSTEMS, MkfsAnswer, StripingAnswer, striping_answer
from iotide_wire.units import KIB, UnitError, format_bytes, parse_bytes

_WIDTH: Final = 24


def _size(given: str | int) -> int:
    if isinstance(given, int):
        return given  # a default
    try:
        return parse_bytes(f"{given}iB" if given[-1:] in {"K", "M", "G"} else given)
    except UnitError as error:
        raise typer.BadParameter(str(error)) from error


def _start(given: str | int) -> int:
    return START_BYTES[Start.SECTORS_63] if given == Start.SECTORS_63 else _size(given)


def show_stripe(  # noqa: PLR0913 - each is an option of the command
    *,
    layout: Annotated[
        str, typer.Option(metavar="LAYOUT", help="For instance raid5:4x64K or lvm-stripe:3x256K/raid5:5x64K.")
    ],
    filesystem: Annotated[
        list[Filesystem] | None, typer.Option("--filesystem", help="Repeat it for several. Default: ext4 and xfs.")
    ] = None,
    block_size: Annotated[int, typer.Option(parser=_size, metavar="SIZE", help="Block of the file system.")] = 4 * KIB,
    start: Annotated[
        int, typer.Option(parser=_start, metavar="SIZE", help="Start of the partition; 63s is 63 sectors.")
    ] = 0,
    size: Annotated[int | None, typer.Option(parser=_size, metavar="SIZE", help="Size of the device.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the stripe geometry of a layout, the mkfs commands for it, and what mkfs takes by default.

    Needs no server. LAYOUT is single, raid0, raid5, raid6 or raid10 with disks x chunk, raid1 with disks, lvm-stripe
    or lvm-linear, alone or over arrays after a slash, or btrfs with a profile and disks.
    """
    try:
        answer = striping_answer(layout, filesystem or USUAL_FILESYSTEMS, block_size, Device(start, size))
    except StripingError as error:
        given = {"block_bytes": block_size}.get(error.field, layout)
        problem = Problem("invalid_input", error.problem, error.field, given, error.remedy)
        raise RefusedError([problem]) from error
    show(asdict(answer), lambda: _lines(answer), as_json=as_json)


def _lines(answer: StripingAnswer) -> Iterator[str]:
    for name, value in _numbers(answer):
        yield f"{name.ljust(_WIDTH)} {value}"
    for mkfs in answer.mkfs:
        yield f"{f'{mkfs.filesystem} {mkfs.align}'.ljust(_WIDTH)} {_mkfs_words(mkfs)}"
    yield from answer.notes


def _numbers(answer: StripingAnswer) -> Iterator[tuple[str, str]]:
    yield "layout", answer.layout
    yield "data disks", f"{answer.data_disks} of {answer.disks}"
    if answer.chunk_bytes is not None and answer.width_bytes is not None:
        yield "chunk, full stripe", f"{size_text(answer.chunk_bytes)}, {size_text(answer.width_bytes)}"
    yield "minimum, optimal io", f"{size_text(answer.minimum_io_bytes)}, {size_text(answer.optimal_io_bytes)}"
    if answer.start_bytes:
        aligned = "aligned" if answer.start_is_aligned else f"alignment_offset {answer.alignment_offset_bytes}"
        yield "start", f"{format_bytes(answer.start_bytes)}, {aligned}"
    yield "start at multiples of", size_text(answer.start_multiple_bytes)
    if answer.lvm_chunk_choices_bytes is not None:
        yield "LVM data on it from", size_text(answer.pe_start_bytes)
        choices = ", ".join(size_text(choice) for choice in answer.lvm_chunk_choices_bytes)
        yield "lvcreate -I over such", choices or "none keeps full stripes"


def _mkfs_words(mkfs: MkfsAnswer) -> str:
    if mkfs.command is None:
        return f"impossible: {mkfs.problem}"
    geometry = f"{mkfs.unit_blocks} / {mkfs.width_blocks} blocks" if mkfs.width_blocks else "no geometry"
    return f"{' '.join(mkfs.command)}  ({geometry})"
