"""Packets of the agent: nothing outside the vocabulary is accepted, whatever is sent."""

import json
import random
from collections.abc import Iterator
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from iotide_agent.scratch.refusals import ScratchRefusedError
from iotide_agent.scratch.requests import ScratchRequest, Verb, parse_request
from iotide_agent.scratch.sets import MOST_SETS, NODE_NAME, SET_NAME
from iotide_wire.scratch import ScratchMake
from iotide_wire.scratch_vocabulary import MOST_CLIENTS, MOUNT_OPTIONS

Json = dict[str, Any]
PACKETS: Final = 100_000
HEAD: Final = {"set": "bays", "order": 7, "fence": 11}
LAYOUTS: Final[tuple[dict[str, Any], ...]] = (
    {"kind": "single"},
    {"kind": "offset", "start": "63s"},
    {"kind": "md", "disks": 4, "level": "raid5", "chunk_bytes": 65536, "bitmap": "internal", "sync": "assume_clean"},
    {"kind": "md", "disks": 2, "level": "raid1"},
    {"kind": "lvm", "disks": 3, "lvm": "stripe", "lvm_chunk_bytes": 262144},
    {"kind": "lvm-md", "disks": 8, "arrays": 2, "level": "raid5", "chunk_bytes": 65536, "lvm": "linear"},
    {"kind": "btrfs", "disks": 2, "profile": "raid1"},
)
SYSTEMS: Final[tuple[dict[str, Any], ...]] = (
    {"type": "ext4", "align": "unaligned", "data": "journal", "block_bytes": 4096, "size_percent": 50},
    {"type": "xfs", "align": "aligned", "discard": True},
    {"type": "btrfs"},
)
VALID: Final[tuple[dict[str, Any], ...]] = (
    {"verb": "list"},
    {"verb": "status"},
    {"verb": "mount", **HEAD, "options": {"noatime": True, "commit": 30, "logbsize": "64k"}},
    {"verb": "export", **HEAD, "kind": "nfs", "clients": ["node02"]},
    {"verb": "unexport", **HEAD, "kind": "nfs"},
    {"verb": "recover", "set": "bays"},
    {"verb": "status", "set": "bays"},
    {"verb": "list", "from": 3},
    *({"verb": verb, **HEAD} for verb in ("unmount", "wipe", "recover")),
    *({"verb": "make", **HEAD, "layout": layout, "fs": SYSTEMS[-1]} for layout in LAYOUTS),
    *({"verb": "make", **HEAD, "layout": LAYOUTS[2], "fs": system} for system in SYSTEMS),
)
SENT: Final = tuple(map(json.dumps, VALID))
HOSTILE: Final[tuple[Any, ...]] = (
    None, True, False, 0, -1, 3, 65, 2**63, 1.5, 4096.0, "", "4", "4096", "/dev/sda", "../../etc", "sda", "-f",
    "--force", "raid5;reboot", "raid5\x00",
    "noatime,suid", "ext4 ", "EXT4", "BAYS", "a" * 200, [], {}, ["single"], {"kind": "single"},
    ["/dev/sda"], "zfs", "raid7", "\ud800", "bays\n",
)  # fmt: skip
KEYS: Final = (
    "verb", "set", "order", "fence", "device", "path", "command",
    "from", "options", "layout", "fs", "disks", "kind", "chunk",
    "clients", "force", "align", "level", "type", "suid", "device=/dev/sda", "errors",
)  # fmt: skip


def accepted(packet: bytes) -> ScratchRequest | None:
    try:
        return parse_request(packet)
    except ScratchRefusedError:
        return None


def is_in_vocabulary(sent: Json) -> bool:
    """Judge an accepted packet by the pydantic model of the server, and by the tables."""
    if sent["verb"] in {"list", "status"}:
        return is_a_question(sent)
    fields = {"verb", *HEAD}
    fields |= {"make": {"layout", "fs"}, "mount": {"options"}, "export": {"kind", "clients"}, "unexport": {"kind"}}.get(
        sent["verb"], set()
    )
    is_named = type(sent["set"]) is str and SET_NAME.fullmatch(sent["set"])
    if not set(sent) <= fields or sent["verb"] not in set(Verb) or not is_named:
        return False
    numbers = [sent[key] for key in ("order", "fence") if sent.get(key) is not None]
    if any(type(number) is not int or not 0 < number < 2**63 for number in numbers):
        return False
    if sent["verb"] in {"export", "unexport"}:
        return sent["kind"] == "nfs" and is_to_nodes(sent.get("clients", ["node02"]))
    if sent["verb"] == "make":
        return is_made_by_the_model(sent)
    known = [option for options in MOUNT_OPTIONS.values() for option in options.items()]
    return all(
        any(name == other and option.accepts(value) for other, option in known)
        for name, value in (sent.get("options") or {}).items()
    )


def is_a_question(sent: Json) -> bool:
    rest = {key: value for key, value in sent.items() if key != "verb"}
    if sent["verb"] == "list":
        return set(rest) <= {"from"} and type(rest.get("from", 0)) is int and 0 <= rest.get("from", 0) <= MOST_SETS
    named = rest.get("set")
    return set(rest) <= {"set"} and (named is None or (type(named) is str and bool(SET_NAME.fullmatch(named))))


def is_to_nodes(names: object) -> bool:
    if not isinstance(names, list) or not 0 < len(names) <= MOST_CLIENTS:
        return False
    return all(isinstance(name, str) and NODE_NAME.fullmatch(name) for name in names)


def is_made_by_the_model(sent: Json) -> bool:
    try:
        ScratchMake.model_validate_json(json.dumps({"layout": sent["layout"], "fs": sent["fs"]}))
    except ValidationError:
        return False
    return True


def places(value: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    for key, inner in value.items() if isinstance(value, dict) else ():
        yield from places(inner, (*path, key))


def changed(source: random.Random) -> Json:
    """Return a valid request with one to three hostile changes: values, names of fields, new and missing fields."""
    packet: Json = json.loads(source.choice(SENT))
    for _ in range(source.randint(1, 3)):
        *above, key = source.choice([path for path in places(packet) if path] or [("verb",)])
        inside = packet
        for step in above:
            inside = inside[step]
        match source.randint(0, 3):
            case 0:
                inside[key] = source.choice(HOSTILE)
            case 1:
                inside[source.choice(KEYS)] = inside.pop(key, None)
            case 2:
                inside[source.choice(KEYS)] = source.choice(HOSTILE)
            case _:
                inside.pop(key, None)
    return packet


@pytest.mark.parametrize("sent", VALID, ids=json.dumps)
def test_every_verb_is_accepted_with_values_of_the_vocabulary(sent: dict[str, Any]) -> None:
    assert parse_request(json.dumps(sent).encode()).verb == sent["verb"]
    assert is_in_vocabulary(sent)


def test_no_packet_outside_the_vocabulary_is_accepted() -> None:
    source = random.Random(35)  # noqa: S311 - no secret
    got_through, wrong = 0, []
    for _ in range(PACKETS):
        sent = changed(source)
        if accepted(json.dumps(sent).encode()) is not None:
            got_through += 1
            if not is_in_vocabulary(sent):
                wrong.append(sent)
    assert wrong == []
    assert got_through < PACKETS // 4, "a change of a name or value is hostile nearly always"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(KEYS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS) | st.text(), inner, max_size=6),
    max_leaves=6,
)


@settings(max_examples=200)
@given(JSON | st.fixed_dictionaries({"verb": st.sampled_from([*Verb])}, optional=dict.fromkeys(KEYS[1:], JSON)))
def test_generated_json_is_refused_or_in_the_vocabulary(sent: object) -> None:
    if accepted(json.dumps(sent).encode()) is not None:
        assert isinstance(sent, dict)
        assert is_in_vocabulary(sent)


@settings(max_examples=100)
@given(st.binary(max_size=200))
def test_bytes_that_are_no_json_are_refused(packet: bytes) -> None:
    assert accepted(b"\xff" + packet) is None


@pytest.mark.parametrize(
    ("packet", "words"),
    [
        (b'{"verb": "make", "set": "a", "set": "b"}', "a field is there twice"),
        (b'{"verb": "list", "x": NaN}', "NaN is not a number"),
        (b"[" * 10_000, "request"),
        (b'{"verb": "wipe", "set": "bays", "order": 1' + b"0" * 5000 + b', "fence": 1}', "request"),
        (json.dumps({"verb": "recover", "set": "bays", "order": 3}).encode(), "order and fence belong together"),
    ],
)
def test_a_refusal_names_the_problem(packet: bytes, words: str) -> None:
    with pytest.raises(ScratchRefusedError, match=words):
        parse_request(packet)
