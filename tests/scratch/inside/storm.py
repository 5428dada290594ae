"""Kills the root program at random moments of random plans, and recovers once after each.

Usage: python3 -m scratch.inside.storm KILLS SEED. Prints a line a kill, and `storm: ended` at last. A power cut resets
the machine; the next boot continues with the counts on the disk of the program's state.
"""

import json
import os
import signal
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

from scratch.inside import canaries
from scratch.inside.cases import CASES, Case
from scratch.inside.program import Program, descendants
from scratch.inside.rig import SET, adopt, leftovers, list_sets, prepare, run, state_of, use_rule

from iotide_agent.scratch.site import MOUNTS, STATE

LEDGER: Final = STATE / "storm.json"
KINDS: Final = ("program", "worker", "all", "tool")
POWER: Final = "power"
KILLS_A_CUT: Final = 40
LEAST_CUTS: Final = 3
WRITTEN_BYTES: Final = 4 * 1024**2
LEAST_LINES: Final = 14
LINES_PER_DISK: Final = 12
JITTER_SECONDS: Final = 0.5
CLEANINGS: Final = 3


@dataclass(slots=True)
class Ledger:
    """Counts that survive a power cut: kills done, the present cut, the newest order, and the canaries' digests."""

    done: int = 0
    boots: int = 0
    order: int = 0
    cut: str = ""
    digests: dict[str, str] = field(default_factory=dict)

    def save(self) -> None:
        LEDGER.write_text(json.dumps(asdict(self)))
        run("sync")


def main() -> None:
    kills, seed = int(sys.argv[1]), sys.argv[2]
    prepare()
    ledger = Ledger(**json.loads(LEDGER.read_text())) if LEDGER.exists() else Ledger()
    has_rule = ledger.boots % 2 == 0
    if has_rule:  # the other boots show that recovery needs no rule: udev may assemble what a kill left
        use_rule()
    list_sets({"bays": SET, **canaries.LISTED})
    changed = 0
    if ledger.boots:
        changed = canaries.total(canaries.changed(ledger.digests, canaries.digests()))
    else:
        canaries.make()
        for device in SET:
            adopt(device)
    say(f"storm: boot {ledger.boots}, udev rule {'on' if has_rule else 'off'}")
    say(f"canaries: {changed} bytes changed")
    canaries.use()
    storm = Storm(kills, seed, ledger, canaries.Watch())
    storm.run()


class Storm:
    def __init__(self, kills: int, seed: str, ledger: Ledger, watch: canaries.Watch) -> None:
        self._kills = kills
        self._seed = seed
        self._ledger = ledger
        self._watch = watch
        self._program = Program()
        ledger.boots += 1
        ledger.digests = watch.digests
        ledger.save()

    def run(self) -> None:
        ledger, cuts = self._ledger, cuts_of(self._kills)
        if ledger.cut:
            self._recover(POWER, ledger.cut)
        while ledger.done < self._kills:
            random = Random(f"{self._seed}-{ledger.order}")  # noqa: S311 - to be repeated, not secret
            kind = POWER if ledger.done in cuts else random.choice(KINDS)
            case = random.choice(CASES)
            step = self._struck(kind, case, random)
            if step is not None:
                self._recover(kind, step)
        self._watch.report()
        self._program.close()
        say("storm: ended")

    def _struck(self, kind: str, case: Case, random: Random) -> str | None:
        """Perform a plan until the kill; return the step it hit, None for a plan that ended before."""
        ledger = self._ledger
        ledger.order += 1
        head = {"set": "bays", "order": ledger.order, "fence": 1}
        mount = {"verb": "mount", **head, "options": {"noatime": True}}
        requests = [{"verb": "make", **head, **case.words}, mount, {"verb": "wipe", **head}]
        at = random.randrange(1, LEAST_LINES + LINES_PER_DISK * case.layout.disks)
        if kind == POWER:
            ledger.cut = f"{case} line {at}"
            self._watch.report()
            ledger.save()
        request = requests.pop(0)
        self._program.begin(**request)
        for number, event in enumerate(self._program.events(), 1):
            is_ripe = kind != "tool" or event["event"] == "command_started"
            if number >= at and is_ripe and event["event"] != "ended":
                time.sleep(random.random() * JITTER_SECONDS * (kind != "tool"))
                if kill(kind, self._program):
                    return f"{case} {request['verb']} {step_of(event)}"
            if event["event"] == "ended":
                assert event["outcome"] == "done", event["reason"]
                if not requests:
                    return None
                if request["verb"] == "mount":
                    (MOUNTS / "bays/file").write_bytes(os.urandom(WRITTEN_BYTES))
                request = requests.pop(0)
                self._program.begin(**request)
        raise AssertionError("the program ended by itself")

    def _recover(self, kind: str, step: str) -> None:
        """Recover once, as the agent asks for it, and print what that left."""
        if kind == "tool":
            while (event := self._program.event()) is not None and event["event"] != "ended":
                pass
        elif kind != POWER:
            self._program = restarted(self._program, is_dead=kind != "worker")
        ended, seconds = self._asked_to_recover()
        dirty = [device for device in SET if state_of(device) != "clean" and device in ended["reason"]]
        left = left_unnamed(dirty, ended)
        changed = self._watch.changed_bytes(reads=False)
        self._ledger.done += 1
        self._ledger.cut = ""
        self._ledger.save()
        say(
            f"kill: {self._ledger.done} {kind} seconds={seconds:.1f} outcome={ended['outcome']} left={len(left)} "
            f"dirty={len(dirty)} canary_bytes={changed} {step} {ended['reason']} {'; '.join(left)}".rstrip()
        )
        for _ in range(CLEANINGS):
            if ended["outcome"] == "done" and not left:
                return
            ended, _ = self._asked_to_recover()
            left = leftovers()
        raise AssertionError(f"the set stays dirty: {ended['reason']} {left}")

    def _asked_to_recover(self) -> tuple[dict[str, Any], float]:
        began = time.monotonic()
        self._program.begin(verb="recover", set="bays")
        ended = next(
            event for event in self._program.events() if event["event"] == "ended" and event["verb"] == "recover"
        )
        return ended, time.monotonic() - began


def cuts_of(kills: int) -> set[int]:
    """Return which kills are power cuts: one in KILLS_A_CUT, at least three, evenly spread."""
    count = min(kills, max(LEAST_CUTS, kills // KILLS_A_CUT))
    return {(number + 1) * kills // (count + 1) for number in range(count)}


def kill(kind: str, program: Program) -> int:
    """Return how many processes were killed; a power cut does not return."""
    if kind == POWER:
        Path("/proc/sysrq-trigger").write_text("b")
        time.sleep(60)
    worker = program.worker()
    tools = descendants(worker) if worker else []
    workers = [worker] if worker else []
    pids = {"program": [program.pid], "worker": workers, "all": [program.pid, *workers, *tools], "tool": tools}[kind]
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return len(pids)


def restarted(program: Program, *, is_dead: bool) -> Program:
    """Return the program that answers the next request: systemd starts a new one at once."""
    if not is_dead:
        return program
    program.close()
    return Program()


def step_of(event: dict[str, Any]) -> str:
    return str(event["argv"][0]) if "argv" in event else str(event["event"])


def left_unnamed(dirty: list[str], ended: dict[str, Any]) -> list[str]:
    """Return what is left on the set, except disks that a recovery reported dirty."""
    found = leftovers([device for device in SET if device not in dirty])
    return [line for line in found if not ("stays mounted" in ended["reason"] and f" {MOUNTS}/" in line)]


def say(line: str) -> None:
    sys.stdout.write(f"\n{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
