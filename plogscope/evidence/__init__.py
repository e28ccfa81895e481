"""Lines around a locus, and look-ups beside the log."""
