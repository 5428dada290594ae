"""Who this node is to the server since its enrolment: kept in the state directory, readable by the agent alone."""

import hashlib
import json
import os
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field, ValidationError

from iotide_agent.runner.files import replace_file, sync_directory
from iotide_wire.base import Message, Name, Text
from iotide_wire.nodes import BrokerAccess, fingerprint

_FILE: Final = "identity.json"
_NEXT_FILE: Final = "identity-next.json"


class NotEnrolledError(Exception):
    """The state directory holds no usable identity."""


class Identity(Message):
    """What `enroll` brought; `ca_pem` is the only authority whose certificates are believed, None for plain HTTP."""

    server_url: Text
    node_id: int
    node_name: Text
    node_token: Text
    broker: BrokerAccess
    ca_pem: Annotated[str, Field(max_length=20_000)] | None
    cluster: Name | None = None

    @property
    def agent(self) -> str:
        """What this agent is called in the marks that it leaves on targets, beside those of other nodes.

        It is made of names of which the server lets one node live at a time, and the host's: a node that lost its
        state directory and is enrolled again has another id and token, and must still know its marks.
        """
        cluster = self.cluster or f"#{self.node_id}"  # no name begins so
        return f"{self.server_url}/{cluster}/{self.node_name}@{os.uname().nodename}"

    @property
    def fingerprint(self) -> str:
        """Of its token, as the server shows it to those who let nodes in."""
        return token_fingerprint(self.node_token)


def token_fingerprint(node_token: str) -> str:
    """What people compare of a token."""
    return fingerprint(hashlib.sha256(node_token.encode()).hexdigest())


def load_identity(state_directory: Path) -> Identity:
    """Return the identity in the state directory; raise NotEnrolledError, which says how to enrol."""
    file = state_directory / _FILE
    try:
        return Identity.model_validate_json(file.read_bytes())
    except FileNotFoundError as error:
        raise NotEnrolledError(
            f"{file} does not exist: this node is not enrolled; run "
            "`echo TOKEN | iotide-agent enroll --server URL` with a token from the cluster's page"
        ) from error
    except (OSError, ValidationError) as error:
        raise NotEnrolledError(f"{file} cannot be used ({error}); enrol this node again") from error


def save_identity(state_directory: Path, identity: Identity) -> None:
    """Writes the identity, durably and for the agent's own user alone."""
    state_directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    drop_next(state_directory)
    _write(state_directory / _FILE, identity)


def keep_next(state_directory: Path, identity: Identity) -> None:
    """Writes, durably, the identity that the node will have once the server has heard that it is kept."""
    _write(state_directory / _NEXT_FILE, identity)


def next_identity(state_directory: Path) -> Identity | None:
    """The one that was kept; None where there is none, or none that can be read."""
    try:
        return Identity.model_validate_json((state_directory / _NEXT_FILE).read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def adopt_next(state_directory: Path) -> None:
    """Makes the next identity the present one, by one rename."""
    (state_directory / _NEXT_FILE).replace(state_directory / _FILE)
    sync_directory(state_directory)


def drop_next(state_directory: Path) -> None:
    """Forgets the next identity, if there is one."""
    (state_directory / _NEXT_FILE).unlink(missing_ok=True)


def _write(file: Path, identity: Identity) -> None:
    replace_file(file, json.dumps(identity.model_dump(mode="json")), durable=True)
