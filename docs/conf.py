"""The documentation: pages in Markdown, the reference from docstrings, the rest generated here from what is run.

Every example is run while the pages are read; one that fails is a warning, and ci/docs makes warnings errors.
"""

import sys
from pathlib import Path

here = Path(__file__).resolve().parent
sys.path[:0] = [str(here), str(here.parent / "tests")]

import hitcurve  # noqa: E402

project = "hitcurve"
author = "The hitcurve developers"
copyright = f"{author}. BSD 3-Clause licence"
version = release = hitcurve.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "numpydoc", "generate", "mathml"]
include_patterns = ["*.md", "_made/reference/*.rst"]

myst_enable_extensions = ["attrs_block", "dollarmath", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "force"  # whatever is in a cache
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_execution_in_temp = True
nitpicky = True
toc_object_entries_show_parents = "hide"

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the text of the docstring says more
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "furo"
html_title = f"hitcurve {release}"
html_static_path = ["static"]
html_css_files = ["hitcurve.css"]
html_copy_source = False
html_show_sphinx = False
html_math_renderer = "mathml"
pygments_style = "friendly"
pygments_dark_style = "monokai"
