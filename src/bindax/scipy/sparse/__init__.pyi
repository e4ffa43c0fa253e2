from bindax_scipy.sparse import *
