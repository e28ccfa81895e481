"""plogscope finds the first cause in Huawei Ascend logs and shows the lines that prove it."""

from __future__ import annotations

__version__ = "0.1.0"
