"""Questions out of articles (LiveDRBench's problem inversion): steps, checks, probes."""
