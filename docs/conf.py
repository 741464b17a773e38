"""Configuration of Sphinx: ``make docs`` builds these pages into ``build/docs``."""

import hmxgraph

project = "hmxgraph"
author = "hmxgraph maintainers"
release = hmxgraph.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
html_theme = "furo"
html_title = "hmxgraph"
copybutton_prompt_text = "$ "

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_inherit_docstrings = False
autodoc_preserve_defaults = True
autodoc_class_signature = "separated"
python_use_unqualified_type_names = True
