"""Moments as a report prints them."""

from __future__ import annotations

import os
from datetime import datetime, timedelta, timezone


def iso_local(time_ns: int | None) -> str | None:
    """Local time as printed, to the microsecond, without a zone: the logs do not state one."""
    if time_ns is None:
        return None
    try:
        moment = datetime(1970, 1, 1) + timedelta(microseconds=time_ns // 1000)  # noqa: DTZ001 - local, zone unknown
    except OverflowError:
        return None
    return moment.isoformat(timespec="microseconds")


def utc_now() -> str:
    """The time of writing in UTC; SOURCE_DATE_EPOCH fixes it."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = datetime.fromtimestamp(int(epoch), timezone.utc) if epoch.isdecimal() else datetime.now(timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
