"""Forecast of the file systems that a plan has made on scratch disks."""

from collections.abc import Iterator

from iotide_server.campaigns.resolved import ResolvedPlan
from iotide_server.campaigns.scratch.expansion import Expansion
from iotide_server.campaigns.scratch.filling import fills_of
from iotide_server.campaigns.scratch.pace import KnownDisks
from iotide_server.campaigns.scratch.schemas import ImpossibleOutput, ScratchPreview, ScratchStageOutput
from iotide_server.results.schemas import CautionOutput
from iotide_wire.scratch_plan import ScratchPlan
from iotide_wire.scratch_vocabulary import MdLevel, Sync

_WITH_PARITY = frozenset({MdLevel.RAID5, MdLevel.RAID6})


def scratch_preview(resolved: ResolvedPlan, disks: KnownDisks | None) -> ScratchPreview | None:
    """Return the stages with geometry, size and time; None without a block `scratch`."""
    scratch, expansion = resolved.plan.scratch, resolved.expansion
    if scratch is None or expansion is None:
        return None
    seconds = _all_seconds(scratch, expansion, disks)
    known = [one for one in seconds if one is not None]
    fill_ratio = sum(fill.ratio for fill in fills_of(scratch))
    filled = [None if stage.size_bytes is None else round(fill_ratio * stage.size_bytes) for stage in expansion.stages]
    return ScratchPreview(
        node_name=scratch.node,
        set_name=scratch.set,
        stages=[
            ScratchStageOutput.of_row(
                stage,
                ordinal=ordinal,
                unit_blocks=stage.blocks.unit,
                width_blocks=stage.blocks.width,
                make_seconds_estimated=of_stage,
                is_measured=disks is not None and disks.is_measured(stage),
                bytes_filled=of_fills,
            )
            for ordinal, (stage, of_stage, of_fills) in enumerate(
                zip(expansion.stages, seconds, filled, strict=True), start=1
            )
        ],
        clients=list(resolved.clients),
        left_out=[ImpossibleOutput.of_row(cell) for cell in expansion.impossible],
        make_seconds_estimated=sum(known) if len(known) == len(seconds) else None,
        make_seconds_known=sum(known),
        bytes_filled=sum(one or 0 for one in filled),
        disk_bytes_per_second=None if disks is None or disks.rates is None else disks.rates.bytes_per_second,
    )


def _all_seconds(scratch: ScratchPlan, expansion: Expansion, disks: KnownDisks | None) -> list[float | None]:
    return [None if disks is None else disks.make_seconds(scratch, stage) for stage in expansion.stages]


def scratch_cautions(resolved: ResolvedPlan, disks: KnownDisks | None) -> Iterator[CautionOutput]:
    """Yield what a reader of the results should know before the makes begin."""
    scratch, expansion = resolved.plan.scratch, resolved.expansion
    if scratch is None or expansion is None:
        return
    for reason, variants in expansion.impossible_by_reason().items():
        yield _caution("scratch_left_out", f"left out: {reason} ({', '.join(variants)})", "scratch")
    for words in expansion.same_geometry():
        yield _caution("same_geometry", f"{words}: their results compare equal file systems", "scratch.options")
    if scratch.rounds == 1:
        message = (
            "each file system is made once: its repeats share one allocation, and a drift over hours looks like a"
            " difference between layouts"
        )
        yield _caution("one_make", message, "scratch.rounds")
    if scratch.sync is Sync.ASSUME_CLEAN and _has_parity(scratch):
        message = "parity is not computed: speeds of a healthy array only, and reads of a degraded one return garbage"
        yield _caution("parity_unsynced", message, "scratch.sync")
    unknown = sum(one is None for one in _all_seconds(scratch, expansion, disks))
    if unknown:
        message = (
            f"the time leaves out {unknown} of {len(expansion.stages)} makes: how fast the disks of {scratch.place}"
            " write is unknown until a fill, a synchronisation or an ext file system was made on them"
        )
        yield _caution("makes_not_estimated", message, "scratch")


def _has_parity(scratch: ScratchPlan) -> bool:
    return any(choice.layout().level in _WITH_PARITY for choice in scratch.layouts)


def _caution(code: str, message: str, field: str) -> CautionOutput:
    return CautionOutput(code=code, message=message, field=field)
