"""RAID controllers whose tool is MegaCli or tw_cli; the texts follow the tools' manuals."""

import pytest
from factories.recorded import Recorded, mount_at

from iotide_agent.probes.registry import mount_facts
from iotide_wire.facts import Facts

TOP = "/sys/dev/block/8:1"
MEGACLI = """
Adapter 0 -- Virtual Drive Information:
Virtual Drive: 0 (Target Id: 0)
Name                :system
RAID Level          : Primary-1, Secondary-0, RAID Level Qualifier-0
Size                : 278.875 GB
Strip Size          : 64 KB
Number Of Drives    : 2
Span Depth          : 1
Current Cache Policy: WriteThrough, ReadAheadNone, Direct, No Write Cache if Bad BBU
Disk Cache Policy   : Disk's Default


Virtual Drive: 1 (Target Id: 1)
Name                :data
RAID Level          : Primary-6, Secondary-3, RAID Level Qualifier-3
Size                : 21.829 TB
Strip Size          : 256 KB
Number Of Drives per span:6
Span Depth          : 2
Current Cache Policy: WriteBack, ReadAdaptive, Direct, No Write Cache if Bad BBU
Disk Cache Policy   : Disabled


Exit Code: 0x00
"""
TW_SHOW = """
Ctl   Model        (V)Ports  Drives   Units   NotOpt  RRate   VRate  BBU
------------------------------------------------------------------------
c0    9650SE-8LPML 8         8        2       0       1       1      OK
"""
TW_UNITS = """
Unit  UnitType  Status         %RCmpl  %V/I/M  Stripe  Size(GB)  Cache  AVrfy
------------------------------------------------------------------------------
u0    RAID-1    OK             -       -       -       931.312   RiW    ON
u1    RAID-5    VERIFYING      -       12%     256K    5587.88   RiW    ON
u2    odd

VPort Status         Unit Size      Type  Phy Encl-Slot    Model
------------------------------------------------------------------------------
p0    OK             u0   931.51 GB SATA  0   -            ST1000
p1    OK             u0   931.51 GB SATA  1   -            ST1000
p2    OK             u1   1.82 TB   SATA  2   -            ST2000
p3    OK             u1   1.82 TB   SATA  3   -            ST2000
p4    OK             u1   1.82 TB   SATA  4   -            ST2000
p5    OK             u1   1.82 TB   SATA  5   -            ST2000
"""


def behind(driver: str, target: int, **texts: str) -> Facts:
    path = f"/sys/devices/pci0000:00/0000:03:00.0/host2/target2:0:{target}/2:0:{target}:0"
    own = {
        f"{TOP}/uevent": "DEVNAME=sda1\nDEVTYPE=partition\n",
        f"{TOP}/../slaves": "",
        f"readlink --canonicalize {TOP}/../device": f"{path}\n",
        "/sys/class/scsi_host/host2/proc_name": f"{driver}\n",
    }
    return mount_facts(mount_at("/mnt/iscsi", "mountinfo.made.txt"), Recorded(own | texts))


@pytest.mark.parametrize("tool", ["MegaCli64", "MegaCli", "megacli"])
def test_megacli_finds_the_drive_by_its_target(tool: str) -> None:
    facts = behind("megaraid_sas", 1, **{f"{tool} -LDInfo -Lall -aALL -NoLog": MEGACLI})
    assert (facts["raid.level"], facts["raid.strip_bytes"], facts["raid.disk_count"]) == ("RAID60", 262_144, 12)
    assert (facts["raid.cache"], facts["raid.disk_cache"]) == (
        "WriteBack, ReadAdaptive, Direct, No Write Cache if Bad BBU",
        "Disabled",
    )
    facts = behind("megaraid_sas", 0, **{f"{tool} -LDInfo -Lall -aALL -NoLog": MEGACLI})
    assert (facts["raid.level"], facts["raid.strip_bytes"], facts["raid.disk_count"]) == ("RAID1", 65_536, 2)


def test_a_target_of_two_controllers_is_not_guessed() -> None:
    both = MEGACLI + MEGACLI.replace("Adapter 0", "Adapter 1")
    assert "raid.level" not in behind("megaraid_sas", 1, **{"MegaCli64 -LDInfo -Lall -aALL -NoLog": both})


def test_3ware_finds_the_unit_by_its_target_and_counts_its_ports() -> None:
    texts = {"tw_cli show": TW_SHOW, "tw_cli /c0 show": TW_UNITS}
    facts = behind("3w-9xxx", 1, **texts)
    assert (facts["raid.level"], facts["raid.strip_bytes"], facts["raid.disk_count"]) == ("RAID5", 262_144, 4)
    assert (facts["raid.cache"], facts["disk.driver"]) == ("tw_cli RiW", "3w-9xxx")
    facts = behind("3w-9xxx", 0, **texts)
    assert (facts["raid.level"], "raid.strip_bytes" in facts) == ("RAID1", False)


@pytest.mark.parametrize("target", [2, 9])
def test_a_unit_that_cannot_be_read_or_is_missing_has_no_facts(target: int) -> None:
    texts = {"tw_cli show": TW_SHOW, "tw_cli /c0 show": TW_UNITS}
    assert "raid.level" not in behind("3w-9xxx", target, **texts)


@pytest.mark.parametrize(("driver", "tool"), [("3w-sas", "tw_cli"), ("megaraid_sas", "storcli64")])
def test_a_controller_without_its_tool_says_what_to_install(driver: str, tool: str) -> None:
    assert f"{tool} is not installed" in str(behind(driver, 0)["raid.level"])
