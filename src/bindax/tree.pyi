from bindax_core.tree import *
