from bindax_nn.initializers import *
