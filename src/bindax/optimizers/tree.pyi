from bindax_optimizers.tree import *
