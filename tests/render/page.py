"""Reads an HTML page the way a browser's parser does, as far as the tests need it."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_VOID = frozenset({"meta", "link", "input", "img", "br", "rect", "path", "image", "hr"})


class Page(HTMLParser):
    """Elements, attributes, ids and text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.blocks: dict[str, list[str]] = {"script": [], "style": []}
        self.texts: list[str] = []
        self.by_language: dict[str, list[str]] = {"en": [], "zh-CN": []}
        self.problems: list[str] = []
        self._open: list[tuple[str, str]] = []
        self.feed(html)
        self.close()
        self.problems += [f"never closed: {tag}" for tag, _ in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        if re.search(r"\"[a-z]", re.sub(r"=\"[^\"]*\"", '=""', self.get_starttag_text() or "")):
            self.problems.append(f"no space between attributes: {self.get_starttag_text()}")
        if len(names) != len(set(names)):
            self.problems.append(f"attribute twice in {tag}: {names}")
        values = {name: value or "" for name, value in attrs}
        self.tags.append((tag, values))
        if tag in self.blocks:
            self.blocks[tag].append("")
        if tag not in _VOID:
            inherited = self._open[-1][1] if self._open else ""
            lang = values["lang"] if "x" in values.get("class", "").split() else inherited
            self._open.append((tag, lang))

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID:
            return
        if not self._open or self._open[-1][0] != tag:
            self.problems.append(f"</{tag}> closes {self._open[-1:]}")
            return
        self._open.pop()

    def handle_data(self, data: str) -> None:
        tag, lang = self._open[-1] if self._open else ("", "")
        if tag in self.blocks:
            self.blocks[tag][-1] += data
            return
        self.texts.append(data)
        if lang in self.by_language:
            self.by_language[lang].append(data)

    @property
    def text(self) -> str:
        """All text outside the script and the style."""
        return "".join(self.texts)

    @property
    def ids(self) -> list[str]:
        """Ids in document order."""
        return [values["id"] for _, values in self.tags if "id" in values]

    def all(self, tag: str) -> list[dict[str, str]]:
        """Attributes of every `tag`."""
        return [values for name, values in self.tags if name == tag]
