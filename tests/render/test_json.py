from __future__ import annotations

import json
from collections.abc import Callable

import jsonschema
import msgspec
import pytest

from plogscope.data import report_root
from plogscope.model.report import Report, json_schema
from plogscope.render.json import render_json
from plogscope.render.schema import render_schema
from tests.render import reports

FACTORIES = [*reports.ALL.values()]


@pytest.mark.parametrize("factory", FACTORIES)
def test_every_report_is_valid_against_the_schema(factory: Callable[[], Report]) -> None:
    document = json.loads(render_json(factory()))
    jsonschema.Draft202012Validator(json_schema()).validate(document)


def test_the_schema_refuses_a_status_that_is_not_in_the_contract() -> None:
    document = json.loads(render_json(reports.explained()))
    document["verdict"]["status"] = "maybe"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(json_schema()).validate(document)


def test_keys_stand_in_the_order_of_the_model_and_are_indented_by_two() -> None:
    text = render_json(reports.explained()).decode("utf-8")
    assert list(json.loads(text)) == [field.name for field in msgspec.structs.fields(Report)]
    assert text.startswith('{\n  "schema": "plogscope.report/1",\n  "tool": {\n    "name"')
    assert text.endswith("}\n")


def test_chinese_stands_in_the_bytes_as_itself() -> None:
    assert "算子".encode() in render_json(reports.explained())


def test_the_report_can_be_read_back() -> None:
    report = reports.explained()
    again = msgspec.json.decode(render_json(report), type=Report)
    assert msgspec.structs.replace(again, run_id="") == report


def test_a_file_name_that_is_not_utf8_stays_readable() -> None:
    document = json.loads(render_json(reports.hostile()))
    assert document["bundle"]["files"][-1]["path"] == "bad\\udcff\\udc80name.log"


@pytest.mark.parametrize("factory", FACTORIES)
def test_equal_reports_give_equal_bytes(factory: Callable[[], Report]) -> None:
    assert render_json(factory()) == render_json(factory())


def test_the_run_id_depends_on_the_files_and_not_on_the_time_of_writing() -> None:
    report = reports.explained()
    later = msgspec.structs.replace(report, generated="2027-01-01T00:00:00Z")
    other = msgspec.structs.replace(
        report, bundle=msgspec.structs.replace(report.bundle, files=report.bundle.files[:1])
    )
    ids = [json.loads(render_json(each))["run_id"] for each in (report, later, other)]
    assert ids[0] == ids[1] != ids[2]
    assert len(ids[0]) == 12


def test_the_schema_that_is_shipped_is_the_one_of_the_model() -> None:
    """`python -m plogscope.render.schema > reports/report.schema.json` brings it up to date."""
    assert (report_root() / "report.schema.json").read_bytes() == render_schema()
