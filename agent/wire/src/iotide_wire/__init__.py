"""Messages between server and agents, the workload catalogue, units, facts and announced arithmetic.

Imports nothing, so that programs without pydantic can use the modules that need the standard library alone.
"""
