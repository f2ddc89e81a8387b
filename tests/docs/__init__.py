"""The documentation: pages made from the program, the site, and the tests of both."""
