"""`python -m tasks.agents.baseline`."""

import os
import sys

from tasks.agents.baseline.program import main

sys.exit(main(os.environ))
