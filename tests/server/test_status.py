"""What the status says of a session, and what its switches do."""

import pytest

from lsp_complete.client.guarded import Trouble
from lsp_complete.client.service import ServiceState, ServiceStatus
from lsp_complete.config.settings import Settings
from lsp_complete.protocol import errors
from lsp_complete.server.status import IndexProgress, State, Status, notice, payload, status_of
from lsp_complete.server.switches import Switches

NONE = IndexProgress()
LATER_S = 1_800_000_000.0


def status(*, enabled=True, snoozed_until_s=0.0, service=None, trouble=None) -> Status:
    return status_of(enabled, snoozed_until_s, service, trouble, NONE)


def local(state: str, detail: str = "") -> ServiceStatus:
    return ServiceStatus(ServiceState(state), detail)


@pytest.mark.parametrize(
    ("given", "state", "is_notable"),
    [
        ({}, State.READY, False),
        ({"enabled": False}, State.OFF, False),
        ({"snoozed_until_s": LATER_S}, State.SNOOZED, False),
        ({"service": local("stopped")}, State.LOADING, False),
        ({"service": local("starting", "s")}, State.LOADING, False),
        ({"service": local("loading", "l")}, State.LOADING, False),
        ({"service": local("stopped", "the local service is gone")}, State.OFFLINE, False),
        ({"service": local("ready")}, State.READY, False),
        ({"service": local("model-missing", "m")}, State.OFFLINE, True),
        ({"service": local("engine-missing", "e")}, State.OFFLINE, True),
        ({"service": local("failed", "f")}, State.OFFLINE, True),
        ({"trouble": Trouble(errors.Unreachable())}, State.OFFLINE, False),
        ({"trouble": Trouble(errors.Unreachable(), is_notable=True)}, State.OFFLINE, True),
        ({"trouble": Trouble(errors.BadAnswer())}, State.OFFLINE, False),
        ({"trouble": Trouble(errors.EngineFailed())}, State.OFFLINE, False),
        ({"trouble": Trouble(errors.Unauthorized(), is_notable=True)}, State.UNAUTHORIZED, True),
        ({"trouble": Trouble(errors.RateLimited())}, State.RATE_LIMITED, False),
        ({"trouble": Trouble(errors.ModelLoading())}, State.LOADING, False),
        ({"enabled": False, "snoozed_until_s": LATER_S, "trouble": Trouble(errors.Unreachable())}, State.OFF, False),
    ],
)
def test_it_is_one_word(given, state, is_notable) -> None:
    found = status(**given)
    assert (found.state, found.is_notable) == (state, is_notable)


def test_a_pause_says_until_when() -> None:
    told = payload(status(trouble=Trouble(errors.RateLimited("Rate limited"), LATER_S)))
    assert told["until"] == LATER_S
    assert "Rate limited; not asked until " in told["detail"]
    assert payload(status())["until"] is None


def test_a_message_says_what_to_do() -> None:
    assert "setting `credential`" in notice(status(trouble=Trouble(errors.Unauthorized())))
    assert "come back by themselves" in notice(status(trouble=Trouble(errors.Unreachable())))
    assert notice(status(service=local("model-missing", "do this"))) == "do this"


def test_a_document_that_is_off_is_off_whatever_the_service_does() -> None:
    told = payload(status(trouble=Trouble(errors.Unreachable(), LATER_S)), off_here="ignored by .gitignore")
    assert (told["state"], told["detail"], told["until"]) == ("off", "off here: ignored by .gitignore", None)


def test_how_far_an_index_is_is_no_other_state() -> None:
    assert IndexProgress("building", 1, 9) == IndexProgress("building", 2, 9)
    index = payload(status_of(True, 0.0, None, None, IndexProgress("building", 1, 9)))["index"]
    assert index == {"state": "building", "done": 1, "total": 9}


# Switches

GIVEN = Settings(disabled_languages=("php", "lua"))


def test_switches_lie_over_the_settings() -> None:
    assert Switches().over(GIVEN) == GIVEN
    assert not Switches().toggled().over(GIVEN).enabled
    assert Switches().toggled().toggled().over(GIVEN) == GIVEN
    assert Switches().toggled().over(Settings(enabled=False)).enabled


def test_a_language_is_switched_off_and_on_again() -> None:
    off = Switches().language_toggled("go")
    assert off.over(GIVEN).disabled_languages == ("php", "lua", "go")
    assert off.language_toggled("go").over(GIVEN) == GIVEN
    assert Switches().language_toggled("php").over(GIVEN).disabled_languages == ("lua",)


def test_a_setting_that_changes_takes_back_what_was_switched() -> None:
    switched = Switches().toggled().language_toggled("go")
    assert switched.kept(GIVEN, GIVEN) == switched
    assert switched.kept(GIVEN, GIVEN.model_copy(update={"enabled": False})) == Switches().language_toggled("go")
    assert switched.kept(GIVEN, Settings()) == Switches().toggled()
