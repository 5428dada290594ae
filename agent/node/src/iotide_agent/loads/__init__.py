"""iotide's own small load programs, run as processes like any other tool."""
