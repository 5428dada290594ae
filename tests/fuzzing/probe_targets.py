"""Fuzz targets for probes: texts of files and commands, of mounts and of the node."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, cached_property, partial
from typing import Final

from factories.recorded import PROBE_DATA, Recorded, sample
from factories.recordings import recordings
from fuzzing.target import Target
from fuzzing.texts import decode, encode
from pydantic import TypeAdapter

from iotide_agent.probes import node
from iotide_agent.probes.base import Probe, gather
from iotide_agent.probes.condition import look_below
from iotide_agent.probes.mounts import Mount, MountinfoError
from iotide_agent.probes.mounts import parse_mountinfo as parse_mounts
from iotide_agent.probes.reader import Reader, Unavailable, Want
from iotide_agent.probes.registry import all_probes
from iotide_wire.facts import Facts

_FACTS: Final[TypeAdapter[Facts]] = TypeAdapter(Facts)


class _Answers(Reader):
    """Answers requests in order; an empty text is a missing answer."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._given: dict[Want, str | Unavailable] = {}

    def read(self, want: Want) -> str | Unavailable:
        if want not in self._given:
            number = len(self._given)
            text = self._texts[number] if number < len(self._texts) else ""
            self._given[want] = text or Unavailable("it is not there")
        return self._given[want]


class _InOrder(Recorded):
    """Keeps the answers in order."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        super().__init__(texts)
        self.answered: list[str] = []

    def read(self, want: Want) -> str | Unavailable:
        answer = super().read(want)
        self.answered.append("" if isinstance(answer, Unavailable) else answer)
        return answer


@cache
def _mounts() -> list[Mount]:
    return [mount for path in sorted(PROBE_DATA.glob("mountinfo.*")) for mount in parse_mounts(sample(path.name))]


class ProbedMount(Target):
    """A probe's reading of files and commands about a mount."""

    choices = 1

    def __init__(self, name: str) -> None:
        self.name = f"probe-{name}"
        self._probe: Probe = all_probes()[name]

    @cached_property
    def mounts(self) -> list[Mount]:
        known = list(dict.fromkeys(filter(self._probe.matches, _mounts())))[:255]
        return known or [replace(_mounts()[0], fstype=self._probe.name)]

    def seeds(self) -> Iterator[bytes]:
        for recording in recordings().values():
            if recording.mount in self.mounts:
                reader = _InOrder(recording.texts)
                self._facts(recording.mount, reader)
                yield encode((self.mounts.index(recording.mount),), reader.answered)
        for number, _ in enumerate(self.mounts[:3]):
            yield encode((number,), ("text",) * 4)

    def feed(self, data: bytes) -> None:
        (number,), texts = decode(data, self.choices)
        self._facts(self.mounts[number % len(self.mounts)], _Answers(texts))

    def _facts(self, mount: Mount, reader: Reader) -> None:
        _FACTS.validate_python(self._probe.facts(mount, gather(reader, partial(self._probe.wants, mount))), strict=True)


class ProbedNode(Target):
    """Facts of the node, and the condition of the file systems below a directory."""

    name = "probe-node"

    def seeds(self) -> Iterator[bytes]:
        texts = [sample("mountinfo.local.txt"), sample("mountinfo.md.txt"), sample("btrfs-usage.txt")]
        yield encode((), texts)
        yield encode((), ("MemTotal: 8 kB\n", "model name : x\nprocessor : 0\n", "NAME=Debian\n"))

    def feed(self, data: bytes) -> None:
        _, texts = decode(data, self.choices)
        _FACTS.validate_python(node.facts(gather(_Answers(texts), node.wants)), strict=True)
        with suppress(MountinfoError):
            look_below(["/mnt/ext4", "/mnt/btrfs"], _Answers(texts))
