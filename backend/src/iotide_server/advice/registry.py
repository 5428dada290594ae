"""All rules, and what they say together of a scene; pure."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from iotide_server.advice.findings import Advice, Finding, Fine, Severity, Unknown
from iotide_server.advice.rules.cache_size import cached_sizes
from iotide_server.advice.rules.cliffs import cliffs
from iotide_server.advice.rules.headline import headline_ratios
from iotide_server.advice.rules.memory import memory_targets
from iotide_server.advice.rules.nfs import old_version, small_transfers, udp_transport, waiting_writes
from iotide_server.advice.rules.partition import misaligned_offsets
from iotide_server.advice.rules.saturation import saturation
from iotide_server.advice.rules.stripes import misaligned_stripes
from iotide_server.advice.scene import Scene

MOST_FINDINGS: Final = 100
"""Of one kind in one report."""
_RANK: Final = {severity: rank for rank, severity in enumerate(Severity)}


@dataclass(frozen=True, slots=True)
class AdviceRule:
    """A rule and what it looks at, in words for a person."""

    looks_at: str
    judge: Callable[[Scene], Iterator[Finding]]


RULES: Final = (
    AdviceRule("Stripes of file system and RAID", misaligned_stripes),
    AdviceRule("Where partitions and volumes begin", misaligned_offsets),
    AdviceRule("NFS transfer sizes", small_transfers),
    AdviceRule("NFS writes that wait", waiting_writes),
    AdviceRule("NFS transport", udp_transport),
    AdviceRule("NFS version", old_version),
    AdviceRule("Targets in memory", memory_targets),
    AdviceRule("File size against memory", cached_sizes),
    AdviceRule("Falls along file size and record size", cliffs),
    AdviceRule("Saturation by writers and nodes", saturation),
    AdviceRule("Ratios between targets", headline_ratios),
)


@dataclass(frozen=True, slots=True)
class GivenAdvice:
    """An advice, and all that it holds for."""

    advice: Advice
    subjects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NotKnown:
    """Why something could not be judged, and all that it holds for."""

    unknown: Unknown
    subjects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LookedAt:
    """What one rule did.

    Attributes:
        fine: what it has nothing to advise on, in words.
        advised, not_known: how many other subjects it had.
    """

    looks_at: str
    fine: tuple[str, ...]
    advised: int
    not_known: int


@dataclass(frozen=True, slots=True)
class Report:
    """What all rules say, the gravest first."""

    advice: tuple[GivenAdvice, ...]
    not_known: tuple[NotKnown, ...]
    looked_at: tuple[LookedAt, ...]


def advise(scene: Scene) -> Report:
    """Ask every rule; what many subjects share, such as the nodes of a cluster, is told once."""
    advice: dict[Advice, list[str]] = {}
    unknown: dict[Unknown, list[str]] = {}
    looked_at: list[LookedAt] = []
    for rule in RULES:
        findings = list(rule.judge(scene))
        for finding in findings:
            match finding:
                case Advice():
                    advice.setdefault(replace(finding, subject=""), []).append(finding.subject)
                case Unknown():
                    unknown.setdefault(replace(finding, subject=""), []).append(finding.subject)
        looked_at.append(_looked_at(rule, findings))
    told = sorted(advice.items(), key=lambda pair: _RANK[pair[0].severity])[:MOST_FINDINGS]
    return Report(
        tuple(GivenAdvice(one, tuple(dict.fromkeys(subjects))) for one, subjects in told),
        tuple(NotKnown(one, tuple(dict.fromkeys(subjects))) for one, subjects in [*unknown.items()][:MOST_FINDINGS]),
        tuple(looked_at),
    )


def _looked_at(rule: AdviceRule, findings: list[Finding]) -> LookedAt:
    fine = dict.fromkeys(f"{one.subject}: {one.words}" for one in findings if isinstance(one, Fine))
    advised = sum(isinstance(one, Advice) for one in findings)
    unknown = sum(isinstance(one, Unknown) for one in findings)
    return LookedAt(rule.looks_at, tuple(fine)[:MOST_FINDINGS], advised, unknown)
