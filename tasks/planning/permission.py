"""Check that a model may be paid for extracting facts and claims.

A judge that is a model extracts by default, so its user may not expect the cost: without a budget,
somebody has to name the extractor.
"""

from collections.abc import Sequence

from tasks.base import format_count
from tasks.claims import find_pending_extractions, select_bought_extractions
from tasks.jobs.pending import find_pending_reports
from tasks.judges.registry import OFFLINE, load_judge, load_model_entry, resolve_extractor
from tasks.judging.session import find_current_price
from tasks.models.errors import Misconfigured
from tasks.run import Plan
from tasks.warehouse.store import Readable

HOW_TO_PERMIT = (
    "Nothing was bought. Set a budget (--budget, which `fetch` does not have), name the extractor "
    "(--extractor JUDGE), or extract without a model (--extractor offline)."
)


def describe_extraction(plan: Plan, budget_usd: float | None) -> str | None:
    """Describe the extraction that the run would buy if somebody has to permit it; None if it costs
    nothing, a budget limits it, or its extractor was named."""
    name = plan.selection.extracting_judge
    if name is None or _is_permitted(name, plan.selection.extractor, budget_usd):
        return None
    if not (texts := select_bought_extractions(plan)):
        return None
    from tasks.planning.estimate import estimate_extraction  # slow: loads the model clients

    frame = estimate_extraction(plan.store, name, load_model_entry(name, "extract")[1], texts)
    if not frame["calls"].sum():
        return None
    if frame["usd_at_most"].null_count():
        cost = "at an unknown price"
    else:
        usd, most = float(frame["usd"].sum()), float(frame["usd_at_most"].sum())
        cost = f"for about ${usd:,.2f} (at most ${most:,.2f})"
    return f"{name} would extract the facts or claims of {format_count(len(texts), 'text')} {cost}"


def describe_future_extraction(
    source: Readable,
    edition: str,
    agents: Sequence[str],
    judge: str,
    extractor: str | None,
    budget_usd: float | None,
) -> str | None:
    """Describe the extraction of what these agents have written and are going to write, as
    `describe_extraction` does."""
    name = resolve_extractor(judge, extractor)
    if name == OFFLINE or _is_permitted(name, extractor, budget_usd):
        return None
    assigned = "SELECT count(*) FROM assignments WHERE edition = $1"
    if (
        source.frame(assigned, [edition]).item()
        and not any(find_pending_reports(source, edition, agent) for agent in agents)
        and all(
            item.stays_offline
            for item in find_pending_extractions(source, edition, agents, load_judge(name))
        )
    ):
        return None
    return f"{name} would extract the facts and claims of {edition}"


def check_permitted(said: str | None) -> None:
    """Check that no extraction has to be permitted.

    said: its description; None if it is permitted.

    Raises:
        Misconfigured: it has to be.
    """
    if said:
        raise Misconfigured(f"{said}, and there is no budget. {HOW_TO_PERMIT}")


def _is_permitted(name: str, named: str | None, budget_usd: float | None) -> bool:
    """Whether a model may extract. named: the extractor that somebody has named."""
    if named or budget_usd is not None:
        return True
    price = find_current_price(load_model_entry(name, "extract")[1])
    may_apply = price.list_applying() if price else []
    return bool(may_apply) and not any(p.live.dearest_input + p.live.output for p in may_apply)
