"""The five-step run: which step failed, what is complete, and where the problem is routed."""
