"""What facts and results advise: each rule says what it found, by which numbers, and what mends it."""
