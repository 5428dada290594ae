"""Errors of the agent's files."""

from iotide_server.kit.errors import ErrorKind

AGENT_FILES_MISSING = ErrorKind(404, "agent_files_missing").says(
    "this server has no files of the agent",
    "make a bundle with deploy/offline/make-bundle.sh, place it as agent/iotide-agent.tar in the state directory or in "
    "IOTIDE_AGENT_FILES, and restart the server; or install the agent on the node in another way",
)
AGENT_FILE_NOT_FOUND = ErrorKind(404, "agent_file_not_found", field="name", shows="name").says(
    "the server has no agent file {name}", "choose one of {known:names}"
)
TOO_MANY_FETCHES = ErrorKind(429, "too_many_fetches").says(
    "your network fetches more than {a_minute} agent files per minute", "try again in {wait_seconds:seconds}"
)
