from bindax_core.tree_util import *
