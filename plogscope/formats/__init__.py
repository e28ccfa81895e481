"""Log formats, one file each: how a head looks, how time is written, and samples that prove it.

`classify(text)` finds the format of one line whose prefixes are peeled; `peel(text)` takes prefixes off.
"""
