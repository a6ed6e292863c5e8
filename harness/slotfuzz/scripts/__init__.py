"""One file for each script in ci/ that is a Python program, with the functions of a command."""
