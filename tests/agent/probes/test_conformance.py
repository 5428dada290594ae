"""Rules for every registered probe, on every recorded mount, with all tools present and with none."""

import re
from functools import partial
from itertools import chain
from typing import ClassVar

import pytest
from factories.recorded import PROBE_DATA, Recorded, failures, sample
from factories.recordings import Recording, recordings
from pydantic import TypeAdapter

from iotide_agent.probes.base import Probe, gather
from iotide_agent.probes.mounts import Mount, parse_mountinfo
from iotide_agent.probes.reader import CommandWant, DirectoryWant, FileWant, Reader, Unavailable, Want
from iotide_agent.probes.registry import all_probes, collect_facts, mount_facts
from iotide_wire.facts import Facts

MOUNTS = list(chain.from_iterable(parse_mountinfo(sample(path.name)) for path in PROBE_DATA.glob("mountinfo.*")))
RECORDINGS = recordings()
FACTS = TypeAdapter(Facts)
NAME = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)+")
WITH_UNIT = re.compile(r".*[._](bytes|blocks|seconds|bits_per_second|count|ratio|percent)")
PURE_NUMBERS = {
    "cache.swappiness",
    "cache.vfs_cache_pressure",
    "device.queue_depth",
    "lustre.directory_mdt_index",
    "lustre.new_directory_mdt_index",
    "lustre.stripe_offset",
    "moosefs.goal",
    "zfs.ashift",
}
"""Facts without a unit: scores, numbers of copies and of requests, indexes, an exponent."""


class Noise(Reader):
    """Answers every read and command with the same text, which no real tool prints."""

    answer: ClassVar[str] = "}{ = : [\n\0 -1 ,\n=\n"

    def read(self, want: Want) -> str | Unavailable:
        del want
        return self.answer


def read_by(probe: Probe, mount: Mount, reader: Reader) -> Facts:
    return probe.facts(mount, gather(reader, partial(probe.wants, mount)))


@pytest.mark.parametrize("name", sorted(all_probes()))
class TestEveryProbe:
    def test_knows_a_recorded_mount_or_is_for_memory(self, name: str) -> None:
        assert name == "tmpfs" or any(all_probes()[name].matches(mount) for mount in MOUNTS)

    def test_facts_keep_the_wire_format_when_nothing_can_be_read(self, name: str) -> None:
        probe = all_probes()[name]
        for mount in filter(probe.matches, MOUNTS):
            FACTS.validate_python(read_by(probe, mount, Recorded({})), strict=True)

    def test_noise_is_no_reason_to_fail(self, name: str) -> None:
        probe = all_probes()[name]
        for mount in filter(probe.matches, MOUNTS):
            FACTS.validate_python(read_by(probe, mount, Noise()), strict=True)

    def test_wants_are_allow_listed_places_and_commands_with_a_package(self, name: str) -> None:
        probe = all_probes()[name]
        for mount in filter(probe.matches, MOUNTS):
            for want in gather(Noise(), partial(probe.wants, mount)):
                match want:
                    case FileWant(path=path) | DirectoryWant(path=path):
                        assert path.startswith(("/proc/", "/sys/", "/etc/os-release"))
                    case CommandWant(argv=argv, package=package):
                        assert package
                        assert all(type(argument) is str for argument in argv)


def assert_plain(facts: Facts) -> None:
    """Check that facts are flat, have dotted names, give numbers with a unit in the name, and give reasons for gaps."""
    FACTS.validate_python(facts, strict=True)
    for name, value in facts.items():
        assert NAME.fullmatch(name), name
        match value:
            case bool() | None:
                continue
            case int() | float():
                assert WITH_UNIT.fullmatch(name) or name in PURE_NUMBERS, name
            case str():
                assert not value.isdecimal(), f"{name} = {value!r} is a number in a text"
                assert value == value.strip()
                assert not value.startswith("unavailable") or value.startswith("unavailable, because "), name


@pytest.mark.parametrize("recording", RECORDINGS.values(), ids=list(RECORDINGS))
def test_facts_are_plain_whatever_was_readable(recording: Recording) -> None:
    assert_plain(mount_facts(recording.mount, Recorded(recording.texts)))
    for key in recording.texts:
        assert_plain(mount_facts(recording.mount, Recorded({k: t for k, t in recording.texts.items() if k != key})))


def test_facts_of_this_very_node_are_plain() -> None:
    facts, mounts = collect_facts(["/tmp"])  # noqa: S108 - only looked at
    assert_plain(facts)
    for mount in mounts:
        assert_plain(mount.facts)
    assert facts["memory.total_bytes"]


@pytest.mark.parametrize("recording", RECORDINGS.values(), ids=list(RECORDINGS))
def test_output_cut_after_any_line_is_no_reason_to_fail(recording: Recording, caplog: pytest.LogCaptureFixture) -> None:
    for key, text in recording.texts.items():
        lines = text.splitlines(keepends=True)
        for end in range(len(lines)):
            cut = recording.texts | {key: "".join(lines[:end])}
            facts = mount_facts(recording.mount, Recorded(cut))
            assert not failures(facts), (key, end, caplog.text)
            assert_plain(facts)


OTHER_RELEASES = {
    **{path.name: ("lustre", "lfs getstripe -d /users") for path in PROBE_DATA.glob("lfs-getstripe.*")},
    "mmlsfs-all.txt": ("gpfs", "/usr/lpp/mmfs/bin/mmlsfs scratch"),
    "gluster-volume-info.disperse.txt": (
        "glusterfs",
        "gluster --mode=script --remote-host=10.77.0.1 volume info gv0",
    ),
}


@pytest.mark.parametrize("name", OTHER_RELEASES)
def test_output_of_another_release_cut_after_any_line_is_no_reason_to_fail(name: str) -> None:
    kind, key = OTHER_RELEASES[name]
    lines = sample(name).splitlines(keepends=True)
    texts = {path: text for path, text in RECORDINGS[kind].texts.items() if not path.endswith(" -Y")}
    for end in range(len(lines)):
        facts = mount_facts(RECORDINGS[kind].mount, Recorded(texts | {key: "".join(lines[:end])}))
        FACTS.validate_python(facts, strict=True)
        assert not failures(facts)


@pytest.mark.parametrize("recording", RECORDINGS.values(), ids=list(RECORDINGS))
def test_output_cut_within_its_lines_is_no_reason_to_fail(recording: Recording) -> None:
    for key, text in recording.texts.items():
        for end in range(0, min(len(text), 2000), 7):
            assert not failures(mount_facts(recording.mount, Recorded(recording.texts | {key: text[:end]})))


@pytest.mark.parametrize("recording", RECORDINGS.values(), ids=list(RECORDINGS))
def test_texts_that_are_needed_are_asked_for(recording: Recording) -> None:
    reader = Recorded(recording.texts)
    mount_facts(recording.mount, reader)
    assert set(recording.texts) <= set(reader.asked)
