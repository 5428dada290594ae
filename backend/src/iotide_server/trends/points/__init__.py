"""Points of series: made from results, analysed for gaps, and exported."""
