"""Views of one report: HTML, Markdown, JSON, terminal."""
