"""The pipeline's stages, one module for each table they fill, and the packages they use.

A stage may import every package; flows and `planning`, which has their table, import stages.
Application packages read and write the warehouse; pure packages never open it.
"""
