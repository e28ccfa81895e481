"""The vocabulary of the whole program: frozen values, no behaviour that reads or writes anything."""
