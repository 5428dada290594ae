"""Changes of series: found, matched with earlier ones, and described."""
