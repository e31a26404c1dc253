"""Another model answers, under another name or the same: what the one before has said is not shown any more."""

from lsp_complete.protocol.completion import Trigger
from lsp_complete.protocol.events import Rung
from tests.completion.asking_ahead import User

NETWORK = Rung.NETWORK


async def test_behind_a_reload_under_the_same_name_nothing_of_before_is_shown() -> None:
    user = User({"x = ": ["one", "two"], "y = ": ["", "three"]}, warm_ahead=False)
    assert await user.sees("x = █\n") == ("one", NETWORK)
    nothing = await user.sees("y = █\n")
    user.pipeline.ready(was_away=True)
    assert await user.sees("x = █\n") == ("two", NETWORK)
    assert (nothing, await user.sees("y = █\n")) == ("withheld", ("three", NETWORK))


async def test_the_answer_of_a_model_with_another_name_makes_those_of_the_last_one_old() -> None:
    user = User({"x = ": ["one", "two"], "y = ": "three"}, warm_ahead=False)
    await user.sees("x = █\n")
    user.service.model = "n"
    assert await user.sees("y = █\n") == ("three", NETWORK)
    assert await user.sees("y = th█\n") == ("ree", Rung.TYPED_THROUGH)
    assert await user.sees("x = █\n", Trigger.INVOKED) == ("two", NETWORK)


async def test_what_the_model_before_took_says_nothing_of_how_long_to_wait_for_this_one() -> None:
    user = User({"x = ": "one"}, warm_ahead=False)
    await user.sees("x = █\n")
    user.pipeline._answer_ms = 3000.0
    user.pipeline.ready(was_away=True)
    assert user.pipeline._mood.answer_ms == 0.0


async def test_a_service_that_only_had_to_be_left_alone_says_what_it_said() -> None:
    user = User({"x = ": "one"}, warm_ahead=False)
    await user.sees("x = █\n")
    user.pipeline.ready()
    assert await user.sees("x = █\n") == ("one", Rung.TYPED_THROUGH)
