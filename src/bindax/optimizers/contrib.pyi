from bindax_optimizers.contrib import *
