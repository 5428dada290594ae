"""Prints the size of a file or a block device, then becomes the program that reads it.

Usage: size_of.py PATH PROGRAM ARGUMENT...

Prints one line on stdout, the size in bytes. Ends with status 1 and a message when PATH cannot be opened for reading or
the program cannot be started. Needs the standard library alone, so it runs with `python -I -S`.
"""

import os
import sys


def main(arguments: list[str]) -> int:
    """Returns only where it does not become the program: 1 where something failed, 2 for a wrong call."""
    if len(arguments) < 2:  # noqa: PLR2004 - the path and the program
        sys.stderr.write(__doc__ or "")
        return 2
    path, *command = arguments
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        # The end of what can be read, which stat does not tell of a device.
        sys.stdout.write(f"{os.lseek(descriptor, 0, os.SEEK_END)}\n")
        sys.stdout.flush()
        os.execvp(command[0], command)  # noqa: S606 - an argument list, as the agent made it
    except OSError as error:
        sys.stderr.write(f"size_of: {error}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
