"""Outliers among peers: nodes, targets and OSTs that should perform alike."""
