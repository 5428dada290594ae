"""Live progress of a campaign."""

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from iotide_agent.cli.answers import Campaign
from iotide_agent.cli.display import stage_lines
from iotide_agent.cli.preparations import preparation_words
from iotide_wire.units import format_estimate


class LiveProgress:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._last = ""
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[remaining]}"),
        )
        self._task = self._bar.add_task("", total=1.0, remaining="")
        self.renderable = self._bar

    def update(self, campaign: Campaign) -> None:
        counts = {state: count for state, count in campaign.counts if count}
        words = [*(f"{count} {state}" for state, count in counts.items()), *preparation_words(campaign)]
        text = f"{campaign.name}: {', '.join(words)}"
        if campaign.state == "paused":
            text += f"; {stage_lines(campaign)[-1]}"
        seconds = campaign.seconds_remaining_estimated
        remaining = (
            f"about {format_estimate(seconds)} left" if seconds is not None and campaign.state == "active" else ""
        )
        self._bar.update(self._task, completed=campaign.progress, description=text, remaining=remaining)
        if not self._console.is_terminal and text != self._last:
            self._console.print(text, markup=False, highlight=False, soft_wrap=True)
        self._last = text
