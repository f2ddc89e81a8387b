"""Whether two names are those of the same model."""


def normalize_model(name: str) -> str:
    """Return a model's name without a gateway's prefix (all before the last `/`) and case."""
    whole = name.strip().rstrip("/")
    return whole.rpartition("/")[2].lower() or name


def same_model(first: str | None, second: str | None) -> bool:
    """Whether two names are of one model; a missing name is the same as no name only."""
    if first is None or second is None:
        return first is second
    return normalize_model(first) == normalize_model(second)
