"""The namespaces that people type, and the code tables behind them."""

from __future__ import annotations

NAMESPACES: dict[str, str] = {
    "em": "cann_em",
    "pta": "pta",
    "acl": "acl",
    "aclnn": "aclnn",
    "hccl": "hccl_result",
    "dvpp": "acldvpp",
    "ts": "ts",
    "rt": "rt",
    "event": "npu_event",
    "drv": "drv",
    "stage": "hccl_event",
    "message": "pta_msg",
    "aicpu": "aicpu_errcode",
    "sdma": "sdma_cqe",
    "stars": "stars_errtype",
    "stars950": "stars_errtype_950",
    "ringbuf": "ringbuf_errtype",
    "channel": "sdma_channel",
    "aicore": "aicore_errcode",
    "aicore950": "aicore_errcode_950",
}
"""Table by namespace, the most likely first: of a bare number the caller's codes are meant more often than bits."""

_OF_TABLE = {table: name for name, table in NAMESPACES.items()}
_ORDER = {table: index for index, table in enumerate(NAMESPACES.values())}


def table_of(name: str) -> str | None:
    """The table that a namespace means; the name of a table means itself. None if there is neither."""
    folded = name.strip().casefold()
    return NAMESPACES.get(folded) or (folded if folded in _OF_TABLE else None)


def namespace_of(table: str) -> str:
    """The namespace of a table; of a table that has none its name."""
    return _OF_TABLE.get(table, table)


def likelihood(table: str) -> int:
    """Sorts tables: the smaller, the more likely a bare code is of this table."""
    return _ORDER.get(table, len(_ORDER))


def public(key: str) -> str:
    """`<table>:<code>` as people type it: `<namespace>:<code>`."""
    table, _, code = key.partition(":")
    return f"{namespace_of(table)}:{code}"
