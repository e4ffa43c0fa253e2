from bindax_experimental.jet import *
