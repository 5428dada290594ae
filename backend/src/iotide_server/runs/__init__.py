"""One execution of a cell: its life cycle, attempts, orders and log."""
