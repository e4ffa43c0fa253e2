from bindax_optimizers import *
