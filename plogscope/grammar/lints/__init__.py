"""The laws that a signature file must keep, one small class each."""
