"""How things are done. The modules here are the pipeline: one Prefect stage for each table.

A stage may import every package below; only flows import a stage. The packages hold the work:
those of the application read and write the warehouse, the pure ones never open it.
"""
