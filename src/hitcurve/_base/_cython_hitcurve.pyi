# Functions of Cython that the compiled modules share; nothing here is for Python.
