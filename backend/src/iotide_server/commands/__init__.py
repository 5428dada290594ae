"""The commands of `iotide-server` that belong to no slice: they read settings and open what the services use."""
