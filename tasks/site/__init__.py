"""The pages people look at: numbers in, static files out. Nothing here reads the store."""
