"""Setup of a part of iotide as a service of this machine; the server and the agent share it."""
