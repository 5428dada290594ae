"""All rules, and the report of their findings. Pure functions."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from iotide_server.advice.findings import Advice, Finding, Fine, Severity, Unknown
from iotide_server.advice.rules.bursts import bursts
from iotide_server.advice.rules.cache_size import cached_sizes
from iotide_server.advice.rules.cliffs import cliffs
from iotide_server.advice.rules.headline import headline_ratios
from iotide_server.advice.rules.linear import linear_volumes
from iotide_server.advice.rules.lustre import unstriped_files
from iotide_server.advice.rules.memory import memory_targets
from iotide_server.advice.rules.network import faster_than_links
from iotide_server.advice.rules.nfs import old_version, small_transfers, udp_transport, waiting_writes
from iotide_server.advice.rules.partition import misaligned_offsets
from iotide_server.advice.rules.saturation import saturation
from iotide_server.advice.rules.stripes import misaligned_stripes
from iotide_server.advice.scene import Scene
from iotide_server.advice.schemas import AdviceLook, AdviceNotKnown, AdviceOutput, AdviceReport

MOST_FINDINGS: Final = 100
_RANK: Final = {severity: rank for rank, severity in enumerate(Severity)}


@dataclass(frozen=True, slots=True)
class AdviceRule:
    looks_at: str
    judge: Callable[[Scene], Iterator[Finding]]


RULES: Final = (
    AdviceRule("File system and RAID stripes", misaligned_stripes),
    AdviceRule("Partition and volume alignment", misaligned_offsets),
    AdviceRule("Linear volumes over several disks", linear_volumes),
    AdviceRule("Lustre stripe count", unstriped_files),
    AdviceRule("NFS transfer sizes", small_transfers),
    AdviceRule("NFS synchronous writes", waiting_writes),
    AdviceRule("NFS transport", udp_transport),
    AdviceRule("NFS version", old_version),
    AdviceRule("Targets in memory", memory_targets),
    AdviceRule("File size and memory", cached_sizes),
    AdviceRule("Rates and network links", faster_than_links),
    AdviceRule("Throughput drops by file size and record size", cliffs),
    AdviceRule("Rates by the length of the run", bursts),
    AdviceRule("Saturation by writers and nodes", saturation),
    AdviceRule("Ratios between targets", headline_ratios),
)


def advise(scene: Scene, *, cells: int = 0, is_cut: bool = False) -> AdviceReport:
    """Apply all rules; merge equal advice on several subjects."""
    advice: dict[Advice, list[str]] = {}
    unknown: dict[Unknown, list[str]] = {}
    looked_at: list[AdviceLook] = []
    for rule in RULES:
        findings = list(rule.judge(scene))
        for finding in findings:
            match finding:
                case Advice():
                    advice.setdefault(replace(finding, subject=""), []).append(finding.subject)
                case Unknown():
                    unknown.setdefault(replace(finding, subject=""), []).append(finding.subject)
        looked_at.append(_looked_at(rule, findings))
    ranked = sorted(advice.items(), key=lambda pair: _RANK[pair[0].severity])[:MOST_FINDINGS]
    return AdviceReport(
        advice=[AdviceOutput.of_row(one, subjects=list(dict.fromkeys(subjects))) for one, subjects in ranked],
        not_known=[
            AdviceNotKnown.of_row(one, subjects=list(dict.fromkeys(subjects)))
            for one, subjects in [*unknown.items()][:MOST_FINDINGS]
        ],
        looked_at=looked_at,
        places=len(scene.sites),
        cells=cells,
        is_cut=is_cut,
    )


def _looked_at(rule: AdviceRule, findings: list[Finding]) -> AdviceLook:
    fine = dict.fromkeys(f"{one.subject}: {one.words}" for one in findings if isinstance(one, Fine))
    return AdviceLook(
        looks_at=rule.looks_at,
        fine=list(fine)[:MOST_FINDINGS],
        advised=sum(isinstance(one, Advice) for one in findings),
        not_known=sum(isinstance(one, Unknown) for one in findings),
    )
