"""Formulas as MathML, which browsers draw themselves: no script, no network, no LaTeX."""

from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml


def _mathml(self: Any, node: nodes.Element, as_block: bool) -> None:
    self.body.append(latex2mathml.tex2mathml(node.astext(), as_block=as_block))
    raise nodes.SkipNode


def inline(self: Any, node: nodes.Element) -> None:
    _mathml(self, node, False)


def block(self: Any, node: nodes.Element) -> None:
    self.body.append('<div class="math">')
    self.body.append(latex2mathml.tex2mathml(node.astext(), as_block=True))
    self.body.append("</div>")
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
