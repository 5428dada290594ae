"""`iotide-server doctor`: readers gather facts, pure functions judge them."""
