"""Rule: rates above those of the network links to the target, which memory must have served."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from iotide_server.advice.findings import Advice, Evidence, Finding, Fine, Severity, Unknown
from iotide_server.advice.remedies import past_cache
from iotide_server.advice.scene import Scene, SceneCell, ScenePoint, listed
from iotide_server.results.surfaces.caches import positive
from iotide_wire.units import Unit, format_rate

CODE: Final = "faster_than_network"
_LINK: Final = "network.link_bits_per_second"
_BITS: Final = 8
_MOST_NAMED: Final = 6


def faster_than_links(scene: Scene) -> Iterator[Finding]:
    """Compare the fastest rates of each place with the sum of its nodes' links.

    Facts name a second target of a cell only where it differs, so only cells with one target are judged.
    """
    alike: defaultdict[tuple[str, tuple[str, ...], tuple[str, ...]], list[ScenePoint]] = defaultdict(list)
    for point in scene.rates:
        cell = point.cell
        if len(cell.targets) == 1 and any("network.interface" in facts for facts in cell.facts.values()):
            alike[cell.workload, cell.targets, cell.nodes].append(point)
    for points in alike.values():
        yield _judge(points)


def _judge(points: Sequence[ScenePoint]) -> Finding:
    cell = points[0].cell
    subject = f"{cell.workload} on {listed(cell.targets)} from {listed(cell.nodes)}"
    linked = [(point, link) for point in points if (link := _link_bytes_per_second(point.cell))]
    if not linked:
        return Unknown(CODE, subject, f"the fact {_LINK} is missing for a node")
    fast = sorted((pair for pair in linked if pair[0].median > pair[1]), key=lambda pair: -pair[0].median)
    if not fast:
        return Fine(subject, "no rate is above that of the network links")
    point, link = fast[0]
    ways = past_cache(point, point.cell.memory_bytes)
    return Advice(
        code=CODE,
        severity=Severity.HIGH,
        subject=subject,
        title=f"Faster than the network: {format_rate(point.median)} over links of {format_rate(link)}",
        explanation=(
            "More data moved than the links of the nodes to the server can carry. It came from memory, or stayed there."
            " A client that uses several links at once, such as LNet multi-rail or SMB multichannel, can be faster than"
            " the one link that is known."
        ),
        evidence=(
            Evidence("rate of the network links", link, Unit.BYTES_PER_SECOND, point.cell.run_ids[-1:]),
            *(one.evidence(one.operation or one.cell.workload) for one, _ in fast[:_MOST_NAMED]),
        ),
        remedy=f"{ways.words} Otherwise state that memory is part of the result.",
        commands=ways.commands,
        source="Rates of published reports above those of their network: the client's page cache",
    )


def _link_bytes_per_second(cell: SceneCell) -> float | None:
    """Return the sum over the loading nodes; None if one is unknown."""
    bits = [positive(facts.get(_LINK)) for facts in cell.facts.values()]
    known = [one for one in bits if one]
    return sum(known) / _BITS if known and len(known) == len(bits) else None
