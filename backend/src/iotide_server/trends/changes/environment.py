"""What changed around a series between two of its runs, as a flag that a sceptic can read."""

from collections.abc import Iterable, Mapping

from iotide_wire.facts import FactValue
from iotide_wire.measured import Flag, FlagCode, FlagEffect

_NAMED_FACTS = 20


def environment_change(
    before: Mapping[str, FactValue], after: Mapping[str, FactValue], run_before_id: int
) -> Flag | None:
    """The flag for a run whose facts differ from those of the series' previous run; None where they are the same."""
    names = _differing(before, after)
    if not names:
        return None
    return Flag(
        code=FlagCode.ENV_CHANGED,
        effect=FlagEffect.MARKED,
        measured=_listed(f"{name} = {_shown(after.get(name))}" for name in names),
        limit=f"as in run {run_before_id}: " + _listed(f"{name} = {_shown(before.get(name))}" for name in names),
    )


def environment_differences(before: Mapping[str, FactValue], after: Mapping[str, FactValue]) -> str:
    """What differs, for instance `kernel: 6.1.0-30 -> 6.1.0-35`; the same whichever series saw it."""
    names = _differing(before, after)
    return _listed(f"{name}: {_shown(before.get(name))} -> {_shown(after.get(name))}" for name in names)


def _differing(before: Mapping[str, FactValue], after: Mapping[str, FactValue]) -> list[str]:
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def _listed(facts: Iterable[str]) -> str:
    known = list(facts)
    more = [f"and {len(known) - _NAMED_FACTS} more"] if len(known) > _NAMED_FACTS else []
    return "; ".join([*known[:_NAMED_FACTS], *more])


def _shown(value: FactValue) -> str:
    """A fact, short enough for twenty of them to fit into a sentence for a person."""
    shown = "absent" if value is None else str(value)
    return shown if len(shown) <= 80 else f"{shown[:80]} ..."  # noqa: PLR2004 - half a line
