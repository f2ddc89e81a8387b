"""Reading a wiki: which good articles are new, what they say, what they rest on."""
