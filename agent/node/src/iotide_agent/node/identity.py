"""Identity of an enrolled node, readable by the agent only."""

import hashlib
import json
import os
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field, ValidationError

from iotide_agent.runner.files import replace_file, sync_directory
from iotide_wire.base import Message, Name, Text
from iotide_wire.nodes import BrokerAccess, fingerprint

FILE_NAME: Final = "identity.json"
_NEXT_FILE: Final = "identity-next.json"


class NotEnrolledError(Exception):
    pass


class Identity(Message):
    """`ca_pem` is the only trusted authority; None for plain HTTP."""

    server_url: Text
    node_id: int
    node_name: Text
    node_token: Text
    broker: BrokerAccess
    ca_pem: Annotated[str, Field(max_length=20_000)] | None
    cluster: Name | None = None

    @property
    def agent(self) -> str:
        """Name of this agent in its marks on targets.

        Its parts are unique on the server, plus the host's name. A node that lost its state directory and enrolled
        again has another id and token, but must recognise its marks.
        """
        cluster = self.cluster or f"#{self.node_id}"  # no name begins with this character
        return f"{self.server_url}/{cluster}/{self.node_name}@{os.uname().nodename}"

    @property
    def fingerprint(self) -> str:
        return token_fingerprint(self.node_token)


def token_fingerprint(node_token: str) -> str:
    """Return what admins compare before they approve a node."""
    return fingerprint(hashlib.sha256(node_token.encode()).hexdigest())


def load_identity(state_directory: Path) -> Identity:
    """Raise NotEnrolledError, which explains how to enrol."""
    file = state_directory / FILE_NAME
    try:
        return Identity.model_validate_json(file.read_bytes())
    except FileNotFoundError as error:
        raise NotEnrolledError(
            f"{file} does not exist: this node is not enrolled; run "
            "`echo TOKEN | iotide-agent enroll --server URL` with a token from the cluster's page"
        ) from error
    except (OSError, ValidationError) as error:
        remedy = "install the newer agent again if one wrote it, or enrol this node again"
        raise NotEnrolledError(f"{file} cannot be used ({error}); {remedy}") from error


def save_identity(state_directory: Path, identity: Identity) -> None:
    state_directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    drop_next(state_directory)
    _write(state_directory / FILE_NAME, identity)


def keep_next(state_directory: Path, identity: Identity) -> None:
    """Store durably the identity to adopt once the server has confirmed it."""
    _write(state_directory / _NEXT_FILE, identity)


def next_identity(state_directory: Path) -> Identity | None:
    try:
        return Identity.model_validate_json((state_directory / _NEXT_FILE).read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def adopt_next(state_directory: Path) -> None:
    (state_directory / _NEXT_FILE).replace(state_directory / FILE_NAME)
    sync_directory(state_directory)


def drop_next(state_directory: Path) -> None:
    (state_directory / _NEXT_FILE).unlink(missing_ok=True)


def _write(file: Path, identity: Identity) -> None:
    replace_file(file, json.dumps(identity.model_dump(mode="json")), durable=True)
