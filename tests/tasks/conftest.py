"""What an example of Hypothesis would otherwise load, which times it."""

import bm25s.stopwords  # noqa: F401
import markdown_it  # noqa: F401
import nupunkt  # noqa: F401
