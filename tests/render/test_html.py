from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from itertools import pairwise

import msgspec
import pytest

from plogscope.model.report import Report
from plogscope.render.html import render_html
from plogscope.render.visible import one_line
from tests.render import reports
from tests.render.page import Page

FACTORIES = list(reports.ALL.values())
ORDER = [
    "head", "category", "evidence", "cause", "action", "chain", "time",
    "findings", "missing", "environment", "provenance", "ticket",
]  # fmt: skip
REMEDY = re.compile(r"root cause|根因|\bfix\b|修复|workaround|规避", re.IGNORECASE)


def _policy(html: str) -> str:
    (policy,) = (meta["content"] for meta in Page(html).all("meta") if "http-equiv" in meta)
    return policy


def _sha(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@pytest.mark.parametrize("factory", FACTORIES)
def test_a_page_holds_one_script_one_style_no_handler_and_no_address(factory: Callable[[], Report]) -> None:
    page = Page(render_html(factory()))
    assert {name: len(found) for name, found in page.blocks.items()} == {"script": 1, "style": 1}
    for tag, values in page.tags:
        assert not [name for name in values if name.startswith("on") or name in {"style", "srcset", "action"}], tag
        for name in ("src", "href", "xlink:href", "data", "poster"):
            target = values.get(name, "#")
            assert target.startswith(("#", "data:image/png;base64,")) or target == "data:,", (tag, name, target)
    assert not {tag for tag, _ in page.tags} & {"iframe", "object", "embed", "base", "form", "img"}


@pytest.mark.parametrize("factory", FACTORIES)
def test_the_policy_names_exactly_the_script_and_style_of_the_page(factory: Callable[[], Report]) -> None:
    html = render_html(factory())
    page = Page(html)
    assert _policy(html) == (
        f"default-src 'none'; img-src data:; style-src '{_sha(page.blocks['style'][0])}'; "
        f"script-src '{_sha(page.blocks['script'][0])}'; base-uri 'none'; form-action 'none'"
    )


def test_a_changed_script_no_longer_fits_the_policy() -> None:
    html = render_html(reports.explained()).replace("'use strict'", "'use sloppy'")
    assert _sha(Page(html).blocks["script"][0]) not in _policy(html)


@pytest.mark.parametrize("factory", [*FACTORIES, reports.huge])
def test_elements_are_nested_and_ids_and_fragments_are_sound(factory: Callable[[], Report]) -> None:
    page = Page(render_html(factory()))
    assert page.problems == []
    assert len(page.ids) == len(set(page.ids))
    known = set(page.ids)
    referred = [name for _, values in page.tags for name in values.get("aria-labelledby", "").split()]
    referred += [values["for"] for values in page.all("label")]
    assert set(referred) <= known
    assert all(re.fullmatch(r"[A-Za-z0-9_-]+", name) for name in page.ids)


@pytest.mark.parametrize("factory", [*FACTORIES, reports.huge])
def test_every_fragment_leads_somewhere(factory: Callable[[], Report]) -> None:
    page = Page(render_html(factory()))
    targets = {values["href"][1:] for values in page.all("a")}
    assert targets <= set(page.ids)
    assert len(targets) > 10


def test_the_first_cause_stays_on_the_page_wherever_it_stands_in_the_chain() -> None:
    report = reports.huge()
    late = msgspec.structs.replace(report, chain=[*report.chain[1:], report.chain[0]])
    assert "c-1" in Page(render_html(late, max_bytes=700_000)).ids


@pytest.mark.parametrize("factory", FACTORIES)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_sections_stand_in_the_fixed_order(factory: Callable[[], Report], lang: str) -> None:
    page = Page(render_html(factory(), lang))
    assert [values["id"] for values in page.all("section")] == ORDER


@pytest.mark.parametrize(("lang", "tag", "checked"), [("en", "en", "lang-en"), ("zh", "zh-CN", "lang-zh")])
def test_both_languages_are_in_the_file_and_the_default_is_chosen(lang: str, tag: str, checked: str) -> None:
    page = Page(render_html(reports.explained(), lang))
    assert page.all("html")[0]["lang"] == tag
    chosen = [values["id"] for values in page.all("input") if values.get("name") == "lang" and "checked" in values]
    assert chosen == [checked]
    assert "Most likely root cause" in page.by_language["en"]
    assert "最可能的根因" in page.by_language["zh-CN"]
    for lines in page.by_language.values():
        assert "".join(lines).count("ScatterNdUpdate_7c1") >= 2


def test_the_toggle_needs_no_script() -> None:
    style = Page(render_html(reports.explained())).blocks["style"][0]
    assert ":root:has(#lang-en:checked) .x[lang|=zh],:root:has(#lang-zh:checked) .x[lang|=en]{display:none}" in style


@pytest.mark.parametrize("factory", FACTORIES)
def test_each_line_of_words_stands_once_in_each_language(factory: Callable[[], Report]) -> None:
    page = Page(render_html(factory()))
    spans = [values["lang"] for tag, values in page.tags if tag == "span" and "x" in values.get("class", "").split()]
    assert spans[::2] == ["en"] * (len(spans) // 2)
    assert spans[1::2] == ["zh-CN"] * (len(spans) // 2)


def _shown(report: Report) -> list[str]:
    values: list[object] = []
    for entry in report.chain:
        values += [entry.quote, entry.file, entry.line, entry.time, entry.pid, entry.signature, entry.title.zh]
        values += [entry.count] if entry.count > 1 else []
    for item in report.evidence:
        values += [
            item.quote,
            item.why.en,
            item.why.zh,
            f"{item.file}:{item.line}",
            *item.context_before,
            *item.context_after,
        ]
    for rank in report.cluster.ranks:
        values += [rank.rank, rank.node, rank.pid, rank.first_error, rank.last_seen, rank.silent_since]
    for file in report.bundle.files:
        values += [file.path, file.first_time, file.last_time, file.skipped]
    environment = report.environment
    values += [environment.cann, environment.torch_npu, *environment.env, *environment.env.values()]
    values += [clock.offset_s for clock in report.cluster.clocks]
    values += [group.identifier for group in report.cluster.communicators]
    values += [report.tool.grammar_digest, report.generated, report.bundle.path]
    return [one_line(str(value)) for value in values if value is not None]


@pytest.mark.parametrize("factory", [reports.explained, reports.insufficient, reports.no_failure])
def test_what_the_json_says_stands_in_the_page(factory: Callable[[], Report]) -> None:
    report = factory()
    text = Page(render_html(report)).text
    assert [value for value in _shown(report) if value not in text] == []


def test_numbers_keep_their_exact_value_beside_the_grouped_one() -> None:
    report = reports.explained()
    page = Page(render_html(report))
    values = {values["value"] for values in page.all("data")}
    for file in report.bundle.files:
        assert {str(file.bytes), str(file.lines), str(file.records)} <= values
    assert str(report.coverage.read) in values
    assert "1,904,771" in page.text


@pytest.mark.parametrize("attack", reports.ATTACKS)
def test_an_attack_is_text_and_nothing_else(attack: str) -> None:
    html = render_html(reports.hostile())
    assert one_line(attack) in Page(html).text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", html)


def test_hidden_characters_are_shown() -> None:
    text = Page(render_html(reports.hostile())).text
    for shown in ("␛[31m", "nul␀bell␇", "⟪U+202E⟫", "⟪U+009B⟫", "␍␊", "bad⟪U+DCFF⟫"):
        assert shown in text


def test_a_line_of_a_megabyte_is_cut_and_the_cut_is_named() -> None:
    html = render_html(reports.hostile())
    assert "996,000" not in html
    assert "… [998000 more characters]" in html
    assert len(html) < 1_000_000


@pytest.mark.parametrize("factory", [reports.insufficient, reports.overfull, reports.no_failure])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_without_an_explanation_the_page_names_no_cause_and_no_remedy(factory: Callable[[], Report], lang: str) -> None:
    page = Page(render_html(factory(), lang))
    assert not REMEDY.search(page.text)
    assert not [values for _, values in page.tags if REMEDY.search(" ".join(values.values()))]
    assert "ScatterNdUpdate_7c1" not in page.text


def test_an_explained_page_names_cause_rival_and_remedy() -> None:
    text = Page(render_html(reports.explained())).text
    for words in ("Most likely root cause", "A link of node-a went down", "Check the index range", "修正 scatter"):
        assert words in text


def test_evidence_links_survive_another_order() -> None:
    report = reports.explained()
    turned = msgspec.structs.replace(report, evidence=report.evidence[::-1])
    ids = {name for name in Page(render_html(report)).ids if name.startswith("e-")}
    assert ids == {"e-5fc01a77", "e-90b2d314"}
    assert ids <= set(Page(render_html(turned)).ids)


def test_every_text_that_a_button_copies_stands_in_a_text_area() -> None:
    page = Page(render_html(reports.explained()))
    areas = {values["id"] for values in page.all("textarea") if "readonly" in values}
    both = {f"{name}-{lang}" for name in ("markdown", "evidence", "prompt") for lang in ("en", "zh")}
    assert areas == both | {"vllm-ascend-en", "torchair-zh", "cann-zh"}
    buttons = {values["data-copy"] for values in page.all("button") if "data-copy" in values}
    assert {area.rpartition("-")[0] for area in areas} == buttons


@pytest.mark.parametrize("factory", FACTORIES)
def test_equal_reports_give_equal_pages(factory: Callable[[], Report]) -> None:
    assert render_html(factory()) == render_html(factory())


def test_only_the_time_of_writing_differs_between_two_runs() -> None:
    report = reports.explained()
    later = msgspec.structs.replace(report, generated="2031-05-06T07:08:09Z")
    assert render_html(report).replace(report.generated, later.generated) == render_html(later)


def test_a_huge_report_is_cut_and_says_what_is_left_out() -> None:
    report = reports.huge()
    html = render_html(report)
    assert len(html.encode()) < 8_000_000
    page = Page(html)
    assert page.ids.count("left-out") == 1
    for words in ("evidence: 1501", "chain entries: 2000", "other findings: 2000", "ranks: 896"):
        assert words in page.text


@pytest.mark.parametrize("cap", [3_000_000, 700_000])
def test_a_page_over_its_cap_loses_the_least_important_first(cap: int) -> None:
    report = reports.huge()
    html = render_html(report, max_bytes=cap)
    assert len(html.encode()) <= cap
    page = Page(html)
    assert "context lines: 25010" in page.text
    assert reports.ROOT_QUOTE in page.text
    assert "Run the failing step again" in page.text


def test_many_suspects_and_much_evidence_are_folded_but_there() -> None:
    report = reports.insufficient()
    suspects = [msgspec.structs.replace(report.verdict.suspects[0], rank=rank) for rank in range(40)]
    evidence = [msgspec.structs.replace(report.evidence[0], id=f"e-{number}", line=number) for number in range(1, 31)]
    verdict = msgspec.structs.replace(report.verdict, suspects=suspects)
    page = Page(render_html(msgspec.structs.replace(report, verdict=verdict, evidence=evidence)))
    assert page.problems == []
    rest = [values for values in page.all("details") if values.get("class") == "rest" and "id" not in values]
    assert rest == [{"class": "rest"}] * 2
    assert "Further evidence: 25" in page.text
    assert "Further ranks and nodes: 28" in page.text
    assert all(f"rank {rank}" in page.text for rank in range(40))
    assert {f"e-{number}" for number in range(1, 31)} <= set(page.ids)


def test_headings_are_ordered_and_there_is_one_first() -> None:
    for factory in FACTORIES:
        levels = [int(tag[1]) for tag, _ in Page(render_html(factory())).tags if re.fullmatch(r"h[1-6]", tag)]
        assert levels.count(1) == 1
        assert levels[0] == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))


def test_landmarks_skip_link_and_table_headers_are_there() -> None:
    page = Page(render_html(reports.explained()))
    for tag in ("header", "nav", "main", "footer"):
        assert len(page.all(tag)) == 1
    assert page.all("a")[0] == {"class": "skip", "href": "#main"}
    assert len(page.all("caption")) == len(page.all("table"))
    assert {values.get("scope") for values in page.all("th")} == {"row", "col"}


def test_log_text_is_never_offered_for_translation() -> None:
    page = Page(render_html(reports.explained()))
    assert all(values.get("translate") == "no" for values in [*page.all("pre"), *page.all("textarea")])


def _luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_text_has_enough_contrast_on_every_ground_in_both_themes() -> None:
    style = Page(render_html(reports.explained())).blocks["style"][0]
    palettes = {
        tuple(re.findall(r"--([a-z]+):(#[0-9a-f]{6})", block)) for block in re.findall(r"\{[^{}]*--bg:[^{}]*\}", style)
    }
    assert len(palettes) == 2
    inks = ["text", "dim", "link", "red", "orange", "purple", "slate", "green", "blue", "amber"]
    for palette in map(dict, palettes):
        for ground in ("bg", "panel", "code"):
            assert [ink for ink in inks if _contrast(palette[ink], palette[ground]) < 4.5] == []
        assert _contrast(palette["text"], palette["hit"]) >= 4.5
        assert _contrast(palette["dim"], palette["hit"]) >= 4.5
        assert _contrast(palette["bg"], palette["text"]) >= 4.5
