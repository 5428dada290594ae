"""The audit trail: every change with its author, read as pages or as a file."""
