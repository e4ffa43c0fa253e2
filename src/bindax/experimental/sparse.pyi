from bindax_experimental.sparse import *
