"""Sweeps: points that differ only in one thing, such as the file size, sorted by it. Pure functions."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from iotide_server.advice.scene import NODES, WRITER_OPTIONS, SceneCell, ScenePoint
from iotide_server.kit.digests import canonical_sha256
from iotide_server.results.surfaces.caches import positive
from iotide_wire.names import title_of


@dataclass(frozen=True, slots=True)
class Axis:
    title: str
    at: Callable[[ScenePoint], int | None]
    # labels and options with the value; they may differ within a sweep
    labels: frozenset[str] = frozenset()
    options: frozenset[str] = frozenset()
    is_of_nodes: bool = False
    names: tuple[str, ...] = ()

    def title_at(self, point: ScenePoint) -> str:
        """Return the workload's own title, for use within a sentence."""
        known = {**point.cell.options, **point.labels}
        name = next((name for name in self.names if name in known), None)
        if name is None:
            return self.title
        title = title_of(name, point.cell.titles)
        return title[:1].lower() + title[1:]


@dataclass(frozen=True, slots=True)
class SweepPoint:
    at: int
    point: ScenePoint


def _size(label: str, option: str) -> Callable[[ScenePoint], int | None]:
    return lambda point: positive(point.labels.get(label)) or positive(point.cell.options.get(option))


def _writers(point: ScenePoint) -> int | None:
    has_option = any(name in point.cell.options for name in WRITER_OPTIONS)
    return point.cell.writers if has_option else None


def _length(point: ScenePoint) -> int | None:
    given = (point.cell.options.get(name) for name in RUN_LENGTH_OPTIONS)
    return next((round(value) for value in given if isinstance(value, int | float) and value >= 1), None)


FILE_SIZE: Final = Axis(
    "file size",
    _size("file_size_bytes", "file_size_bytes"),
    frozenset({"file_size_bytes"}),
    frozenset({"file_size_bytes"}),
    names=("file_size_bytes",),
)
RECORD_SIZE: Final = Axis(
    "record size",
    _size("record_size_bytes", "block_size_bytes"),
    frozenset({"record_size_bytes"}),
    frozenset({"block_size_bytes", "min_record_size_bytes", "max_record_size_bytes"}),
    names=("record_size_bytes", "block_size_bytes"),
)
WRITERS: Final = Axis("writers", _writers, options=frozenset(WRITER_OPTIONS), names=WRITER_OPTIONS)
RUN_LENGTH_OPTIONS: Final = ("runtime_seconds", "duration_seconds", "stonewall_seconds")
RUN_LENGTH: Final = Axis("run time", _length, options=frozenset(RUN_LENGTH_OPTIONS), names=RUN_LENGTH_OPTIONS)
NODE_COUNT: Final = Axis("nodes", lambda point: len(point.cell.nodes), frozenset({NODES}), is_of_nodes=True)


def sweeps(points: Iterable[ScenePoint], axis: Axis, fewest: int) -> list[Sequence[SweepPoint]]:
    """Return sweeps of at least `fewest` steps, each sorted by the axis."""
    alike: defaultdict[Hashable, dict[int, ScenePoint]] = defaultdict(dict)
    kinds: dict[int, Hashable] = {}
    for point in points:
        at = axis.at(point)
        if at is not None:
            if id(point.cell) not in kinds:
                kinds[id(point.cell)] = _kind(point.cell, axis)
            labels = frozenset((name, value) for name, value in point.labels.items() if name not in axis.labels)
            alike[kinds[id(point.cell)], point.metric, labels].setdefault(at, point)
    return [
        [SweepPoint(at, by_place[at]) for at in sorted(by_place)]
        for by_place in alike.values()
        if len(by_place) >= fewest
    ]


def _kind(cell: SceneCell, axis: Axis) -> Hashable:
    options = {name: value for name, value in cell.options.items() if name not in axis.options}
    nodes = None if axis.is_of_nodes else cell.nodes
    return cell.campaign_id, cell.workload, cell.variant, cell.targets, nodes, canonical_sha256(options)
