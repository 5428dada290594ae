"""Sphinx's configuration of the documentation that a server shows at /docs; `./dev docs` builds it."""

from importlib.metadata import version as version_of

project = "iotide"
version = release = version_of("iotide-server")
extensions = ["myst_parser", "site_pages"]

# The source directory is the repository, so that links between documents work here and on a code host.
root_doc = "docs/README"
include_patterns = [
    *("README.md", "GLOSSARY.md", "CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"),
    *("docs/*.md", "docs/**/*.md", "deploy/README.md", "examples/README.md"),
]
exclude_patterns = [".*", "agent", "backend", "frontend", "migrations", "tests", "docs/site", "docs/plug-ins/template"]

myst_heading_anchors = 4  # with the anchors of code hosts
highlight_language = "text"

templates_path = ["templates"]
html_theme = "furo"
html_title = f"iotide {release}"
html_favicon = "../../frontend/public/icon.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_extra_path = ["extra"]
html_copy_source = False
html_show_copyright = False
html_use_index = False
html_domain_indices = False
html_permalinks_icon = "#"

today = f"iotide {release}"  # of man pages; a date would make each build differ
man_pages = [
    ("docs/reference/iotide", "iotide", "plan storage benchmarks and get their results", "", 1),
    ("docs/reference/iotide-agent", "iotide-agent", "run storage benchmarks on a node", "", 1),
    ("docs/reference/iotide-server", "iotide-server", "run the server of iotide", "", 1),
]
