"""iotide's node agent: receives wake-ups, runs one load at a time and sends results until they are acknowledged."""
