"""The JSON Schema of the report as a file: `python -m plogscope.render.schema > reports/report.schema.json`."""

from __future__ import annotations

import sys

import msgspec

from plogscope.model.report import SCHEMA, json_schema


def render_schema() -> bytes:
    """The schema (2020-12), indented by two, with the name of the report's schema as its title."""
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": SCHEMA, **json_schema()}
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


if __name__ == "__main__":
    sys.stdout.buffer.write(render_schema())
