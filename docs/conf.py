"""How the site is built: ``make docs`` puts it into ``docs/_build/html``."""

import sys
from pathlib import Path

import dbpcfg

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "dbpcfg"
author = "The dbpcfg developers"
copyright = "The dbpcfg developers, MIT licence"
version = release = dbpcfg.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",  # sections such as Parameters
    "sphinx.ext.viewcode",
    "myst_nb",
    "commandline",  # the command line reference, read from the program itself
    "mathml",  # equations that need no network
    "docstrings",  # what autodoc should know of ours
]
exclude_patterns = ["_build"]
templates_path: list[str] = []

html_theme = "furo"
highlight_language = "text"
smartquotes = False  # options such as --beta stay as they are
html_title = "dbpcfg"
html_static_path = ["static"]
html_css_files = ["dbpcfg.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sphinx = False

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3

nb_execution_mode = "force"  # a cache would not notice that the package has changed
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True

default_role = "code"
napoleon_google_docstring = False
napoleon_use_rtype = False
add_module_names = False
toc_object_entries = False
autodoc_mock_imports = ["sklearn"]  # an extra that the pages do without
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_type_aliases = {
    name: name for name in ("Floats", "Ints", "Longs", "Words", "Method", "Statistics", "Precision")
}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
python_display_short_literal_types = True
