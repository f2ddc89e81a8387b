"""Evergreen as a library, and the home of the files that come with it: `evergreen.configs` is the
project's `configs` folder, `evergreen.sample` its `data/sample`."""
