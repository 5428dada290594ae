"""`iotide-server doctor`: thin readers gather facts, pure functions judge them, each finding says how to mend it."""
