"""What every slice stands on: database, errors, clock, pagination, queue."""
