"""Model servers that behave as the real ones do on the wire, over real sockets on 127.0.0.1.

The real SDK and our own HTTP client talk to them: a test shows what happens on the wire, not
what a patched method would have said.
"""
