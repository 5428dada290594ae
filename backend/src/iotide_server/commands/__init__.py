"""Commands of `iotide-server` that belong to no other module."""
