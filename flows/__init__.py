"""The Prefect flows, a module each, and the modules that serve and run them.

May import everything but the command line. Writes nothing itself: its stages do.
"""
