"""Jaxprs and structures of pytrees as text, read with nothing in it trusted; values for the eye.

>>> from bindax_core.tree_util import tree_structure
>>> treedef_from_text(treedef_to_text(tree_structure([1, (2,)])))
PyTreeDef([*, (*,)])
"""

from bindax_core.extend import public_names as _public_names
from bindax_core.extend import register_internal as _register_internal
from bindax_text._api import jaxpr_from_text as jaxpr_from_text
from bindax_text._api import jaxpr_to_text as jaxpr_to_text
from bindax_text._api import treedef_from_text as treedef_from_text
from bindax_text._api import treedef_to_text as treedef_to_text
from bindax_text._forms import register_text_form as register_text_form
from bindax_text.display.parts import Parts as Parts
from bindax_text.display.plain import describe as describe
from bindax_text.display.shown import Displayed as Displayed
from bindax_text.display.shown import View as View
from bindax_text.display.shown import display as display

vars()["__all__"] = _public_names(vars())
_register_internal(__file__)
