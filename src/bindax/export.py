"""Programs as files: exported with symbolic sizes, read back, called in any program."""

from bindax_export import *
from bindax_export import __all__ as __all__
