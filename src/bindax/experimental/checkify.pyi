from bindax_experimental.checkify import *
