"""Rules that are not a pattern, one file each."""
