"""API schemas of the stages that a plan's block `scratch` makes."""

from typing import Annotated

from pydantic import Field

from iotide_server.kit.web import Output


class ScratchStageOutput(Output):
    """Stage that a node makes; the geometry is that of the file system after mkfs, in blocks of 4 KiB."""

    ordinal: int
    round: int
    variant: Annotated[str, Field(examples=["raid5 4x64K / ext4 / aligned / noatime"])]
    unit_blocks: Annotated[int, Field(description="Stride or stripe unit; 0: none")]
    width_blocks: Annotated[int, Field(description="Stripe width; 0: none")]
    size_bytes: Annotated[int | None, Field(description="Of the file system; null if unknown")]
    bytes_filled: Annotated[int | None, Field(description="Written by fills before its runs; null if unknown")]
    make_seconds_estimated: Annotated[
        float | None, Field(description="With fills and wipe; null while the rate of the disks is unknown")
    ]
    is_measured: Annotated[bool, Field(description="By the newest make of this kind on these disks")]


class ImpossibleOutput(Output):
    variant: str
    reason: Annotated[str, Field(examples=["single has no stripe; use default"])]


class ScratchPreview(Output):
    node_name: str
    set_name: str
    stages: list[ScratchStageOutput]
    clients: Annotated[list[str], Field(description="Nodes that mount each file system by NFS")]
    left_out: Annotated[list[ImpossibleOutput], Field(description="Combinations that cannot be made")]
    make_seconds_estimated: Annotated[float | None, Field(description="All makes together; null if one is unknown")]
    make_seconds_known: Annotated[float, Field(description="Of the makes whose time is known")]
    bytes_filled: Annotated[int, Field(description="Written by the fills of all stages, where sizes are known")]
    disk_bytes_per_second: Annotated[
        float | None, Field(description="Rate of one disk by earlier fills and makes; null: none showed it")
    ]
