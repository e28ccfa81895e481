"""Which incident explains which, and which one is the first cause."""
