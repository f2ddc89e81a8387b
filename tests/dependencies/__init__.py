"""What we depend on, by the locks: known vulnerabilities (`make audit`), and the list of all that
the image carries (`make sbom`)."""
