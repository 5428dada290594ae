"""Code that every slice uses: database, errors, clock, pagination, queue, request limits."""
