"""The first record of the component that failed is the first cause, whatever its words, not what was told of it later.

The words of these records are made up: no signature knows them.
"""

from __future__ import annotations

from pathlib import Path

from plogscope.model.report import Report
from plogscope.pipeline import Options, analyze

PLOG = "ascend/log/debug/plog/plog-5561_20250220221000310.log"
NO_COUNT = "GetDeviceCount:[drv api] drvGetDevNum failed: drvRetCode=4!"
COUNT_PASSED_ON = "aclrtGetDeviceCount:get device count failed, runtime result = 507899."


def record(module: str, at: str, where: str, text: str, level: str = "ERROR") -> str:
    return f"[{level}] {module}(5561,python):2025-02-20-22:{at} [{where}]5561 {text}"


START = [record("ASCENDCL", "10:00.000.266", "acl.cpp:188", "aclInit: start to execute aclInit", "INFO")]


def report(tmp_path: Path, plog: list[str], printed: list[str]) -> Report:
    (tmp_path / PLOG).parent.mkdir(parents=True)
    (tmp_path / PLOG).write_text("\n".join([*START, *plog, ""]))
    (tmp_path / "run.log").write_text("\n".join([*printed, ""]))
    return analyze([tmp_path], Options(jobs=1))


def root(found: Report) -> tuple[str, int]:
    stated = found.verdict.root_cause
    assert stated is not None
    return stated.file.rpartition("/")[2], stated.line


def test_the_drivers_own_reason_comes_before_the_count_of_devices_that_failed(tmp_path: Path) -> None:
    plog = [
        record("DRV", "10:01.002.315", "dms_user.c:118", "dms_open the frob of the manager went wrong"),
        record("RUNTIME", "10:01.008.329", "npu_driver.cc:201", NO_COUNT),
        record("ASCENDCL", "10:01.009.092", "device.cpp:366", COUNT_PASSED_ON),
    ]

    found = report(tmp_path, plog, ["[ERROR] Init device failed"])

    assert root(found) == ("plog-5561_20250220221000310.log", 2)
    assert (found.verdict.category, found.triage.route) == ("host", "environment")


def test_a_program_that_prints_no_time_does_not_know_better_than_the_component(tmp_path: Path) -> None:
    plog = [record("DVPP", "10:09.233.604", "jpegd_parse.c:411", "the frob of the picture went wrong")]

    found = report(tmp_path, plog, ["frame 22 decoded", "[ERROR] decode of scan_23 went wrong", "[ERROR] no frame"])

    assert root(found) == ("plog-5561_20250220221000310.log", 2)
