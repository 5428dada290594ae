"""How many files and connections a process may have open."""

import resource


def open_as_many_files_as_allowed() -> None:
    """Raise the soft limit, often 1,024, to the hard one: for what keeps a connection for each node."""
    _, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))
