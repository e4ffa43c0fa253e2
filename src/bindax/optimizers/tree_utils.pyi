from bindax_optimizers.tree_utils import *
