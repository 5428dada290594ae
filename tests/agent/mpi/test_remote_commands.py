"""Commands for a remote shell: five recorded forms, and everything that is not exactly one of them."""

import json
import random
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from iotide_agent.mpi.remote_commands import Allowance, StartRefusal, StartRefusedError, read_remote_command

FORMS: dict[str, dict[str, Any]] = json.loads((Path(__file__).parents[2] / "data/mpi/remote_shell.json").read_text())
HEAD_NAMES = ("10.77.0.1", "n1")
MUTATIONS = 10_000
LETTERS = "abz09/.:;,-_=+@\"'()$`&|<>\\~#*?{}\n\t\x00é "


def allowance(form: str) -> Allowance:
    return Allowance(tuple(FORMS[form]["programs"]), HEAD_NAMES)


def refusal_of(words: list[str], form: str = "mpich") -> StartRefusal:
    with pytest.raises(StartRefusedError) as refused:
        allowance(form).check(read_remote_command(words).argv)
    return refused.value.refusal


@pytest.mark.parametrize("form", FORMS)
def test_a_recorded_form_is_read_into_exactly_its_host_and_arguments(form: str) -> None:
    recorded = FORMS[form]
    command = read_remote_command(recorded["words"])
    assert (command.host, list(command.argv)) == (recorded["words"][0], recorded["argv"])
    allowance(form).check(command.argv)


@pytest.mark.parametrize("form", FORMS)
def test_each_program_of_a_form_must_be_allowed_on_this_node(form: str) -> None:
    argv = read_remote_command(FORMS[form]["words"]).argv
    for program in FORMS[form]["programs"]:
        others = tuple(one for one in FORMS[form]["programs"] if one != program)
        with pytest.raises(StartRefusedError, match=r"agent\.toml of this node") as refused:
            Allowance(others, HEAD_NAMES).check(argv)
        assert refused.value.refusal is StartRefusal.PROGRAM


@pytest.mark.parametrize("form", FORMS)
def test_a_part_that_would_connect_to_another_host_than_the_head_is_refused(form: str) -> None:
    words = [word.replace("10.77.0.1", "10.77.0.9").replace("-+c n1", "-+c n9") for word in FORMS[form]["words"]]
    assert refusal_of(words, form) is StartRefusal.CONTROL_ADDRESS


@pytest.mark.parametrize("form", FORMS)
def test_a_part_without_a_control_address_is_refused(form: str) -> None:
    command = read_remote_command(FORMS[form]["words"])
    with pytest.raises(StartRefusedError) as refused:
        allowance(form).check(command.argv[:1])
    assert refused.value.refusal in {StartRefusal.CONTROL_ADDRESS, StartRefusal.PROGRAM}


def test_a_second_control_address_is_checked_as_well() -> None:
    assert refusal_of([*FORMS["mpich"]["words"], "--control-port", "10.77.0.9:1"]) is StartRefusal.CONTROL_ADDRESS
    words = [word.replace("tcp://10.77.0.1:", "tcp://10.77.0.1,10.77.0.9:") for word in FORMS["openmpi-5"]["words"]]
    assert refusal_of(words, "openmpi-5") is StartRefusal.CONTROL_ADDRESS


PROXY = '"/opt/mpich/bin/hydra_pmi_proxy"'


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (["n2", PROXY, "$(id)"], StartRefusal.STATEMENT),
        (["n2", PROXY, "$HOME"], StartRefusal.CHARACTER),
        (["n2", PROXY, "`id`"], StartRefusal.CHARACTER),
        (["n2", PROXY, "a\nb"], StartRefusal.CHARACTER),
        (["n2", PROXY, "&"], StartRefusal.CHARACTER),
        (["n2", PROXY, "|", "sh"], StartRefusal.CHARACTER),
        (["n2", PROXY, "<", "/etc/passwd"], StartRefusal.CHARACTER),
        (["n2", PROXY, "'>'", "/etc/passwd"], StartRefusal.CHARACTER),
        (["n2", "rm -r /srv;", PROXY], StartRefusal.STATEMENT),
        (["n2", "( ", PROXY], StartRefusal.STATEMENT),
        (["n2", PROXY, '"'], StartRefusal.QUOTES),
        (["n2", "hydra_pmi_proxy"], StartRefusal.PROGRAM),
        (["n2", "/bin/sh", "-c", "id"], StartRefusal.PROGRAM),
        (["n2", "/opt/other/hydra_pmi_proxy"], StartRefusal.PROGRAM),
        (["n2", "/opt/mpich/bin/../bin/hydra_pmi_proxy"], StartRefusal.PROGRAM),
        (["n2"], StartRefusal.PROGRAM),
        ([], StartRefusal.HOST),
        (["-l", "root", "n2", PROXY], StartRefusal.HOST),
        (["root@n2", PROXY], StartRefusal.HOST),
        (["n2", PROXY, *["x"] * 2000], StartRefusal.SIZE),
        (["n2", PROXY, "x" * 40_000], StartRefusal.SIZE),
    ],
)
def test_everything_else_is_refused_by_name(words: list[str], refusal: StartRefusal) -> None:
    assert refusal_of(words) is refusal


def test_a_part_that_would_leave_its_session_is_refused_with_the_option_that_prevents_it() -> None:
    words = [word.replace("--leave-session-attached", "--daemonize") for word in FORMS["openmpi-5"]["words"]]
    with pytest.raises(StartRefusedError, match="--leave-session-attached") as refused:
        allowance("openmpi-5").check(read_remote_command(words).argv)
    assert refused.value.refusal is StartRefusal.DAEMON


HEADS_ADDRESS_UNREAD = {
    "mpich": ("stop", "--control-port", "10.77.0.1:1"),
    "openmpi-4": ("-mca", "orte_hnp_uri", "0.0;tcp://10.77.0.1:1"),
    "openmpi-5": ("--prtemca", "prte_hnp_uri", "0.0;tcp://10.77.0.1:1"),
    "iozone": ("-+c", "n1"),
}
"""Words that satisfy a search for the head's address, at a place that may not be read."""


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("mpich", ("-control-port=10.77.0.9:1",)),
        ("mpich", ("--control-port=10.77.0.9:1",)),
        ("mpich", ("-CONTROL-PORT", "10.77.0.9:1")),
        ("openmpi-4", ("--hnp-uri", "0.0;tcp://10.77.0.9:1")),
        ("openmpi-4", ("-mca", "orte_parent_uri", "0.0;tcp://10.77.0.9:1")),
        ("openmpi-4", ("-mca", "orte_hnp_uri", "0.0;tcp://10.77.0.1:1;tcp:xx10.77.0.9:1")),
        ("openmpi-4", ("-mca", "orte_hnp_uri", "file:/srv/shared/uri;tcp://10.77.0.1:1")),
        ("openmpi-5", ("--prtemca=prte_hnp_uri", "0.0;tcp://10.77.0.9:1")),
        ("openmpi-5", ("--pa", "0.0;tcp://10.77.0.9:1")),
        ("openmpi-5", ("--dvm-mas", "0.0;tcp://10.77.0.9:1")),
        ("iozone", ("-+c10", "n9")),
        ("iozone", ("-e+c", "n9")),
    ],
)
def test_a_control_address_in_another_spelling_is_refused(form: str, words: tuple[str, ...]) -> None:
    argv = (FORMS[form]["argv"][0], *words, *HEADS_ADDRESS_UNREAD[form])
    with pytest.raises(StartRefusedError) as refused:
        allowance(form).check(argv)
    assert refused.value.refusal is StartRefusal.CONTROL_ADDRESS


@pytest.mark.parametrize("spelled", ["-daemonize", "--daemonize=1", "--daem"])
def test_a_daemon_in_another_spelling_is_refused(spelled: str) -> None:
    assert refusal_of([*FORMS["openmpi-5"]["words"], spelled], "openmpi-5") is StartRefusal.DAEMON


@pytest.mark.parametrize(
    "started",
    [
        ("/bin/sh", "-c", "id"),
        ("sh", "-c", "id", "/opt/impi/bin/hydra_pmi_proxy"),
        ("/srv/hydra_pmi_proxy", "/opt/impi/bin/hydra_pmi_proxy"),
        (),
    ],
)
def test_intels_part_starts_nothing_but_its_proxy(started: tuple[str, ...]) -> None:
    recorded = FORMS["intel"]["words"]
    words = [*recorded[: recorded.index("/opt/impi/bin//hydra_pmi_proxy")], *started]
    assert refusal_of(words, "intel") is StartRefusal.PROGRAM


@pytest.mark.parametrize("option", ["-+m", "-e+m"])
def test_an_iozone_that_would_start_commands_of_a_file_is_refused(option: str) -> None:
    assert refusal_of([*FORMS["iozone"]["words"], f"{option} /srv/shared/hosts"], "iozone") is StartRefusal.PROGRAM


def test_only_iozones_client_may_leave_a_child() -> None:
    lingering = {name for name, form in FORMS.items() if allowance(name).lingers(form["argv"])}
    assert lingering == {"iozone"}


def mutated(words: list[str], source: random.Random) -> list[str]:
    changed = [*words]
    for _ in range(source.randint(1, 3)):
        at = source.randrange(len(changed))
        word = changed[at]
        place = source.randrange(len(word) + 1)
        match source.randrange(7):
            case 0:
                changed[at] = word[:place] + source.choice(LETTERS) + word[place:]
            case 1:
                changed[at] = word[:place] + word[place + 1 :]
            case 2:
                changed[at] = word[:place] + source.choice(LETTERS) + word[place + 1 :]
            case 3:
                changed.insert(at, source.choice(changed))
            case 4 if len(changed) > 1:
                changed.pop(at)
            case 5:
                other = source.randrange(len(changed))
                changed[at], changed[other] = changed[other], changed[at]
            case _:
                changed[at] = word[:place] + source.choice(("; id", " && id ", "$(id)", " -- ", ";")) + word[place:]
    return changed


def shell_reads(texts: list[str], programs: list[str], directory: Path) -> list[list[str]]:
    """Return the arguments that a shell would give to the programs, which only print them here."""
    prints = "".join(f"{one}() {{ printf '%s\\0' {one} \"$@\"; printf '\\n'; }}\n" for one in programs)
    script = prints + "set -f\n" + "".join(f"( {text} )\n" for text in texts)
    ran = subprocess.run(
        [shutil.which("bash") or "bash", "--norc"],
        input=script,
        text=True,
        capture_output=True,
        check=False,
        cwd=directory,
        env={"PATH": ""},
    )
    return [line.split("\0")[:-1] for line in ran.stdout.split("\n")[:-1]]


def test_of_10000_mutations_each_is_refused_or_read_as_a_shell_would_read_it(tmp_path: Path) -> None:
    source = random.Random(36)  # noqa: S311 - repeatable, not secret
    accepted: dict[str, list[tuple[list[str], list[str]]]] = {form: [] for form in FORMS}
    refused = set()
    for number in range(MUTATIONS):
        form = list(FORMS)[number % len(FORMS)]
        words = mutated(FORMS[form]["words"], source)
        try:
            command = read_remote_command(words)
            allowance(form).check(command.argv)
        except StartRefusedError as error:
            refused.add(error.refusal)
            continue
        accepted[form].append((words, list(command.argv)))
    assert refused >= {
        StartRefusal.CHARACTER,
        StartRefusal.HOST,
        StartRefusal.QUOTES,
        StartRefusal.STATEMENT,
        StartRefusal.PROGRAM,
        StartRefusal.CONTROL_ADDRESS,
    }
    for form, found in accepted.items():
        assert len(found) > MUTATIONS / 50
        # The host is not part of the command, nor are options of the remote shell before it.
        texts = [" ".join(words[words.index(read_remote_command(words).host) + 1 :]) for words, _ in found]
        texts = [re.sub(r"^\s*(-[nx]( |$))*", "", text) for text in texts]
        spelled = {name for one in FORMS[form]["programs"] for name in (one, one.replace("/bin/", "/bin//", 1))}
        assert [[read[0].replace("//", "/"), *read[1:]] for read in shell_reads(texts, sorted(spelled), tmp_path)] == [
            argv for _, argv in found
        ]
