from collections.abc import Callable, Iterator

import pytest
from factories.advised import advice_of, numbers, places, site

from iotide_server.advice.findings import Finding, Fine, Severity, Unknown
from iotide_server.advice.rules.nfs import old_version, small_transfers, udp_transport, waiting_writes
from iotide_server.advice.scene import Scene
from iotide_wire.facts import Facts, FactValue
from iotide_wire.units import KIB

GOOD: Facts = {
    "nfs.version": "4.2",
    "nfs.transport": "tcp",
    "nfs.rsize_bytes": 1024 * KIB,
    "nfs.wsize_bytes": 1024 * KIB,
    "nfs.sync": False,
    "nfs.attribute_cache": True,
}
RULES = (small_transfers, waiting_writes, udp_transport, old_version)
Rule = Callable[[Scene], Iterator[Finding]]


def mounted(**changed: FactValue) -> Scene:
    facts: Facts = GOOD | {f"nfs.{name}": value for name, value in changed.items()}
    return places(site("nfs4", facts, device="filer:/export", mount_point="/mnt/nfs"))


def test_a_correct_mount_is_fine_and_its_export_is_unknown() -> None:
    found = [finding for rule in RULES for finding in rule(mounted())]
    assert [finding.code for finding in found if isinstance(finding, Unknown)] == ["nfs_export"]
    assert sum(isinstance(finding, Fine) for finding in found) == len(RULES)


@pytest.mark.parametrize(("size", "severity"), [(8 * KIB, Severity.MEDIUM), (256 * KIB, Severity.LOW)])
def test_small_transfers_are_reported_with_the_options_for_larger_ones(size: int, severity: Severity) -> None:
    advice = advice_of(list(small_transfers(mounted(wsize_bytes=size))))
    assert (advice.severity, numbers(advice)["nfs.wsize_bytes"]) == (severity, size)
    assert advice.commands[0] == "mount -o rsize=1048576,wsize=1048576,vers=4.2 filer:/export /mnt/nfs"


@pytest.mark.parametrize(
    ("facts", "option", "command"),
    [({"sync": True}, "sync", "mount -o async "), ({"sync": True, "attribute_cache": False}, "noac", "mount -o ac ")],
)
def test_writes_that_wait_name_the_option_that_makes_them(
    facts: dict[str, FactValue], option: str, command: str
) -> None:
    advice = advice_of(list(waiting_writes(mounted(**facts))))
    assert advice.title.startswith(f"Mounted with {option}:")
    assert advice.commands[0].startswith(command)


def test_udp_puts_data_at_risk() -> None:
    advice = advice_of(list(udp_transport(mounted(transport="udp6"))))
    assert (advice.code, advice.severity) == ("nfs_udp", Severity.HIGH)


@pytest.mark.parametrize(("version", "is_old"), [("2", True), ("3", False), ("4.0", True), ("4.1", False)])
def test_only_versions_that_lack_what_speed_needs_are_old(version: str, *, is_old: bool) -> None:
    (found,) = old_version(mounted(version=version))
    assert isinstance(found, Fine) is not is_old


@pytest.mark.parametrize(
    ("rule", "fact"),
    [
        (small_transfers, "wsize_bytes"),
        (waiting_writes, "sync"),
        (udp_transport, "transport"),
        (old_version, "version"),
    ],
)
def test_a_missing_fact_is_named(rule: Rule, fact: str) -> None:
    (found,) = rule(mounted(**{fact: None}))
    assert isinstance(found, Unknown)
    assert found.because == f"the fact nfs.{fact} is missing"


def test_other_file_systems_are_none_of_these_rules_business() -> None:
    assert [finding for rule in RULES for finding in rule(places(site("xfs", GOOD)))] == []
