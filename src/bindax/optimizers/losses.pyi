from bindax_optimizers.losses import *
