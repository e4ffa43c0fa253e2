from bindax_optimizers.transforms import *
