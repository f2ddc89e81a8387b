"""Nothing is bought twice, nothing that was answered is lost, and why there is no value is said."""

import asyncio
from collections.abc import Sequence

import pytest

from tasks.models.errors import (
    BudgetExhausted,
    Misconfigured,
    ModelDrift,
    RequestRejected,
    TransientError,
    UnknownPrice,
)
from tasks.models.exchange import ModelRequest, Reply, TokenUsage, call_id
from tasks.models.gateway import Gateway, RequestOutcome
from tasks.warehouse.calls import Call
from tasks.warehouse.rows import Status
from tests.tasks.models.scripted import (
    MemoryLedger,
    ScriptedSender,
    gateway,
    question,
    read_word,
    said,
)
from tests.tasks.models.test_prices import CHEAPER, DEARER, at, now_listed, price
from tests.tasks.models.virtual_time import run, settled

ASKED = question()
LATER = TransientError("HTTP 503", "server", code=503)


def asked_once(
    sender: ScriptedSender, ledger: MemoryLedger | None = None, **options: str | None
) -> tuple[RequestOutcome[str], Gateway]:
    """One question, in a run of its own."""
    model = gateway(sender, MemoryLedger() if ledger is None else ledger, **options)  # type: ignore[arg-type]

    async def work() -> RequestOutcome[str]:
        found = await model.ask(ASKED, read_word)
        await model.close()
        return found

    return run(work()), model


def test_a_call_in_the_ledger_is_never_bought_again() -> None:
    ledger, sender = MemoryLedger(), ScriptedSender(said("yes"))
    first, bought = asked_once(sender, ledger)
    again, found = asked_once(sender, ledger)
    assert first.value == again.value == "yes"
    assert first.call == again.call
    assert (len(sender.sent), bought.n_bought, found.n_bought, found.n_from_ledger) == (1, 1, 0, 1)
    assert sender.closed


def test_two_askers_of_the_same_share_one_call() -> None:
    sender, ledger = ScriptedSender(said("no")), MemoryLedger()

    async def both() -> list[RequestOutcome[str]]:
        model = gateway(sender, ledger)
        same = question()
        assert same is not ASKED
        asked = [model.ask(ASKED, read_word), model.ask(same, read_word)]
        return await asyncio.gather(*asked)

    assert [outcome.value for outcome in run(both())] == ["no", "no"]
    assert len(sender.sent) == 1


def test_a_repair_names_the_problem_and_shows_the_answer() -> None:
    sender, ledger = ScriptedSender(said("perhaps"), said("yes")), MemoryLedger()
    outcome, model = asked_once(sender, ledger)
    assert (outcome.status, outcome.value) == (Status.OK, "yes")
    assert [turn.role for turn in sender.sent[1].messages] == ["user", "model", "user"]
    assert sender.sent[1].messages[1].text == "perhaps"
    assert "'perhaps' is neither yes nor no" in sender.sent[1].messages[2].text
    calls = list(ledger.calls.values())
    assert [call.attempt for call in calls] == [1, 2]
    assert {call.request_id for call in calls} == {ASKED.request_id}
    assert outcome.call == calls[1]
    assert model.n_bought == 2


def test_a_second_unusable_answer_stays_unparsable_and_both_are_kept() -> None:
    sender, ledger = ScriptedSender(said("perhaps"), said("maybe")), MemoryLedger()
    outcome, _ = asked_once(sender, ledger)
    assert (outcome.status, outcome.value) == (Status.UNPARSABLE, None)
    assert outcome.reason
    assert "'maybe' is neither" in outcome.reason
    assert [call.answer for call in ledger.calls.values()] == ["perhaps", "maybe"]
    assert len(sender.sent) == 2


def test_what_was_unparsable_is_asked_again_in_a_later_run_as_a_repair() -> None:
    ledger = MemoryLedger()
    asked_once(ScriptedSender(said("perhaps"), said("maybe")), ledger)
    sender = ScriptedSender(said("yes"))
    outcome, _ = asked_once(sender, ledger)
    assert outcome.value == "yes"
    assert [turn.text for turn in sender.sent[0].messages][1] == "maybe"
    assert [call.attempt for call in ledger.calls.values()] == [1, 2, 3]


def test_a_cut_answer_is_asked_for_again_with_twice_the_room() -> None:
    sender, ledger = ScriptedSender(said("ye", "truncated"), said("yes")), MemoryLedger()
    outcome, _ = asked_once(sender, ledger)
    assert outcome.value == "yes"
    assert [sent.parameters.max_output_tokens for sent in sender.sent] == [100, 200]
    assert len(sender.sent[1].messages) == 1
    assert ledger.statuses == ["truncated", "ok"]
    assert '"max_output_tokens":200' in list(ledger.calls.values())[1].parameters


@pytest.mark.parametrize("finish", ["blocked", "refused"])
def test_blocked_twice_is_final_and_never_bought_again(finish: str) -> None:
    sender, ledger = ScriptedSender(said("", finish)), MemoryLedger()  # type: ignore[arg-type]
    first, _ = asked_once(sender, ledger)
    again, found = asked_once(sender, ledger)
    assert first.status is again.status is Status.BLOCKED
    assert (len(sender.sent), found.n_bought, found.n_from_ledger) == (2, 0, 1)
    assert ledger.statuses == [finish, finish]


def test_an_empty_answer_is_asked_for_again_and_then_unparsable() -> None:
    sender, ledger = ScriptedSender(said("", "empty")), MemoryLedger()
    outcome, _ = asked_once(sender, ledger)
    assert outcome.status is Status.UNPARSABLE
    assert len(sender.sent) == 2


@pytest.mark.parametrize("error", [LATER, RequestRejected("HTTP 400: too long", 400)])
def test_a_failed_call_is_replaced_by_a_later_success(error: Exception) -> None:
    ledger = MemoryLedger()
    failed, model = asked_once(ScriptedSender(error), ledger)
    assert failed.status is Status.JUDGE_ERROR
    assert failed.reason
    assert str(error) in failed.reason
    assert (ledger.statuses, model.n_bought) == (["failed"], 0)
    healed, _ = asked_once(ScriptedSender(said("yes")), ledger)
    assert healed.value == "yes"
    assert list(ledger.calls) == [call_id(ASKED.request_id, 1)]
    assert ledger.statuses == ["ok"]


def test_a_repair_that_fails_leaves_the_first_answer_and_is_replaced_later() -> None:
    ledger = MemoryLedger()
    outcome, _ = asked_once(ScriptedSender(said("perhaps"), LATER), ledger)
    assert outcome.status is Status.JUDGE_ERROR
    assert ledger.statuses == ["ok", "failed"]
    healed, _ = asked_once(ScriptedSender(said("yes")), ledger)
    assert healed.value == "yes"
    assert ledger.statuses == ["ok", "ok"]


def test_an_answer_is_committed_before_anybody_sees_it() -> None:
    events: list[str] = []
    sender, ledger = ScriptedSender(said("perhaps"), said("yes")), MemoryLedger(events)

    def read(answer: str) -> str:
        events.append(f"read {answer}")
        return read_word(answer)

    async def ask() -> None:
        await gateway(sender, ledger).ask(ASKED, read)
        events.append("told")

    run(ask())
    assert events.index("kept 1") < events.index("read perhaps")
    assert events.index("kept 2") < events.index("read yes") < events.index("told")


def test_an_answer_that_could_not_be_committed_is_not_acted_on() -> None:
    class Full(MemoryLedger):
        async def save(self, call: Call, *, replace: bool) -> None:
            raise OSError("no space left")

    with pytest.raises(OSError, match="no space"):
        asked_once(ScriptedSender(said("yes")), Full())


def test_another_version_is_kept_makes_no_verdict_and_stops_the_rest() -> None:
    sender = ScriptedSender(said("yes", version="some-model-002"))
    ledger = MemoryLedger()

    async def both() -> Sequence[object]:
        model = gateway(sender, ledger)
        with pytest.raises(ModelDrift, match=r"'some-model-002'.*pinned to 'some-model-001'"):
            await model.ask(ASKED, read_word)
        return await asyncio.gather(
            model.ask(question("Another?"), read_word), return_exceptions=True
        )

    assert [type(found) for found in run(both())] == [ModelDrift]
    assert [call.model_version for call in ledger.calls.values()] == ["some-model-002"]
    assert len(sender.sent) == 1
    # Back at the pinned version, the other's answer is no answer.
    outcome, _ = asked_once(ScriptedSender(said("no")), ledger)
    assert outcome.value == "no"
    assert [call.attempt for call in ledger.calls.values()] == [1, 2]


def test_the_first_answer_pins_a_judge_that_is_not_pinned() -> None:
    sender = ScriptedSender(said("yes", version="v1"), said("yes", version="v2"))

    async def two() -> None:
        model = gateway(sender, MemoryLedger(), answers_as=None)
        assert (await model.ask(ASKED, read_word)).value == "yes"
        with pytest.raises(ModelDrift, match="pinned to 'v1'"):
            await model.ask(question("Another?"), read_word)

    run(two())


def questions(n: int) -> list[ModelRequest]:
    return [question(f"Is {number} so?") for number in range(n)]


def test_another_model_is_found_by_the_first_call_before_others_are_under_way() -> None:
    sender, ledger = ScriptedSender(said("yes", version="some-model-002")), MemoryLedger()

    async def all_of() -> list[object]:
        model = gateway(sender, ledger)
        asked = [model.ask(one, read_word) for one in questions(50)]
        return await asyncio.gather(*asked, return_exceptions=True)

    assert {type(found) for found in run(all_of())} == {ModelDrift}
    assert len(sender.sent) == len(ledger.calls) == 1


@pytest.mark.parametrize("first", [said("yes"), LATER])
def test_after_the_first_call_the_others_are_under_way_together(first: Reply | Exception) -> None:
    sender = ScriptedSender(first, said("yes"))

    async def all_of() -> None:
        sender.gate = asyncio.Event()
        model = gateway(sender, MemoryLedger())
        asked = [asyncio.create_task(model.ask(one, read_word)) for one in questions(9)]
        await settled()
        assert len(sender.sent) == 1
        sender.gate.set()
        sender.gate = asyncio.Event()
        await settled()
        assert len(sender.sent) == 9
        sender.gate.set()
        await asyncio.gather(*asked)

    run(all_of())


@pytest.mark.parametrize(
    "version", ["Some-Model-001", "maker/some-model-001", "a/b/SOME-model-001"]
)
def test_a_name_in_other_case_or_behind_a_gateway_is_the_same_model(version: str) -> None:
    ledger = MemoryLedger()
    outcome, _ = asked_once(ScriptedSender(said("yes", version=version)), ledger)
    assert outcome.value == "yes"
    again, model = asked_once(ScriptedSender(said("no")), ledger)
    assert (again.value, model.n_from_ledger) == ("yes", 1)


@pytest.mark.parametrize("version", ["some-model-0012", "some-model", "some-model-001/other", None])
def test_any_other_name_is_another_model(version: str | None) -> None:
    with pytest.raises(ModelDrift):
        asked_once(ScriptedSender(said("yes", version=version)))


def test_an_asker_that_is_cancelled_leaves_its_call_to_be_kept() -> None:
    sender, ledger = ScriptedSender(said("yes")), MemoryLedger()

    async def leave() -> None:
        sender.gate = asyncio.Event()
        model = gateway(sender, ledger)
        asker = asyncio.create_task(model.ask(ASKED, read_word))
        await settled()
        asker.cancel()
        closing = asyncio.create_task(model.close())
        await settled()
        assert (ledger.statuses, sender.closed) == ([], False)
        sender.gate.set()
        await closing

    run(leave())
    assert (ledger.statuses, sender.closed) == (["ok"], True)


def test_an_exhausted_budget_stops_and_keeps_what_is_under_way() -> None:
    sender, ledger = ScriptedSender(said(usage=TokenUsage(prompt=40, output=100))), MemoryLedger()
    most = price().max_cost(ASKED)

    async def spend() -> list[object]:
        model = gateway(sender, ledger, price=price(), usd=1.5 * most)
        asked = [model.ask(question(f"Is it so, {n}?"), read_word) for n in range(6)]
        found = await asyncio.gather(*asked, return_exceptions=True)
        await model.close()
        assert model.spent <= 1.5 * most
        return list(found)

    found = run(spend())
    bought = [outcome for outcome in found if isinstance(outcome, RequestOutcome)]
    assert bought
    assert {type(f) for f in found if not isinstance(f, RequestOutcome)} == {BudgetExhausted}
    assert len(ledger.calls) == len(bought) == len(sender.sent)
    assert {call.cost_usd for call in ledger.calls.values()} == {(40 * 2 + 100 * 10) / 1e6}


def test_an_answer_that_comes_after_a_change_of_price_costs_the_higher_and_was_reckoned_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    at(monkeypatch, "2026-12-30 23:00")
    listed = now_listed(price(), DEARER)
    most = DEARER.max_cost(ASKED)
    used = TokenUsage(prompt=40, cache_write_tokens=30, output=4)
    sender, ledger = ScriptedSender(said(usage=used)), MemoryLedger()
    sender.gate = asyncio.Event()

    async def over_midnight(usd: float) -> Gateway:
        model = gateway(sender, ledger, price=listed, usd=usd)
        asking = asyncio.create_task(model.ask(ASKED, read_word))
        await settled()
        at(monkeypatch, "2027-01-01 01:00")
        sender.gate.set()  # type: ignore[union-attr]
        await asking
        return model

    with pytest.raises(BudgetExhausted):
        run(over_midnight(0.99 * most))
    at(monkeypatch, "2026-12-30 23:00")
    sender.gate.clear()
    model = run(over_midnight(most))
    [call] = ledger.calls.values()
    assert (call.prompt_tokens, call.cache_write_tokens) == (40, 30)
    assert call.cost_usd == model.spent == (10 * 4 + 30 * 5 + 4 * 20) / 1e6


def test_an_answer_that_an_earlier_run_asked_for_costs_what_it_may_have_cost_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent_at, ledger = at(monkeypatch, "2026-12-20"), MemoryLedger()
    at(monkeypatch, "2027-01-10")
    answer = said(usage=TokenUsage(prompt=40, output=0))
    for reply in (answer, answer.model_copy(update={"sent_at": sent_at})):
        model = gateway(ScriptedSender(reply), ledger, price=now_listed(price(), CHEAPER))
        run(model.ask(question(f"Sent at {reply.sent_at}?"), read_word))
    assert [call.cost_usd for call in ledger.calls.values()] == [40 / 1e6, 80 / 1e6]


def test_a_budget_needs_a_price() -> None:
    sender = ScriptedSender(said())
    with pytest.raises(UnknownPrice, match=r"configs/prices\.yaml has no price for some-model"):
        run(gateway(sender, MemoryLedger(), usd=1.0).ask(ASKED, read_word))
    assert sender.sent == []


def test_what_stops_the_stage_is_raised_and_leaves_no_call() -> None:
    ledger = MemoryLedger()
    with pytest.raises(Misconfigured):
        asked_once(ScriptedSender(Misconfigured("no key")), ledger)
    assert ledger.calls == {}
