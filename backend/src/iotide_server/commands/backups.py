"""The `backup` and `restore` commands."""

from dataclasses import replace as replace_in
from importlib import import_module
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
from iotide_server.commands.opening import settings_of
from iotide_server.kit.clock import system_clock, written
from iotide_server.kit.vault import Vault
from iotide_server.settings import Settings

import_module("iotide_server.tables")  # a restore writes rows that may refer to any table

StateOption = Annotated[
    Path | None,
    typer.Option("--state", envvar="IOTIDE_STATE", help="State directory of the private services."),
]
_SETTINGS = ("public_url", "agent_broker_url", "fair_share_hours", "fair_share_half_life_hours", "notify_loopback")


def backup(
    place: Annotated[Path, typer.Argument(help="New directory or new .tar file; with --keep, an existing directory.")],
    *,
    keep: Annotated[
        int | None,
        typer.Option(min=1, help="Write a dated file into directory PLACE, and keep only the newest ones."),
    ] = None,
    state: StateOption = None,
) -> None:
    """Back up all data of the server into a directory or file while the service runs."""
    settings = settings_of(state)
    now = system_clock()
    if keep is not None and not place.is_dir():
        raise BACKUP_PLACE(place=place, why="is not a directory", remedy=f"create it: mkdir -m 0700 {place}")
    written_to = place if keep is None else dated_place(place, now)
    source = _source(settings)
    manifest = back_up(source, written_to, now)
    note_backup(source.database_url, written_to.absolute(), manifest, now)
    size_bytes = sum(fact.size_bytes for fact in manifest.files.values())
    rows = sum(manifest.row_counts.values())
    typer.echo(f"{written_to}: {rows} rows, {size_bytes} bytes, schema {manifest.schema_revision}")
    if settings.vault_key is not None:
        typer.echo(
            "The backup does not include the vault key, which decrypts its secrets: keep a copy of it elsewhere."
        )
    for gone in forget_older(place, keep) if keep is not None else ():
        typer.echo(f"removed {gone}")


def restore(  # noqa: PLR0913 - each is an option of the command
    place: Annotated[Path, typer.Argument(exists=True, help="Directory or file written by `backup`.")],
    *,
    state: StateOption = None,
    database_url: Annotated[
        str | None,
        typer.Option(envvar="IOTIDE_DATABASE_URL", help="With --state: use this PostgreSQL instead of a private one."),
    ] = None,
    vault_key_file: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="File with the vault key; only with --state.")
    ] = None,
    without_vault_key: Annotated[
        bool, typer.Option("--without-vault-key", help="Give up the secrets of notification channels.")
    ] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the current content of the database.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Start runs at once instead of draining the clusters.")
    ] = False,
) -> None:
    """Restore a backup into an empty database. Nothing else may be connected to it.

    With --state, restore the private services of `up`, which must be stopped. Without it, use the configured
    services.
    """
    vault_key = None if vault_key_file is None else _vault_key(vault_key_file)
    wanted = RestoreOptions(vault_key, without_vault_key=without_vault_key, replace=replace, resume=resume)
    with opened(place) as backup:
        if state is None:
            _report(*_restore_by_settings(backup, settings_of(None), wanted))
        else:
            _report(*_restore_state(backup, state, database_url, wanted))


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
        key = file.read_text().strip()  # a binary file raises ValueError too
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
    # External services have their own certificates.
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


def _report(restored: Restored, other_certificates: Path | None) -> None:
    manifest, settled = restored.manifest, restored.settled
    rows = sum(manifest.row_counts.values())
    typer.echo(f"restored {rows} rows of {written(manifest.made_at)}, written by iotide {manifest.iotide_version}")
    typer.echo(f"{settled.node_count} nodes must report their orders; {settled.order_count} orders were in flight.")
    if settled.drained_clusters:
        names = ", ".join(sorted(settled.drained_clusters))
        typer.echo(f"No new runs start in {names} until an operator resumes it. Check the nodes first.")
    typer.echo(
        "All users must sign in again (`iotide-server admin-link`). Nodes that have not joined need new join tokens."
    )
    if other_certificates is not None:
        typer.echo(
            f"The certificates of the backup were not restored; those in {other_certificates.parent} stay in use."
        )
