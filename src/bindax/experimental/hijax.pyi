from bindax_experimental.hijax import *
