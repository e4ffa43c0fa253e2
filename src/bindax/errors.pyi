from bindax_core.errors import *
