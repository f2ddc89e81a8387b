"""When things happen: a module for each Prefect flow, and what serves and runs them.

May import everything but the command line. Writes nothing itself: its stages do.
"""
