"""Who this node is to the server since its enrolment: kept in the state directory, readable by the agent alone."""

import json
import os
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from iotide_agent.runner.files import replace_file
from iotide_wire.base import Message, Name, Text
from iotide_wire.nodes import BrokerAccess


class NotEnrolledError(Exception):
    """The state directory holds no usable identity."""


class Identity(Message):
    """What `enroll` brought.

    Attributes:
        server_url: base URL without a trailing slash.
        cluster: None where the node was enrolled by an agent that did not keep it.
        ca_pem: the only authority whose certificates are believed, or None where the server speaks plain HTTP.
    """

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


def load_identity(state_directory: Path) -> Identity:
    """The identity in the state directory.

    Raises:
        NotEnrolledError: there is none, or it cannot be read; the text says how to enrol.
    """
    file = state_directory / "identity.json"
    try:
        return Identity.model_validate_json(file.read_bytes())
    except FileNotFoundError as error:
        raise NotEnrolledError(
            f"{file} does not exist: this node is not enrolled; run "
            "`iotide-agent enroll --server URL --join-token TOKEN` with a token from the cluster's page"
        ) from error
    except (OSError, ValidationError) as error:
        raise NotEnrolledError(f"{file} cannot be used ({error}); enrol this node again") from error


def save_identity(state_directory: Path, identity: Identity) -> None:
    """Writes the identity, durably and for the agent's own user alone."""
    state_directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_file(state_directory / "identity.json", json.dumps(identity.model_dump(mode="json")), durable=True)
