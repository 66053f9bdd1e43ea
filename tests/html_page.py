"""HTML as the tests of pages look at it."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """Tables as rows of cells, text, ids and what would be fetched; an error where a tag is not closed in its place."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.tables, self.lines, self.words = [], [], [], [], []
        self.hidden = False
        self.elsewhere, self.fetched, self.ids = [], [], []  # text neither in cells nor in paragraphs
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.hidden = ("style", "visibility:hidden") in attributes
        for name, value in attributes:
            if name in ("src", "href", "xlink:href", "data") and not value.startswith("#"):
                self.fetched.append(value)
            if name == "id":
                self.ids.append(value)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        elif tag == "p":
            self.lines.append("")
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_endtag(self, tag):
        self.hidden = False
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.hidden:
            return
        inside = next((tag for tag in reversed(self.open) if tag not in ("b", "u", "sup", "small")), "")
        if inside in ("td", "th"):
            self.tables[-1][-1][-1] += data
        elif inside == "p":
            self.lines[-1] += data
        elif inside != "style" and data.strip():
            self.elsewhere.append(data)
        if inside != "style":
            self.words.append(data)
