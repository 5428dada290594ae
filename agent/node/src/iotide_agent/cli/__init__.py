"""The commands `iotide-agent` and `iotide`."""
