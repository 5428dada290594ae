"""The stripe calculator for the API."""

from typing import Annotated

from pydantic import Field

from iotide_server.kit.web import Output
from iotide_server.scratch.errors import LAYOUT_IMPOSSIBLE
from iotide_wire.scratch_vocabulary import Alignment, Filesystem
from iotide_wire.striping import StripingError
from iotide_wire.striping_answer import USUAL_FILESYSTEMS, MkfsAnswer, StripingAnswer, striping_answer


class MkfsOutput(Output):
    """One file system with one alignment; stride and stripe width are in blocks."""

    filesystem: Filesystem
    align: Alignment
    command: Annotated[list[str] | None, Field(description="With DEVICE for the device; null if impossible")]
    unit_blocks: Annotated[int | None, Field(description="Stride or stripe unit; 0: none, null if impossible")]
    width_blocks: Annotated[int | None, Field(description="Stripe width; 0: none, null if impossible")]
    problem: Annotated[str | None, Field(description="Why it is impossible")]

    @classmethod
    def of(cls, mkfs: MkfsAnswer) -> "MkfsOutput":
        return cls.of_row(mkfs, command=None if mkfs.command is None else list(mkfs.command))


class StripesOutput(Output):
    """Numbers of a layout, with the mkfs commands for it."""

    layout: Annotated[str, Field(examples=["raid5 4x64K"])]
    disks: int
    data_disks: int
    chunk_bytes: Annotated[int | None, Field(description="Of the top device; null without stripes")]
    width_bytes: Annotated[int | None, Field(description="Full stripe of the top device; null without stripes")]
    minimum_io_bytes: Annotated[int, Field(description="As the kernel reports it")]
    optimal_io_bytes: Annotated[int, Field(description="As the kernel reports it; 0: not reported")]
    block_bytes: int
    start_multiple_bytes: Annotated[int, Field(description="Aligned partitions start at its multiples")]
    pe_start_bytes: Annotated[int, Field(description="First extent of an LVM PV on the arrays")]
    lvm_chunk_choices_bytes: Annotated[
        list[int] | None, Field(description="`lvcreate -I` over such arrays; empty: none fits, null: no arrays")
    ]
    mkfs: list[MkfsOutput]
    notes: list[str]

    @classmethod
    def of(cls, answer: StripingAnswer) -> "StripesOutput":
        choices = answer.lvm_chunk_choices_bytes
        return cls.of_row(
            answer,
            lvm_chunk_choices_bytes=None if choices is None else list(choices),
            mkfs=[MkfsOutput.of(mkfs) for mkfs in answer.mkfs],
            notes=list(answer.notes),
        )


def stripes(layout: str, filesystems: list[Filesystem] | None) -> StripesOutput:
    """Return the numbers of a layout, for ext4 and XFS by default; raise LAYOUT_IMPOSSIBLE."""
    try:
        return StripesOutput.of(striping_answer(layout, filesystems or USUAL_FILESYSTEMS))
    except StripingError as error:
        raise LAYOUT_IMPOSSIBLE(layout=layout, problem=error.problem, remedy=error.remedy) from error
