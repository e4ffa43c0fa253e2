"""Reports on installed plugins, their rules and containers, and what is wrong with them.

>>> from bindax_core import installed_plugins
>>> "transforms" in [record["plugin"] for record in installed_plugins()]
True
"""

from bindax_core.extend import public_names as _public_names
from bindax_core.extend import register_internal as _register_internal
from bindax_diagnosis._contents import PluginContents as PluginContents
from bindax_diagnosis._contents import plugin_contents as plugin_contents
from bindax_diagnosis._doctor import unresolved_conflicts as unresolved_conflicts
from bindax_diagnosis._reports import container_types as container_types
from bindax_diagnosis._reports import diagnose_plugins as diagnose_plugins
from bindax_diagnosis._reports import installed_plugins as installed_plugins
from bindax_diagnosis._reports import rule_coverage as rule_coverage

vars()["__all__"] = _public_names(vars())
_register_internal(__file__)
