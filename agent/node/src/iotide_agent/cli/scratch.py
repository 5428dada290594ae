"""Commands of root for scratch disks: adopt, list, release, wipe."""

import getpass
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from iotide_agent.cli.explaining import BAD_INPUT_STATUS, MISSING_STATUS, JsonOption
from iotide_agent.cli.speaking import say
from iotide_agent.scratch.adopting import Root
from iotide_agent.scratch.commands import Commands
from iotide_agent.scratch.disk import find
from iotide_agent.scratch.journal import Journal
from iotide_agent.scratch.listing import all_sets, candidates, disk_row, unlisted
from iotide_agent.scratch.lock import held_lock
from iotide_agent.scratch.refusals import CommandFailedError, DirtyError, ScratchRefusedError
from iotide_agent.scratch.sets import read_config
from iotide_agent.scratch.site import Site
from iotide_agent.setup.scratch import allow_disks, check_code
from iotide_wire.setup.changes import Changes, SetupError, succeeds
from iotide_wire.units import format_bytes

app = typer.Typer(
    help="Disks that iotide may overwrite. Root only, on a terminal: docs/scratch.md.", no_args_is_help=True
)
Device = Annotated[str, typer.Argument(metavar="DEVICE", help="Disk as `list` names it: wwn-0x5000c500a1b2c3d4.")]


@app.command("adopt")
def adopt_command(
    device: Device,
    *,
    same_disk: Annotated[
        bool, typer.Option("--same-disk", help="Take over a disk that this node adopted before it was reinstalled.")
    ] = False,
) -> None:
    """Give a disk of /etc/iotide/scratch.toml to iotide for good: all data on it is lost.

    Refuses a disk in use, and names every use. Repeat it if it was interrupted.
    """
    site = Site()
    with _as_root(site) as root:
        check_code()
        adoption_id = root.adopt_same_disk(device) if same_disk else root.adopt(device)
        _allow(site)
    say(f"{device} is adopted as {adoption_id}")


@app.command("release")
def release_command(device: Device) -> None:
    """Wipe an adopted disk, its mark and its partition table; iotide cannot use it any longer."""
    site = Site()
    with _as_root(site) as root:
        root.release(device)
        _allow(site)
    say(f"{device} is released")


@app.command("wipe")
def wipe_command(name: Annotated[str, typer.Argument(metavar="SET", help="Set of /etc/iotide/scratch.toml.")]) -> None:
    """Undo and wipe whatever an order left on a set, and accept orders of any number again."""
    with _as_root(Site()) as root:
        for reason in root.wipe(name):
            say(reason)
    say(f"set {name} is clean, except for disks named above")


@app.command("list")
def list_command(*, as_json: JsonOption = False) -> None:
    """List sets with their disks, adopted disks that no set lists, and disks that a set could list."""
    if os.geteuid() != 0:
        _stop("only root can read the marks of disks", BAD_INPUT_STATUS)
    site = Site()
    with _explained():
        config = read_config(site.config_file)
        found = {"sets": all_sets(site, config), "unlisted": unlisted(site, config), "fit": candidates(site, config)}
    if as_json:
        say(json.dumps(found, indent=1))
        return
    for shown in found["sets"]:
        say(f"set {shown['set']}, mounted at {shown['mount']} while in use")
        for row in shown["disks"]:
            say(f"    {_line(row)}")
    for title, key in (("adopted, but in no set", "unlisted"), ("in no set; fit if free", "fit")):
        for row in found[key]:
            say(f"{title}: {_line(row)}")


def _line(row: dict[str, Any]) -> str:
    size = format_bytes(row["size_bytes"]) if "size_bytes" in row else ""
    words = (
        row["device"],
        row.get("name", ""),
        row.get("model", ""),
        size,
        row.get("state", ""),
        row.get("variant", ""),
    )
    problem = f"; {row['problem']}" if row.get("problem") else ""
    return ", ".join(filter(None, words)) + problem


@contextmanager
def _as_root(site: Site) -> Iterator[Root]:
    if os.geteuid() != 0 or not sys.stdin.isatty():
        _stop("run this as root on a terminal: it asks what to type", BAD_INPUT_STATUS)
    with _explained(), held_lock(site.lock_file, site.patience_seconds) as lock:
        yield Root(site, Commands(Journal(sys.stderr), lock), input, os.environ.get("SUDO_USER") or getpass.getuser())
    succeeds("udevadm", "settle", "--timeout=30")


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except ScratchRefusedError as error:
        _stop(str(error), BAD_INPUT_STATUS)
    except (DirtyError, CommandFailedError, SetupError, OSError) as error:
        _stop(str(error), MISSING_STATUS)


def _allow(site: Site) -> None:
    """Allow the unit of the root program exactly the listed disks that are adopted."""
    config = read_config(site.config_file)
    devices = [device for found in config.sets.values() for device in found.devices]
    rows = [disk_row(site, device) for device in devices]
    # A copy of an adopted disk has an id, too.
    adopted = [row["device"] for row in rows if "id" in row and row["problem"] is None]
    allow_disks([find(site.sysfs, device) for device in adopted], Changes(say, is_dry=False))


def _stop(sentence: str, status: int) -> None:
    say(f"iotide-agent: {sentence}", err=True)
    raise typer.Exit(status)
