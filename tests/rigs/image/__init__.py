"""Build the image without a registry and without an engine, and run what docker-compose.yml starts.

`settings` reads how this machine reaches its registries, `bases` makes stand-ins for the images
that we do not build, `buildah` builds and runs, `leaks` looks for what must not be in a layer,
`services` and `composed` start the services, `uses` does with them what people do.
"""
