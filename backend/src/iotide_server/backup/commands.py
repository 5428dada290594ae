"""The commands that keep an installation's data: backup and restore, with or without the private services of `up`."""

from collections.abc import Callable
from dataclasses import replace as replace_in
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from iotide_server.backup.archives import opened
from iotide_server.backup.backup import BackupSource, back_up, dated_place, forget_older, note_backup
from iotide_server.backup.errors import BACKUP_PLACE, VAULT_KEY_UNREADABLE
from iotide_server.backup.manifest import Manifest
from iotide_server.backup.private import put_tls_back, put_vault_key_back, running_postgres, vault_key_of
from iotide_server.backup.restore import Restored, RestoreOptions, check
from iotide_server.backup.restore import restore as restore_database
from iotide_server.bundled.privileges import choose_account
from iotide_server.bundled.state import hold, prepare_state_directory
from iotide_server.kit.clock import system_clock, written
from iotide_server.kit.vault import Vault
from iotide_server.settings import Settings

StateOption = Annotated[
    Path | None,
    typer.Option("--state", envvar="IOTIDE_STATE", help="Directory of `up`'s private services."),
]
_SETTINGS = ("public_url", "agent_broker_url", "fair_share_hours", "fair_share_half_life_hours", "notify_loopback")


def add_commands(app: typer.Typer, settings_of: Callable[[Path | None], Settings]) -> None:
    """Add `backup` and `restore`; `settings_of` reads the settings of a state directory or of the environment."""

    @app.command()
    def backup(
        place: Annotated[
            Path, typer.Argument(help="A new directory, or a new file that ends with .tar; with --keep, theirs.")
        ],
        *,
        keep: Annotated[
            int | None,
            typer.Option(min=1, help="Write a dated file into the directory PLACE, and keep the newest so many."),
        ] = None,
        state: StateOption = None,
    ) -> None:
        """Write everything that the server keeps into a directory or a file, while it goes on."""
        settings = settings_of(state)
        now = system_clock()
        if keep is not None and not place.is_dir():
            raise BACKUP_PLACE(place=place, why="is no directory", remedy=f"make it: mkdir -m 0700 {place}")
        written_to = place if keep is None else dated_place(place, now)
        source = _source(settings)
        manifest = back_up(source, written_to, now)
        note_backup(source.database_url, written_to.absolute(), manifest, now)
        size_bytes = sum(fact.size_bytes for fact in manifest.files.values())
        rows = sum(manifest.row_counts.values())
        typer.echo(f"{written_to}: {rows} rows, {size_bytes} bytes, schema {manifest.schema_revision}")
        if settings.vault_key is not None:
            typer.echo("The vault key is not in it, as it opens what is sealed in it: keep a copy of it elsewhere.")
        for gone in forget_older(place, keep) if keep is not None else ():
            typer.echo(f"removed {gone}")

    @app.command()
    def restore(  # noqa: PLR0913 - each is an option of the command
        place: Annotated[Path, typer.Argument(exists=True, help="What `backup` wrote.")],
        *,
        state: StateOption = None,
        database_url: Annotated[
            str | None,
            typer.Option(envvar="IOTIDE_DATABASE_URL", help="With --state: this PostgreSQL instead of a private one."),
        ] = None,
        vault_key_file: Annotated[
            Path | None, typer.Option(exists=True, dir_okay=False, help="The vault key, kept apart; with --state.")
        ] = None,
        without_vault_key: Annotated[
            bool, typer.Option("--without-vault-key", help="Go without the secrets of channels.")
        ] = False,
        replace: Annotated[bool, typer.Option("--replace", help="Give up what the database holds now.")] = False,
        resume: Annotated[
            bool, typer.Option("--resume", help="Let runs start at once, instead of when a person resumes clusters.")
        ] = False,
    ) -> None:
        """Make an empty database what it was at a backup; nothing else may be connected to it meanwhile.

        With --state for the services of `up`, which must be stopped; without it for those that settings name.
        """
        vault_key = None if vault_key_file is None else _vault_key(vault_key_file)
        wanted = RestoreOptions(vault_key, without_vault_key=without_vault_key, replace=replace, resume=resume)
        with opened(place) as backup:
            if state is None:
                _tell(*_restore_by_settings(backup, settings_of(None), wanted))
            else:
                _tell(*_restore_state(backup, state, database_url, wanted))


def _source(settings: Settings) -> BackupSource:
    return BackupSource(
        database_url=settings.database_url.get_secret_value(),
        settings={name: getattr(settings, name) for name in _SETTINGS},
        tls=None if settings.ca_certificate is None else settings.ca_certificate.parent,
        vault_keys=None if settings.vault_key is None else settings.vault_key.get_secret_value(),
        version=version("iotide-server"),
    )


def _vault_key(file: Path) -> str:
    try:
        key = file.read_text().strip()  # what is no text at all is a ValueError, too
        Vault(key)
    except ValueError as error:
        raise VAULT_KEY_UNREADABLE(file=file) from error
    return key


def _restore_by_settings(
    backup: tuple[Manifest, Path], settings: Settings, wanted: RestoreOptions
) -> tuple[Restored, Path | None]:
    if settings.vault_key is not None:
        wanted = replace_in(wanted, vault_keys=settings.vault_key.get_secret_value())
    manifest, directory = backup
    restored = restore_database(manifest, directory, settings.database_url.get_secret_value(), wanted, system_clock())
    # Whoever names services by settings has certificates of their own, too.
    has_tls = (directory / "tls").is_dir() and settings.ca_certificate is not None
    return restored, settings.ca_certificate if has_tls else None


def _restore_state(
    backup: tuple[Manifest, Path], directory: Path, database_url: str | None, wanted: RestoreOptions
) -> tuple[Restored, None]:
    account = choose_account(directory)
    state = prepare_state_directory(directory, account)
    manifest, files = backup
    with hold(state):
        wanted = replace_in(wanted, vault_keys=wanted.vault_keys or vault_key_of(state))
        check(manifest, wanted)
        if wanted.vault_keys is not None:
            put_vault_key_back(state, wanted.vault_keys)
        if database_url is not None:
            restored = restore_database(manifest, files, database_url, wanted, system_clock())
        else:
            with running_postgres(state) as postgres:
                restored = restore_database(manifest, files, postgres.url, wanted, system_clock())
        put_tls_back(state, files)
    return restored, None


def _tell(restored: Restored, other_certificates: Path | None) -> None:
    manifest, settled = restored.manifest, restored.settled
    rows = sum(manifest.row_counts.values())
    typer.echo(f"restored {rows} rows of {written(manifest.made_at)}, made by iotide {manifest.iotide_version}")
    typer.echo(f"{settled.node_count} nodes are asked what they hold; {settled.order_count} orders were in flight.")
    if settled.drained_clusters:
        names = ", ".join(sorted(settled.drained_clusters))
        typer.echo(f"Nothing new starts in {names} until somebody resumes it: look at the nodes first.")
    typer.echo("Everybody signs in again (`iotide-server admin-link`); nodes that wait to join need new tokens.")
    if other_certificates is not None:
        typer.echo(f"The certificates of the backup were left alone; {other_certificates.parent} has those in use.")
