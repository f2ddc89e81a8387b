"""The pipeline's stages, one module for each table they fill, and the packages they use.

A stage may import every package; only flows import a stage. Application packages read and write
the warehouse; pure packages never open it.
"""
