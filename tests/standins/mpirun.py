#!/usr/bin/env python3
"""Replaces MPI's launcher if none is installed: starts the program once and passes it the number of tasks."""

import os
import sys

if sys.argv[1] == "--version":
    print("mpirun (stand-in) 1.0")  # noqa: T201 - a program that prints
else:
    _, number_flag, tasks, *command = sys.argv
    if number_flag != "-n":
        raise SystemExit(f"no launcher takes {number_flag}")
    os.execve(command[0], command, {**os.environ, "STANDIN_TASKS": tasks})  # noqa: S606 - an argument list of a test
