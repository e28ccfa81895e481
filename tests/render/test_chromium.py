"""Opens the pages in a real browser from `file://`; skipped where none is installed."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

import plogscope
from plogscope.model.report import Report
from plogscope.render.html import render_html
from tests.render import reports
from tests.render.page import Page

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")

# What the browser asks its maker for by itself: the time, dictionaries, updates. No page of ours names those hosts.
OWN_REQUESTS = re.compile(r"https?://[\w.-]*\.(?:google|googleapis|gvt1)\.com[/:]")


class Browser:
    """Runs one headless browser per page, in a profile of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs = 0

    def write(self, report: Report, name: str = "report.html", lang: str = "en") -> Path:
        path = self.folder / name
        path.write_text(render_html(report, lang), encoding="utf-8")
        return path

    def open(self, path: Path, *flags: str) -> tuple[str, list[str], list[str]]:
        """The document after its scripts ran, the lines on its console, and the addresses it asked for."""
        self.runs += 1
        log = self.folder / f"net-{self.runs}.json"
        done = subprocess.run(
            [
                str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
                "--disable-dev-shm-usage", "--enable-logging=stderr", f"--user-data-dir={self.folder / 'profile'}",
                f"--log-net-log={log}", "--window-size=1280,1000", "--virtual-time-budget=4000", *flags,
                "--dump-dom", path.as_uri(),
            ],
            capture_output=True, text=True, timeout=120, check=True,
        )  # fmt: skip
        console = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
        asked = re.findall(r'"url":"(https?://[^"]*)', log.read_text(encoding="utf-8", errors="replace"))
        return done.stdout, console, [url for url in asked if not OWN_REQUESTS.match(url)]

    def ask(self, page: Path, script: str, *, scripts_run: bool) -> Any:
        """What `script` returns, run by an outer page on the document `d` (window `w`) of an inner frame.

        The inner page keeps its own policy. Without `allow-scripts` the frame is what a reader without JavaScript has.
        """
        sandbox = "allow-same-origin allow-scripts" if scripts_run else "allow-same-origin"
        driver = self.folder / "driver.html"
        driver.write_text(
            "<!DOCTYPE html><meta charset=utf-8>"
            f'<iframe id=f width=1200 height=900 sandbox="{sandbox}" src="{page.name}"></iframe>'
            "<pre id=out></pre><script>"
            "document.getElementById('f').onload=function(){var w=this.contentWindow,d=this.contentDocument,out;"
            f"try{{out=(function(){{{script}}}())}}catch(e){{out=String(e)}}"
            "document.getElementById('out').textContent=JSON.stringify(out)};</script>",
            encoding="utf-8",
        )
        document, _, _ = self.open(driver, "--allow-file-access-from-files")
        answer = re.search(r'<pre id="out">(.*?)</pre>', document, re.DOTALL)
        assert answer, document[:500]
        return json.loads(html.unescape(answer[1]))


@pytest.fixture
def browser(tmp_path: Path) -> Browser:
    return Browser(tmp_path)


@pytest.mark.parametrize("name", ["explained", "insufficient", "no-failure"])
def test_a_page_opens_from_a_file_without_a_word_on_the_console_and_without_a_request(
    browser: Browser, name: str
) -> None:
    document, console, requests = browser.open(browser.write(reports.ALL[name]()))
    assert console == []
    assert requests == []
    assert '<div class="finder" id="finder" role="search">' in document


def test_a_hostile_page_runs_nothing_and_asks_for_nothing(browser: Browser) -> None:
    path = browser.write(reports.hostile())
    document, console, requests = browser.open(path)
    title = re.search(r"<title>(.*?)</title>", path.read_text(encoding="utf-8"))
    assert title
    assert f"<title>{title[1]}</title>" in document
    assert console == []
    assert requests == []
    tags = [tag for tag, _ in Page(document).tags]
    assert (tags.count("script"), tags.count("style"), tags.count("h1"), tags.count("img")) == (1, 1, 1, 0)


def test_a_hostile_log_is_read_analysed_and_shown_and_runs_nothing(browser: Browser) -> None:
    log = browser.folder / "run" / "stdout.log"
    log.parent.mkdir()
    lines = ["Traceback (most recent call last):", '  File "/job/a.py", line 3, in <module>', "    main()"]
    attack = '"><img src=http://127.0.0.1:9/y.png onerror="document.title=\'PWNED\'"></script><script>'
    lines += ["ValueError: " + attack + "document.title='PWNED'</script> ]]> \u202eevil \x1b[31m end"]
    around = [f"line {attack} \x00 {'x' * 1_000_000}", *lines, "</textarea></details></main><iframe src=javascript:0>"]
    log.write_text("\n".join(around) + "\n", encoding="utf-8")
    path = browser.write(plogscope.analyze(log.parent))
    document, console, requests = browser.open(path)
    texts = (document, path.read_text(encoding="utf-8"))
    titles = [re.findall("<title>.*?</title>", html.unescape(text)) for text in texts]
    assert titles[0] == titles[1] != []
    assert console == []
    assert requests == []
    page = Page(document)
    assert not {"img", "iframe"} & {tag for tag, _ in page.tags}
    assert [len(page.blocks[name]) for name in ("script", "style")] == [1, 1]
    assert "ValueError: " + attack in page.text
    assert "⟪U+202E⟫" in page.text


def test_the_two_checks_above_notice_a_script_and_a_request(browser: Browser) -> None:
    path = browser.folder / "bad.html"
    path.write_text(
        "<title>x</title><img src=http://127.0.0.1:9/y.png onerror=\"document.title='PWNED'\">", encoding="utf-8"
    )
    document, _, requests = browser.open(path)
    assert "<title>PWNED</title>" in document
    assert set(requests) == {"http://127.0.0.1:9/y.png"}


def test_the_policy_stops_what_the_escaping_would_let_through(browser: Browser) -> None:
    path = browser.write(reports.explained())
    attack = "<img src=http://127.0.0.1:9/y.png onerror=\"document.title='PWNED'\">"
    attack += "<script>document.title='PWNED'</script></main>"
    path.write_text(path.read_text(encoding="utf-8").replace("</main>", attack), encoding="utf-8")
    document, console, requests = browser.open(path)
    assert "<title>PWNED</title>" not in document
    assert any("Content Security Policy" in line for line in console)
    assert requests == []


def test_without_scripts_every_fact_can_be_read_and_the_language_still_changes(browser: Browser) -> None:
    seen = browser.ask(
        browser.write(reports.explained()),
        """
        var shown = function (s) { return w.getComputedStyle(d.querySelector(s)).display !== 'none'; };
        var state = function () { return [shown('h1 .x[lang=en]'), shown('h1 .x[lang|=zh]')]; };
        var before = state();
        d.getElementById('lang-zh').checked = true;
        var after = state();
        d.querySelectorAll('details').forEach(function (x) { x.open = true; });
        d.getElementById('theme-dark').checked = true;
        return {before: before, after: after, finder: shown('#finder'), text: d.body.innerText,
                dark: w.getComputedStyle(d.body).backgroundColor, wide: d.documentElement.scrollWidth};
        """,
        scripts_run=False,
    )
    assert seen["before"] == [True, False]
    assert seen["after"] == [False, True]
    assert seen["finder"] is False
    assert seen["dark"] == "rgb(15, 20, 25)"
    report = reports.explained()
    for words in (reports.ROOT_QUOTE, reports.PEER_QUOTE, "最可能的根因", *report.evidence[0].context_after):
        assert words in seen["text"]


def test_filter_and_keys_work_under_the_policy(browser: Browser) -> None:
    seen = browser.ask(
        browser.write(reports.explained()),
        """
        var box = d.getElementById('filter');
        var find = function (q) { box.value = q; box.dispatchEvent(new w.Event('input'));
          return Array.prototype.filter.call(d.querySelectorAll('.finding'), function (x) { return x.offsetParent; })
            .map(function (x) { return x.id; }); };
        var press = function (key, target) {
          var event = new w.KeyboardEvent('keydown', {key: key, bubbles: true, cancelable: true});
          (target || d.body).dispatchEvent(event); };
        var found = {rank: find('rank:13'), not: find('!sigterm !retried rank:2'),
                     role: find('role:teardown'), code: find('code:EZ9999'),
                     text: find('ERR00100'), none: find('rank:1'), said: d.getElementById('filter-count').textContent};
        press('Escape', box);
        found.cleared = find(box.value).length;
        press('/'); found.slash = d.activeElement.id;
        press('j', box); found.typing = d.activeElement.id;
        box.blur(); press('j'); found.j = d.activeElement.closest('details').id;
        press('j', d.activeElement); found.jj = d.activeElement.closest('details').id;
        press('k', d.activeElement); found.k = d.activeElement.closest('details').id;
        press('?'); found.help = d.getElementById('help').open;
        d.getElementById('keys').checked = false;
        press('?'); found.off = d.getElementById('help').open;
        d.getElementById('lang-zh').click(); found.lang = d.documentElement.lang;
        return found;
        """,
        scripts_run=True,
    )
    assert seen == {
        "rank": ["c-1", "c-2"], "not": ["c-3"], "role": ["c-4"], "code": ["c-1", "c-5"], "text": ["c-2"], "none": [],
        "said": seen["said"], "cleared": 5, "slash": "filter", "typing": "filter",
        "j": "e-5fc01a77", "jj": "e-90b2d314", "k": "e-5fc01a77", "help": True, "off": True, "lang": "zh-CN",
    }  # fmt: skip
    assert re.fullmatch(r"\d+ of \d+ shown", seen["said"])


def test_a_deep_link_opens_the_evidence_it_names(browser: Browser) -> None:
    seen = browser.ask(
        browser.write(reports.explained()),
        """
        var item = d.getElementById('e-90b2d314');
        var before = item.open;
        w.location.hash = '#e-90b2d314';
        w.dispatchEvent(new w.HashChangeEvent('hashchange'));
        return [before, item.open];
        """,
        scripts_run=True,
    )
    assert seen == [False, True]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_narrow_window_needs_no_sideways_scrolling(browser: Browser, lang: str) -> None:
    seen = browser.ask(
        browser.write(reports.hostile(), lang=lang),
        """
        var frame = document.getElementById('f');
        frame.width = 320;
        return [d.documentElement.scrollWidth, d.documentElement.clientWidth];
        """,
        scripts_run=False,
    )
    assert seen[0] <= seen[1] <= 320


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_on_a_phone_the_bar_is_one_line_and_opens_without_a_script(browser: Browser, lang: str) -> None:
    seen = browser.ask(
        browser.write(reports.explained(), lang=lang),
        """
        document.getElementById('f').width = 360;
        var shown = function (s) { return d.querySelector(s).offsetParent !== null; };
        var bar = d.querySelector('.bar').getBoundingClientRect();
        var out = {height: bar.height, top: d.getElementById('head').getBoundingClientRect().top,
                   before: [shown('.controls'), shown('.toc'), shown('label[for=lang-zh]')]};
        d.getElementById('tools').checked = true;
        out.after = [shown('.controls'), shown('.toc')];
        out.wide = d.documentElement.scrollWidth;
        return out;
        """,
        scripts_run=False,
    )
    assert seen["height"] < 56
    assert seen["top"] < 80
    assert seen["before"] == [False, False, True]
    assert seen["after"] == [True, True]
    assert seen["wide"] <= 360


def test_a_wide_window_has_no_switch_for_the_tools(browser: Browser) -> None:
    seen = browser.ask(
        browser.write(reports.explained()),
        """
        return ['.narrow', '.controls', '.toc'].map(function (s) { return d.querySelector(s).offsetParent !== null; });
        """,
        scripts_run=False,
    )
    assert seen == [False, True, True]


def test_every_target_is_large_enough(browser: Browser) -> None:
    seen = browser.ask(
        browser.write(reports.explained()),
        """
        var targets = d.querySelectorAll('summary, button, input, .toc a, .self, a.place');
        return Array.prototype.filter.call(targets, function (x) {
          var box = x.getBoundingClientRect();
          return x.offsetParent && (box.height < 24 || box.width < 24);
        }).map(function (x) { return x.outerHTML.slice(0, 80); });
        """,
        scripts_run=True,
    )
    assert seen == []


def test_the_picture_is_drawn(browser: Browser) -> None:
    shot = browser.folder / "shot.png"
    path = browser.write(reports.explained())
    browser.open(path, f"--screenshot={shot}")
    assert shot.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    size = browser.ask(
        path,
        "var b = d.querySelector('.matrix image').getBoundingClientRect(); return [b.width > 300, b.height > 100];",
        scripts_run=False,
    )
    assert size == [True, True]


def test_every_copy_button_copies_what_its_text_area_shows(browser: Browser) -> None:
    seen = browser.ask(
        browser.write(reports.explained()),
        """
        var copied = [];
        Object.defineProperty(w.navigator, 'clipboard', {value: {writeText: function (text) {
          copied.push(text); return {then: function (done) { done(); }}; }}});
        var buttons = Array.prototype.slice.call(d.querySelectorAll('button.copy'));
        buttons.forEach(function (button) { d.getElementById('menu').open = true; button.click(); });
        var least = Math.min.apply(null, copied.map(function (text) { return text.length; }));
        var shown = function (name) {
          var area = d.getElementById(name + '-en') || d.getElementById(name + '-zh'); return area.value; };
        return {hidden: buttons.filter(function (button) { return button.hidden; }).length,
          equal: buttons.map(function (button, at) { return copied[at] === shown(button.dataset.copy); }),
          said: d.getElementById('status').textContent, short: least};
        """,
        scripts_run=True,
    )
    assert seen["hidden"] == 0
    assert seen["equal"] == [True] * 6
    assert "Copy prompt for an agent" in seen["said"]
    assert seen["short"] > 500


def test_without_a_clipboard_the_text_is_opened_and_selected(browser: Browser) -> None:
    seen = browser.ask(
        browser.write(reports.explained()),
        """
        Object.defineProperty(w.navigator, 'clipboard', {value: undefined});
        d.querySelector('button[data-copy=cann]').click();
        var area = d.getElementById('cann-zh');
        return [d.activeElement.id, area.selectionEnd - area.selectionStart === area.value.length,
                area.closest('details').open];
        """,
        scripts_run=True,
    )
    assert seen == ["cann-zh", True, True]


@pytest.mark.parametrize("summary", [False, True])
def test_print_shows_all_evidence_or_only_the_summary(browser: Browser, *, summary: bool) -> None:
    seen = browser.ask(
        browser.write(reports.explained()),
        f"""
        var calls = [];
        w.print = function () {{
          calls.push(d.documentElement.className); w.dispatchEvent(new w.Event('beforeprint')); }};
        d.querySelector('button[data-print={"summary" if summary else "all"}]').click();
        var open = Array.prototype.map.call(d.querySelectorAll('details.evidence'), function (x) {{ return x.open; }});
        w.dispatchEvent(new w.Event('afterprint'));
        return [calls, open, d.documentElement.className,
                Array.prototype.map.call(d.querySelectorAll('details.evidence'), function (x) {{ return x.open; }})];
        """,
        scripts_run=True,
    )
    assert seen == [["summary" if summary else ""], [True, not summary], "", [True, False]]


def _pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf))


def test_a_printed_page_holds_the_closed_evidence_without_any_script(browser: Browser) -> None:
    report = reports.explained()
    long = [f"[INFO] line {number} of many" for number in range(150)]
    evidence = [msgspec.structs.replace(report.evidence[1], context_after=long), report.evidence[0]]
    few, many = browser.folder / "few.pdf", browser.folder / "many.pdf"
    for target, chosen in ((few, report.evidence), (many, [*report.evidence[:1], *evidence[:1]])):
        path = browser.write(msgspec.structs.replace(report, evidence=chosen), target.stem + ".html")
        html_text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(r"<script>.*?</script>", "", html_text, flags=re.DOTALL), encoding="utf-8")
        browser.open(path, f"--print-to-pdf={target}", "--no-pdf-header-footer")
    assert _pages(many.read_bytes()) > _pages(few.read_bytes()) > 1


def _axe(folder: Path) -> str:
    """The source of axe-core, a tool for this test only: from PLOGSCOPE_AXE, else fetched by npm."""
    given = os.environ.get("PLOGSCOPE_AXE")
    if given:
        return Path(given).read_text(encoding="utf-8")
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed, and PLOGSCOPE_AXE names no axe.min.js")
    command = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(folder), "axe-core@4"]
    try:
        subprocess.run(command, capture_output=True, timeout=120, check=True)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        pytest.skip("npm could not fetch axe-core; PLOGSCOPE_AXE can name an axe.min.js")
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    return _axe(tmp_path_factory.mktemp("axe"))


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("name", "window"),
    [("explained", "1280,1000"), ("insufficient", "1280,1000"), ("no-failure", "1280,1000"), ("explained", "500,900")],
)
def test_axe_finds_nothing_in_either_theme(browser: Browser, axe: str, name: str, window: str, theme: str) -> None:
    path = browser.write(reports.ALL[name]())
    run = f"""
    document.getElementById('theme-{theme}').checked = true;
    document.querySelectorAll('details').forEach(function (x) {{ x.open = true; }});
    axe.run(document, {{runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}}).then(
      function (found) {{
        var out = found.violations.map(function (one) {{
          var where = one.nodes.slice(0, 3).map(function (x) {{ return x.html.slice(0, 160); }});
          return one.id + ' ' + where.join(' / '); }});
        var pre = document.createElement('pre'); pre.id = 'axe-out';
        pre.textContent = JSON.stringify({{found: out, passed: found.passes.length}});
        document.body.appendChild(pre); }});
    """
    text = path.read_text(encoding="utf-8")
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)  # only for the tool of this test
    path.write_text(text.replace("</body>", f"<script>{axe}</script><script>{run}</script></body>"), encoding="utf-8")
    document, _, _ = browser.open(path, "--virtual-time-budget=20000", f"--window-size={window}")
    answer = re.search(r'<pre id="axe-out">(.*?)</pre>', document, re.DOTALL)
    assert answer
    seen = json.loads(html.unescape(answer[1]))
    assert seen["found"] == []
    assert seen["passed"] > 20
