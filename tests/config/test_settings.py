"""Where settings come from, which wins, and what becomes of bad ones."""

import pytest

from lsp_complete.config.settings import Settings, load_settings


@pytest.fixture
def file(tmp_path):
    return tmp_path / "settings.toml"


def test_without_anything_the_defaults_are_used(file):
    assert load_settings({}, {}, file) == (Settings(), [])


def test_each_layer_wins_over_the_one_below(file):
    file.write_text("debounce_ms = 1\nprompt_tokens = 201\nline_tokens = 11\n")
    environ = {"LSP_COMPLETE_PROMPT_TOKENS": "202", "LSP_COMPLETE_LINE_TOKENS": "12"}
    settings, problems = load_settings({"line_tokens": 13}, environ, file)
    assert (settings.debounce_ms, settings.prompt_tokens, settings.line_tokens) == (1, 202, 13)
    assert problems == []


def test_no_layer_lets_out_what_another_one_excludes(file):
    file.write_text('exclude = ["*.pem"]\ndisabled_languages = ["sql"]\n')
    settings, _ = load_settings({"exclude": ["gen/"]}, {"LSP_COMPLETE_EXCLUDE": "*.key"}, file)
    assert settings.exclude == ("*.pem", "*.key", "gen/")
    assert settings.disabled_languages == ("sql",)


def test_a_bad_value_leaves_the_layer_below_in_force_and_is_reported_once(file):
    file.write_text('debounce_ms = 1\nprompt_tokens = "many"\n')
    environ = {"LSP_COMPLETE_DEBOUNCE_MS": "soon", "LSP_COMPLETE_LINE_TOKENS": "12"}
    settings, problems = load_settings({"line_tokens": -1, "enabled": False}, environ, file)
    assert (settings.debounce_ms, settings.prompt_tokens) == (1, Settings().prompt_tokens)
    assert (settings.line_tokens, settings.enabled) == (12, False)
    places = [problem.split(": ")[:2] for problem in problems]
    assert places == [
        [file.name, "prompt_tokens"],
        ["environment", "debounce_ms"],
        ["editor or command line", "line_tokens"],
    ]


@pytest.mark.parametrize("bad", [None, [], {}, "", "x", 1.5, -1, 10**30, float("nan"), [[1]]])
def test_no_value_is_too_strange(bad, file):
    settings, problems = load_settings({"prompt_tokens": bad}, {}, file)
    assert settings == Settings()
    assert len(problems) == 1
    assert "prompt_tokens" in problems[0]


def test_a_list_with_several_bad_elements_is_one_bad_value(file):
    settings, problems = load_settings({"disabled_languages": [1, "python", 2]}, {}, file)
    assert settings.disabled_languages == ()
    assert len(problems) == 1


def test_an_unknown_setting_is_reported_and_the_others_are_used(file):
    file.write_text("debounse_ms = 5\nline_tokens = 7\n")
    settings, problems = load_settings({}, {}, file)
    assert settings.line_tokens == 7
    assert problems == ["settings.toml: unknown setting `debounse_ms`, did you mean `debounce_ms`?"]
    assert load_settings({"zzz": 1}, {}, file)[1][-1] == "editor or command line: unknown setting `zzz`"


def test_the_environment_may_hold_names_that_are_no_settings(file):
    assert load_settings({}, {"LSP_COMPLETE_LOGS": "/x", "LSP_COMPLETE_FUTURE": "1"}, file)[1] == []


def test_a_list_in_the_environment_is_separated_by_commas(file):
    settings, _ = load_settings({}, {"LSP_COMPLETE_DISABLED_LANGUAGES": "python,,rust"}, file)
    assert settings.disabled_languages == ("python", "rust")


@pytest.mark.parametrize("content", [b"debounce_ms = = 5", b"\xff\xfe", b"\x00", b"a = " + b"[" * 50_000, b"[a]\n[a]"])
def test_a_file_that_is_no_toml_costs_the_file_only(content, file):
    file.write_bytes(content)
    settings, problems = load_settings({}, {"LSP_COMPLETE_LINE_TOKENS": "12"}, file)
    assert settings.line_tokens == 12
    assert file.name in problems[0]


def test_a_file_that_is_a_folder_costs_nothing_else(tmp_path):
    settings, problems = load_settings({}, {}, tmp_path)
    assert settings == Settings()
    assert len(problems) == 1


def test_the_file_is_found_through_the_environment(file, monkeypatch):
    file.write_text("line_tokens = 7\n")
    monkeypatch.setenv("LSP_COMPLETE_CONFIG", str(file))
    assert load_settings()[0].line_tokens == 7


def test_a_credential_is_in_no_representation_and_in_no_problem(file):
    settings, _ = load_settings({"credential": "my-secret"}, {}, file)
    assert settings.credential == "my-secret"
    assert "my-secret" not in f"{settings!r} {settings}"
    file.write_text('credential = "my-secret\n')
    _, problems = load_settings({"credential": ["my-secret"]}, {}, file)
    assert len(problems) == 2
    assert "my-secret" not in " ".join(problems)


def test_settings_are_frozen():
    with pytest.raises(ValueError):
        Settings().enabled = False  # type: ignore[misc]


def test_every_setting_says_what_it_is():
    assert all(field.description for field in Settings.model_fields.values())
