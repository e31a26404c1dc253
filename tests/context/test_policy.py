import itertools
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lsp_complete.context.exclusions import Exclusions
from lsp_complete.context.policy import Policy, Reason
from lsp_complete.text.document import Document
from lsp_complete.text.scopes import Scope
from tests.context.trees import write_tree

NO_ENTERPRISE = Path("/nonexistent/policy.toml")


def policy_of(*roots: Path, user_globs: tuple[str, ...] = (), enterprise_file: Path = NO_ENTERPRISE, **rules) -> Policy:
    return Policy(
        roots, Exclusions(user_globs, **rules), enterprise_file=enterprise_file, clock=itertools.count().__next__
    )


def check(policy: Policy, root: Path, expected: dict[str, Reason]) -> None:
    assert {name: policy.allows(root / name).reason for name in expected} == expected


@pytest.mark.parametrize("user_globs", [(), ("**/gen/**",), ("/abs/x/**",), ("src\\gen\\**",)])
def test_user_globs_extend_the_secret_names_and_never_replace_them(tmp_path: Path, user_globs: tuple[str, ...]) -> None:
    names = [".env", ".env.local", "certs/server.key", "deploy/id_rsa", "a/.ssh/known_hosts", ".AWS/config"]
    check(policy_of(tmp_path, user_globs=user_globs), tmp_path, dict.fromkeys(names, Reason.SECRET))


def test_only_the_explicit_switch_lets_secret_files_leave(tmp_path: Path) -> None:
    policy = Policy([tmp_path], enterprise_file=NO_ENTERPRISE, secret_files_may_leave=True)
    check(policy, tmp_path, {".env": Reason.NONE})


@pytest.mark.parametrize(
    "name",
    ["tokenizer.py", "token.go", "credentials_view.tsx", "secrets.py", "environment.ts", "keys.rs", "my proj/a.py"],
)
def test_ordinary_source_files_are_not_secret(tmp_path: Path, name: str) -> None:
    check(policy_of(tmp_path), tmp_path, {name: Reason.NONE})


@pytest.mark.parametrize(
    "pattern", ["**/gen/**", "gen/", "src\\gen\\**", "{root}/src/gen/**", "{windows_root}\\src\\gen\\*"]
)
def test_nested_absolute_and_windows_patterns_exclude(tmp_path: Path, pattern: str) -> None:
    glob = pattern.format(root=tmp_path, windows_root=str(tmp_path).replace("/", "\\"))
    check(policy_of(tmp_path, user_globs=(glob,)), tmp_path, {"src/gen/x.py": Reason.USER, "src/app.py": Reason.NONE})


def test_a_pattern_with_a_drive_names_a_path_with_that_drive() -> None:
    from lsp_complete.context.globs import Globs

    globs = Globs(["C:\\work\\gen\\**"])
    assert globs.names("c:/work/gen/a.py", "")
    assert not globs.names("d:/work/gen/a.py", "")


def test_a_user_glob_that_is_no_pattern_is_reported(tmp_path: Path) -> None:
    assert policy_of(tmp_path, user_globs=("!",)).problems == ["exclusion is no pattern: !"]


def test_ignore_files_of_every_level_and_their_negations_are_honoured(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            ".gitignore": "local_settings.py\n*.gen.py\nout/\n/gen/*\n!/gen/keep.py\n",
            "a/.gitignore": "!keep.gen.py\n",
            "a/b/.gitignore": "/only_here.py\n",
            ".lspcompleteignore": "private/\n*.sql\n!public.sql\n",
            ".git/info/exclude": "mine.py\n",
        },
    )
    expected = {
        "local_settings.py": Reason.GIT,
        "a/b/local_settings.py": Reason.GIT,
        "x.gen.py": Reason.GIT,
        "a/keep.gen.py": Reason.NONE,
        "a/b/only_here.py": Reason.GIT,
        "a/only_here.py": Reason.NONE,
        "gen/keep.py": Reason.NONE,
        "gen/drop.py": Reason.GIT,
        "out/keep.gen.py": Reason.GIT,
        "private/deep/x.py": Reason.TOOL,
        "x.sql": Reason.TOOL,
        "a/public.sql": Reason.NONE,
        "mine.py": Reason.GIT,
    }
    check(policy_of(tmp_path), tmp_path, expected)


def test_a_later_edit_of_an_ignore_file_is_honoured(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a/b/x.py": ""})
    policy = policy_of(tmp_path)
    check(policy, tmp_path, {"a/b/x.py": Reason.NONE})
    write_tree(tmp_path, {"a/.gitignore": "x.py\n"})
    check(policy, tmp_path, {"a/b/x.py": Reason.GIT})
    write_tree(tmp_path, {"a/.gitignore": "y.py\n!x.py\n"})
    check(policy, tmp_path, {"a/b/x.py": Reason.NONE})
    (tmp_path / "a/.gitignore").unlink()
    check(policy, tmp_path, {"a/b/y.py": Reason.NONE})


def test_within_a_moment_the_same_folder_is_not_looked_at_again(tmp_path: Path) -> None:
    now_s = 0.0
    policy = Policy([tmp_path], enterprise_file=NO_ENTERPRISE, clock=lambda: now_s)
    check(policy, tmp_path, {"x.py": Reason.NONE})
    write_tree(tmp_path, {".gitignore": "x.py\n"})
    check(policy, tmp_path, {"x.py": Reason.NONE})
    now_s = 0.3
    check(policy, tmp_path, {"x.py": Reason.GIT})


def test_each_root_applies_its_ignore_rules_to_its_own_files_only(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "api/.gitignore": "main.py\n",
            "web/.git/": "",
            "web/.gitignore": "app.py\n",
            "web/plugins/x/.gitignore": "x.py\n",
        },
    )
    outer = (tmp_path / "api", tmp_path / "web")
    policy = policy_of(*outer, tmp_path / "web/plugins/x")
    expected = {
        "api/src/main.py": Reason.GIT,
        "web/src/main.py": Reason.NONE,
        "web/app.py": Reason.GIT,
        "web/plugins/x/app.py": Reason.NONE,
        "web/plugins/x/x.py": Reason.GIT,
        "web/plugins/y/x.py": Reason.NONE,
    }
    check(policy, tmp_path, expected)
    check(policy_of(*outer), tmp_path, {"web/plugins/x/app.py": Reason.GIT})
    assert policy.root_of(tmp_path / "web/plugins/x/x.py") == f"{tmp_path}/web/plugins/x/"


def test_a_root_inside_a_repository_has_the_rules_above_it(tmp_path: Path) -> None:
    write_tree(tmp_path, {".git/": "", ".gitignore": "local.py\n", "packages/a/x.py": ""})
    check(policy_of(tmp_path / "packages/a"), tmp_path, {"packages/a/local.py": Reason.GIT})


def test_a_root_that_its_repository_ignores_has_its_own_rules_only(tmp_path: Path) -> None:
    write_tree(tmp_path, {".git/": "", ".gitignore": "versions/\n*.pyc\n", "versions/3/.gitignore": "local.py\n"})
    root = tmp_path / "versions/3"
    check(policy_of(root), root, {"a.py": Reason.NONE, "lib/local.py": Reason.GIT})
    check(policy_of(tmp_path), root, {"a.py": Reason.GIT})


def test_without_a_root_the_repository_of_the_file_decides(tmp_path: Path) -> None:
    write_tree(tmp_path, {"r/.git/": "", "r/.gitignore": "local.py\n", "r/a/local.py": "", "free/x.py": ""})
    expected = {"r/a/local.py": Reason.GIT, "free/x.py": Reason.NONE, "free/.env": Reason.SECRET}
    check(policy_of(), tmp_path, expected)


def test_built_in_excludes_concern_the_index_alone(tmp_path: Path) -> None:
    policy = policy_of(tmp_path)
    for name in ("node_modules/x/y.js", "a/.venv/lib/z.py", "target/q.rs"):
        assert policy.allows(tmp_path / name).allowed
        assert policy.indexes(tmp_path / name).reason is Reason.BUILT_IN
    assert policy.indexes(tmp_path / "a.py").allowed


def test_a_root_below_a_built_in_exclude_is_indexed(tmp_path: Path) -> None:
    assert policy_of(tmp_path / "build/proj").indexes(tmp_path / "build/proj/a.py").allowed


def test_a_link_is_judged_by_its_target_too(tmp_path: Path) -> None:
    write_tree(tmp_path, {".env": "", "sub/a.py": ""})
    (tmp_path / "settings.txt").symlink_to(".env")
    (tmp_path / "id_rsa").symlink_to("sub/a.py")
    check(policy_of(tmp_path), tmp_path, {"settings.txt": Reason.SECRET, "id_rsa": Reason.SECRET})


def test_what_cannot_be_judged_is_denied(tmp_path: Path) -> None:
    assert policy_of(tmp_path).allows("a\0b").reason is Reason.UNREADABLE
    (tmp_path / "loop").symlink_to("loop")
    write_tree(tmp_path, {".gitignore": b"\0binary", "a.py": ""})
    check(policy_of(tmp_path), tmp_path, {"a.py": Reason.UNREADABLE})


def test_the_locked_file_of_an_organisation_cannot_be_overridden(tmp_path: Path) -> None:
    root = write_tree(
        tmp_path / "w", {".git/config": '[remote "o"]\n  url = git@corp.example:secret/one.git\n', "a/b.py": ""}
    )
    file = tmp_path / "policy.toml"
    file.write_text('exclude = ["legal/**"]\nlanguages = ["php"]\n')
    policy = policy_of(root, user_globs=("!legal/**",), enterprise_file=file)
    check(policy, root, {"legal/a.py": Reason.ENTERPRISE, "x.php": Reason.ENTERPRISE, "a/b.py": Reason.NONE})
    file.write_text('repositories = ["corp.example:secret/*"]\n')
    check(policy, root, {"a/b.py": Reason.ENTERPRISE, "legal/a.py": Reason.ENTERPRISE})


@pytest.mark.parametrize(
    "text",
    ["exclude = 3", "exclude = [", 'excludes = ["a"]', 'exclude = ["!"]', 'scopes = ["a"]', "max_file_kib = true"],
)
def test_an_organisations_file_that_is_not_understood_denies_everything(tmp_path: Path, text: str) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(text)
    policy = policy_of(tmp_path, enterprise_file=file)
    check(policy, tmp_path, {"a.py": Reason.ENTERPRISE})
    assert policy.problems


def document_of(marked: str, path: str = "a.py", language: str = "python", file: str = "") -> tuple[Document, int]:
    return Document("untitled:1", marked.replace("█", ""), path, language, file=file), marked.find("█")


def test_an_excluded_language_is_in_no_index_and_no_snippet_and_gets_no_suggestion(tmp_path: Path) -> None:
    policy = policy_of(tmp_path, languages=("php", "shellscript"))
    check(policy, tmp_path, {"x.php": Reason.LANGUAGE, "run.sh": Reason.LANGUAGE, "a.py": Reason.NONE})
    assert policy.indexes(tmp_path / "x.php").reason is Reason.LANGUAGE
    assert policy.admits(document_of("x", "", "php")[0]).reason is Reason.LANGUAGE
    assert policy.admits(document_of("x", "part.inc", "php", str(tmp_path / "part.inc"))[0]).reason is Reason.LANGUAGE
    assert policy.admits(document_of("x")[0]).allowed


def test_a_language_that_we_do_not_know_can_be_excluded(tmp_path: Path) -> None:
    policy = policy_of(tmp_path, languages=("abap",))
    assert policy.admits(document_of("x", "a.abap", "abap")[0]).reason is Reason.LANGUAGE


def test_a_repository_is_excluded_by_the_address_of_a_remote(tmp_path: Path) -> None:
    config = '[remote "origin"]\n  url = git@example.org:Team/one.git\n'
    root = write_tree(tmp_path / "w", {".git/config": config, "a/b.py": "", "c.py": ""})
    check(policy_of(root, repositories=("example.org:team/*",)), root, {"a/b.py": Reason.USER, "c.py": Reason.USER})
    check(policy_of(root / "a", repositories=("team/one",)), root, {"a/b.py": Reason.USER})
    policy = policy_of(root, repositories=("team/two",))
    check(policy, root, {"a/b.py": Reason.NONE})
    write_tree(root, {".git/config": config + '[remote "fork"]\n  url = git@example.org:Team/two.git\n'})
    check(policy, root, {"a/b.py": Reason.USER})


def test_a_file_above_the_limit_does_not_leave(tmp_path: Path) -> None:
    write_tree(tmp_path, {"large.py": "x" * 101, "small.py": "x" * 100})
    policy = policy_of(tmp_path, max_file_bytes=100)
    check(policy, tmp_path, {"large.py": Reason.TOO_LARGE, "small.py": Reason.NONE, "new.py": Reason.NONE})
    assert policy.admits(document_of("x" * 101)[0]).reason is Reason.TOO_LARGE


@pytest.mark.parametrize(
    ("marked", "scopes", "reason"),
    [
        ("x = 1  # why█\n", (Scope.COMMENT,), Reason.SCOPE),
        ("x = 1  # why█\n", (Scope.STRING,), Reason.NONE),
        ("x = 'a█b'\n", (Scope.COMMENT, Scope.STRING), Reason.SCOPE),
        ("x = █1  # why\n", (Scope.COMMENT, Scope.STRING), Reason.NONE),
        ("x = 1  # why█\n", (), Reason.NONE),
    ],
)
def test_a_scope_is_switched_off_by_a_user_and_by_an_organisation(
    tmp_path: Path, marked: str, scopes: tuple[Scope, ...], reason: Reason
) -> None:
    assert policy_of(tmp_path, scopes=scopes).admits_at(*document_of(marked)).reason is reason
    file = tmp_path / "policy.toml"
    file.write_text(f"scopes = {[scope.value for scope in scopes]}\n")
    assert policy_of(tmp_path, enterprise_file=file).admits_at(*document_of(marked)).reason is reason


def test_an_organisation_decides_over_buffers_that_are_no_files(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text('languages = ["python"]\nmax_file_kib = 1\n')
    policy = policy_of(tmp_path, enterprise_file=file)
    assert policy.admits(document_of("x = 1")[0]).reason is Reason.ENTERPRISE
    assert policy.admits(document_of("x" * 1025, "a.rs", "rust")[0]).reason is Reason.TOO_LARGE
    file.write_text("exclude = 3\n")
    assert policy.admits(document_of("x", "a.rs", "rust")[0]).reason is Reason.ENTERPRISE


def test_an_organisations_limit_is_the_least_that_holds(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text("max_file_kib = 1\n")
    write_tree(tmp_path, {"a.py": "x" * 1025, "b.py": "x" * 600})
    check(policy_of(tmp_path, enterprise_file=file), tmp_path, {"a.py": Reason.TOO_LARGE, "b.py": Reason.NONE})
    policy = policy_of(tmp_path, enterprise_file=file, max_file_bytes=500)
    check(policy, tmp_path, {"a.py": Reason.TOO_LARGE, "b.py": Reason.TOO_LARGE})


def test_to_open_an_inner_folder_does_not_get_past_an_organisations_pattern(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text('exclude = ["src/legal/*.py", "/top.py"]\n')
    for root in (tmp_path, tmp_path / "src", tmp_path / "src" / "legal"):
        expected = {tmp_path / "src/legal/a.py": Reason.ENTERPRISE, tmp_path / "src/b.py": Reason.NONE}
        policy = policy_of(root, enterprise_file=file)
        assert {path: policy.allows(path).reason for path in expected} == expected


@pytest.mark.parametrize("kind", ["folder", "link to nowhere", "not utf-8"])
def test_an_organisations_file_that_cannot_be_read_denies_everything_with_one_clear_message(
    tmp_path: Path, kind: str
) -> None:
    file = tmp_path / "policy.toml"
    if kind == "folder":
        file.mkdir()
    elif kind == "not utf-8":
        file.write_bytes(b"exclude = ['\xff']")
    else:
        file.symlink_to("nowhere")
    policy = policy_of(tmp_path, enterprise_file=file)
    check(policy, tmp_path, {"a.py": Reason.ENTERPRISE})
    (problem,) = policy.problems
    assert problem.startswith(f"{file} ")
    assert problem.endswith("until that is mended, nothing leaves this machine")


@pytest.mark.skipif(os.name != "posix", reason="owners and modes are POSIX's")
def test_an_organisations_file_that_users_can_change_counts_with_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text('exclude = ["legal/"]\n')
    file.chmod(0o666)
    policy = policy_of(tmp_path, enterprise_file=file)
    check(policy, tmp_path, {"legal/a.py": Reason.ENTERPRISE, "b.py": Reason.NONE})
    (warning,) = policy.problems
    assert "can be changed by users" in warning


NAMES = st.sampled_from(["a", "b", "c.py", "d.pyc", "ab"])
PIECES = st.sampled_from(["a", "b", "*", "**", "c.py", "*.py", "?b", "[ab]", "d*"])


@st.composite
def ignore_lines(draw: st.DrawFn) -> str:
    sign, start = draw(st.sampled_from(["", "!"])), draw(st.sampled_from(["", "/"]))
    pieces = draw(st.lists(PIECES, min_size=1, max_size=3))
    return sign + start + "/".join(pieces) + draw(st.sampled_from(["", "/"]))


IGNORE_FILES = st.lists(ignore_lines(), max_size=4).map("\n".join)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(outer=IGNORE_FILES, inner=IGNORE_FILES, paths=st.lists(st.lists(NAMES, min_size=1, max_size=4), max_size=8))
def test_ignore_files_mean_what_they_mean_to_git(
    tmp_path: Path, outer: str, inner: str, paths: list[list[str]]
) -> None:
    if not (tmp_path / ".git").exists():
        subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    write_tree(tmp_path, {".gitignore": outer, "a/.gitignore": inner})
    names = sorted(({"/".join(path) for path in paths} | {"a/b/c.py"}) - {"a"})
    ran = subprocess.run(
        ["git", "-C", str(tmp_path), "check-ignore", "--no-index", "--stdin"],
        input="\n".join(names),
        capture_output=True,
        text=True,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull},
    )
    policy = policy_of(tmp_path)
    denied = {name for name in names if policy.allows(tmp_path / name).reason is Reason.GIT}
    assert denied == set(ran.stdout.split())


@given(st.text(), st.text())
def test_no_pattern_and_no_path_raises(pattern: str, path: str) -> None:
    policy = Policy(["/w"], Exclusions((pattern,)), enterprise_file=NO_ENTERPRISE)
    assert policy.allows(path).allowed in (True, False)
