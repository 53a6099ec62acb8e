# SPDX-License-Identifier: MIT
# conf.py - how Sphinx makes the man pages, and the HTML manual: offline, light and dark, with a search. manual.py calls it.
import email.utils
import json
import os
import pathlib
import re
import sys

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
import headers  # noqa: E402

root = pathlib.Path(os.environ["HTW_ROOT"])
project = "htw"
version = release = re.search(r"version: '([^']+)'", (root / "meson.build").read_text()).group(1)
copyright = "the htw authors"  # no year: the pages of two builds are the same

extensions = ["myst_parser"]
myst_enable_extensions = ["deflist", "fieldlist"]
myst_heading_anchors = 4
# Levels of headings may be skipped, as elsewhere.
suppress_warnings = ["myst.header"]
smartquotes = False
highlight_language = "none"
primary_domain = None

# The man pages. Their date is that of the package, not today: two builds make the same.
pages = pathlib.Path(os.environ["HTW_PAGES"])
is_man = (pages / "man_pages.json").is_file()
man_pages = json.loads((pages / "man_pages.json").read_text()) if is_man else []
packaged = re.search(r"^ -- .*>  (.*)", (root / "debian/changelog").read_text(), re.MULTILINE).group(1)
today = str(email.utils.parsedate_to_datetime(packaged).date())

# Each name of htw that a page refers to exists; those of the C library are not described here. A man page may refer to a
# part that is not built.
nitpicky = not is_man
nitpick_ignore_regex = [("c:identifier", r"(?!htw_|HTW_).*")]

html_theme = "furo"
html_title = f"htw {version}"
html_static_path = ["manual.css"]
html_css_files = ["manual.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_use_index = True
# The Furo of Debian 12 lost its dark colours when its style sheet was compiled.
html_theme_options = {"dark_css_variables": {
    "color-problematic": "#f26d6d",
    "color-foreground-primary": "#d7dadd",
    "color-foreground-secondary": "#a3a8ae",
    "color-foreground-muted": "#8b9097",
    "color-foreground-border": "#62666b",
    "color-background-primary": "#15171a",
    "color-background-secondary": "#1b1e22",
    "color-background-hover": "#23272c",
    "color-background-hover--transparent": "#23272c00",
    "color-background-border": "#33383e",
    "color-background-item": "#454b52",
    "color-brand-primary": "#6db1f5",
    "color-brand-content": "#6db1f5",
    "color-highlighted-background": "#0d3b66",
    "color-highlight-on-target": "#33330d",
    "color-admonition-background": "#1b1e22",
    "color-card-background": "#1b1e22",
    "color-card-marginals-background": "#23272c",
    "color-api-name": "#f29b8e",
    "color-api-pre-name": "#f29b8e",
}}
pygments_style = "tango"
pygments_dark_style = "native"

# What has a place in the reference, and by which kind of name.
KINDS = {"function": "func", "struct": "struct", "union": "union", "enum": "enum", "typedef": "type", "macro": "macro"}
symbols = {}
for header in headers.read_all(root):
    for item in header.items():
        symbols[item.name] = KINDS[item.kind]
        symbols.update((name.split("(")[0], "macro") for name, _ in item.macros)
        if item.kind == "enum":
            symbols.update((member.name, "enumerator") for member in item.members)


class SymbolLinks(SphinxTransform):
    """Makes links of the names of htw that stand as code in a text."""

    default_priority = 400

    def apply(self, **kwargs):
        for literal in list(self.document.findall(nodes.literal)):
            found = re.fullmatch(r"(?:struct |union |enum )?(\w+)(?:\(\))?", literal.astext())
            if not found or found.group(1) not in symbols or isinstance(literal.parent, (nodes.reference, nodes.title)):
                continue
            name = found.group(1)
            link = addnodes.pending_xref("", refdomain="c", reftype=symbols[name], reftarget=name, refexplicit=True,
                                         refwarn=True, refdoc=self.env.docname)
            literal.replace_self(link)
            link += literal


def setup(app):
    app.add_transform(SymbolLinks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
