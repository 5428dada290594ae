"""Commands of scratch.toml that a site runs on a mounted set, such as one that starts a file system's servers."""

from collections.abc import Sequence

from iotide_agent.runner.walls import OpenToOthersError, program_of
from iotide_agent.scratch.commands import ENVIRONMENT, Commands
from iotide_agent.scratch.refusals import CommandFailedError


def run_hook(name: str, argv: Sequence[str], commands: Commands) -> None:
    """Run a command, if there is one; raise CommandFailedError with its words, or if another user may change it."""
    if not argv:
        return
    try:
        program_of(argv, ENVIRONMENT)
        commands.run(argv)
    except (OpenToOthersError, CommandFailedError) as error:
        raise CommandFailedError(f"{name} of scratch.toml: {error}") from error
