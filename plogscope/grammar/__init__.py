"""What is known: grammar files, their laws, and the matcher that they compile to."""
