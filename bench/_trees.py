"""Trees of source files to build indexes of: the standard library, one that is generated, a package's sources.

The generated tree is the same on every machine: classes, functions and imports between files, in five languages, with
the mix of long and short files that repositories have. It says nothing about how people name things.
"""

import os
import platform
import random
import re
import shutil
import sys
import sysconfig
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from string import Template

import platformdirs

from lsp_complete.evaluation.trees import DEVELOPMENT, TreeError, fetched

NUM_FILES = 20_000
REAL = DEVELOPMENT[0]
_FOLDER = platformdirs.user_cache_path("lsp-complete") / "bench"
# Raise it when what is generated changes: the folder is made once and then kept.
_VERSION = 1
_FILES_PER_FOLDER = 40
# A file ends with the class that crosses its number of lines, some 60 lines more at most.
_MIN_LINES, _MAX_LINES = 25, 240
_NUM_IMPORTS = 4
_VERBS = re.findall(r"\w+", "load store parse render merge update find check build send read count split apply fetch")
_NOUNS = re.findall(
    r"\w+",
    """order customer invoice session token buffer cursor window document account payment report schema batch worker
    channel message policy route filter folder index record queue cache packet vector matrix signal""",
)


@dataclass(frozen=True, slots=True)
class Style:
    """How a language writes things; `member` is how far a method is indented.

    In the templates `$T` is a type's name, `$f` a function's, `$a $b $c` variables', `$g` and `$U` what another file
    defines, `$m` that file and `$p` its package, `$n` a number, `$w` a word.
    """

    extension: str
    head: str
    import_: str
    open_class: str
    method: str
    close_class: str
    function: str
    close: str
    indent: str
    member: str
    statements: tuple[str, ...]


PYTHON = Style(
    ".py",
    '"""The $w of each $a, and how it is kept."""\n\nimport os\nfrom typing import Any\n',
    "from $p.$m import $U, $g",
    'class $T($U):\n    """Keeps one $w for each $a."""\n\n    limit = $n\n\n'
    "    def __init__(self, $a: str, $b: int = 0) -> None:\n        self.$a = $a\n        self.$b = $b",
    '\n    def $f(self, $a: list[str], $b: int = $n) -> Any:\n        """$f for every $w."""',
    "",
    "\n\ndef $f($a: str, $b: int) -> dict[str, Any]:\n    # only what the $w asks for",
    "",
    "    ",
    "    ",
    (
        "if $a is None or len($b) > $n:\n    return $g($a, limit=$n)",
        "for $c in $g($a):\n    $b.append($c.$w)",
        '$c = $U($a, "$w").$f($b, key=lambda one: one[$n])',
        '$b = {"$w": $a, "$c": [$n, $n], **$g($b)}',
        'try:\n    $c = os.path.join($a, "$w")\nexcept OSError as error:\n    raise ValueError($a) from error',
        "# The $w of $a is asked for before $b is: $c may be gone by then.",
        "return [$c for $c in $b if $c.$w and $c.$a != $n]",
    ),
)
TYPESCRIPT = Style(
    ".ts",
    "/** The $w of each $a, and how it is kept. */\nexport interface ${T}Options {\n  $a: string;\n  $b?: number;\n}\n",
    'import { $U, $g } from "../$p/$m";',
    "export class $T extends $U {\n  private readonly $a: Map<string, number> = new Map();\n\n"
    "  constructor(private $b: ${T}Options) {\n    super($b);\n  }",
    "\n  /** $f for every $w. */\n  async $f($a: string[], $b = $n): Promise<number> {",
    "}",
    "\nexport function $f($a: string, $b: number): Record<string, number> {\n  // only what the $w asks for",
    "}",
    "  ",
    "  ",
    (
        "if ($a === undefined || $b.length > $n) {\n  return $g($a, { limit: $n });\n}",
        "for (const $c of $g($a)) {\n  $b.push($c.$w);\n}",
        'const $c = new $U($a, "$w").$f(($b) => $b.$w + $n);',
        "const { $w, ...rest } = { $w: $a, $c: [$n, $n], ...$g($b) };",
        "try {\n  await $g(`$w-$${$a}`);\n} catch (error) {\n  throw new Error(String($a));\n}",
        "// The $w of $a is asked for before $b is: $c may be gone by then.",
        "return $b.filter(($c) => $c.$w && $c.$a !== $n).length;",
    ),
)
JAVA = Style(
    ".java",
    "package app.$q;\n\nimport java.util.List;\nimport java.util.Map;\n",
    "import app.$p.$U;",
    "/** The $w of each $a, and how it is kept. */\npublic class $T extends $U implements Comparable<$T> {\n"
    "  private static final int LIMIT = $n;\n  private final Map<String, Integer> $a;\n\n"
    "  public $T(Map<String, Integer> $a) {\n    this.$a = $a;\n  }",
    "\n  /** $f for every $w. */\n  @Override\n  public int $f(List<String> $a, int $b) throws Exception {",
    "}",
    "",
    "}",
    "  ",
    "  ",
    (
        "if ($a == null || $b > $n) {\n  return $U.$f($a, $n);\n}",
        "for (String $c : $a) {\n  $b += $c.length() * $n;\n}",
        'var $c = new $U(this.$a).$f($a, "$w".length());',
        'Map<String, Integer> $c = Map.of("$w", $n, "$a", $b);',
        "try {\n  $U.$g($a);\n} catch (RuntimeException error) {\n  throw new Exception(error);\n}",
        "// The $w of $a is asked for before $b is: $c may be gone by then.",
        "return $a.stream().filter($c -> $c.isEmpty()).mapToInt(String::length).sum();",
    ),
)
GO = Style(
    ".go",
    '// Package $q keeps the $w of each $a.\npackage $q\n\nimport (\n\t"errors"\n\t"fmt"\n)\n',
    'import "app/$p"',
    "// $T keeps one $w for each $a.\ntype $T struct {\n\t$p.$U\n\t$a map[string]int\n\t$b []string\n}",
    "\n// $f is for every $w.\nfunc ($a *$T) $f($b []string, $c int) (int, error) {",
    "",
    "\n// $f gives only what the $w asks for.\nfunc $f($a string, $b []int) (map[string]int, error) {",
    "}",
    "\t",
    "",
    (
        "if $a == nil || len($b) > $n {\n\treturn $n, $p.$g($a, $n)\n}",
        "for _, $c := range $p.$g($a) {\n\t$b = append($b, $c.$w)\n}",
        '$c := $p.$U{$a: map[string]int{"$w": $n}}',
        'fmt.Printf("$w %d %v\\n", $n, $a)',
        'if err := $p.$g($a); err != nil {\n\treturn 0, fmt.Errorf("$w: %w", err)\n}',
        "// The $w of $a is asked for before $b is: $c may be gone by then.",
        'defer func() { _ = errors.New("$w") }()',
    ),
)
C = Style(
    ".c",
    "/* The $w of each $a, and how it is kept. */\n#include <stdio.h>\n#include <stdlib.h>\n\n#define MAX_$n $n\n",
    '#include "../$p/$m.h"',
    "typedef struct $T {\n  struct $U *$a;\n  unsigned int $b;\n  char $c[MAX_$n];\n} $T;",
    "\n/* $f for every $w. */\nstatic int ${f}(struct $T *$a, const char *$b, size_t $c) {",
    "",
    "\n/* Only what the $w asks for. */\nstruct $T *${f}(const char *$a, unsigned int $b) {",
    "}",
    "  ",
    "",
    (
        "if ($a == NULL || $b > $n) {\n  return $g($a, $n);\n}",
        "for (int i = 0; i < $n; i++) {\n  $a->$b += $g($a, i) * $c[i];\n}",
        "struct $U *$c = malloc(sizeof(*$c) * $n);",
        'printf("$w %d %s\\n", $n, $a->$b);',
        "switch ($b) {\ncase $n:\n  $a->$w = ($b << 2) | $n;\n  break;\ndefault:\n  free($c);\n}",
        "// The $w of $a is asked for before $b is: $c may be gone by then.",
        "return $a ? $a->$b - $n : $g($b, sizeof($c));",
    ),
)
STYLES = (PYTHON, TYPESCRIPT, JAVA, GO, C)


def standard_library() -> Path:
    """A copy of the standard library of the running Python, in the user's cache."""
    source = Path(os.path.realpath(sysconfig.get_path("stdlib")))
    ignore = shutil.ignore_patterns("site-packages", "__pycache__")
    name = f"stdlib-{platform.python_version()}"
    return _made(name, lambda folder: shutil.copytree(source, folder, symlinks=True, ignore=ignore))


def generated_tree(num_files: int = NUM_FILES) -> Path:
    """The generated tree, in the user's cache; the first call takes a minute to make it."""
    return _made(f"generated-{_VERSION}-{num_files}", lambda folder: _generate(folder, num_files))


def real_tree() -> Path | None:
    """A package's sources, pinned by their hash, in the user's cache; None where they cannot be had."""
    try:
        return fetched(REAL, _FOLDER, lambda line: print(line, file=sys.stderr))
    except TreeError as error:
        print(error, file=sys.stderr)
        return None


def _made(name: str, make: Callable[[Path], object]) -> Path:
    """The folder of this name, whole or not there at all."""
    folder, part = _FOLDER / name, _FOLDER / f"{name}.{os.getpid()}"
    if not folder.is_dir():
        shutil.rmtree(part, ignore_errors=True)
        part.parent.mkdir(parents=True, exist_ok=True)
        make(part)
        part.rename(folder)
    return folder


def _generate(folder: Path, num_files: int) -> None:
    for number in range(num_files):
        path = folder / _path(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_source(number), encoding="utf-8")


def _path(number: int) -> str:
    style = STYLES[number % len(STYLES)]
    name = _type_name(number) if style is JAVA else _module(number)
    return f"{style.extension[1:]}/{_package(number)}/{name}{style.extension}"


def _source(number: int) -> str:
    style, rng = STYLES[number % len(STYLES)], random.Random(number)
    others = _neighbours(number, rng)
    num_lines = int(_MIN_LINES * (_MAX_LINES / _MIN_LINES) ** rng.random())
    lines = _fill(style.head, _names(number, others, rng))
    lines += [line for one in others for line in _fill(style.import_, _names(number, [one], rng))]
    while len(lines) < num_lines:
        lines += ["", *_class(style, number, others, rng)]
        for _ in range(rng.randint(0, 3) if style.function else 0):
            lines += _function(style, style.function, "", number, others, rng)
    return "\n".join(lines) + "\n"


def _neighbours(number: int, rng: random.Random) -> list[int]:
    """Files of the same language that this one imports: near ones, as in a repository."""
    step = len(STYLES)
    near = {max(number % step, number - step * rng.randint(1, 2 * _FILES_PER_FOLDER)) for _ in range(_NUM_IMPORTS)}
    return sorted(near)


def _class(style: Style, number: int, others: list[int], rng: random.Random) -> Iterator[str]:
    yield from _fill(style.open_class, _names(number, others, rng))
    for _ in range(rng.randint(1, 6)):
        yield from _function(style, style.method, style.member, number, others, rng)
    if style.close_class:
        yield style.close_class


def _function(
    style: Style, header: str, outer: str, number: int, others: list[int], rng: random.Random
) -> Iterator[str]:
    """The variables of its header stand in all of its statements."""
    names = _names(number, others, rng)
    yield from _fill(header, names)
    own = {letter: names[letter] for letter in "abc"}
    for _ in range(rng.randint(2, 7)):
        statement = _fill(rng.choice(style.statements), _names(number, others, rng) | own)
        yield from (outer + style.indent + line for line in statement)
    if style.close:
        yield outer + style.close


def _fill(template: str, names: dict[str, str]) -> list[str]:
    return Template(template).substitute(names).split("\n")


def _names(number: int, others: list[int], rng: random.Random) -> dict[str, str]:
    other = rng.choice(others)
    names = {"a": rng.choice(_NOUNS), "b": f"{rng.choice(_NOUNS)}s", "c": f"next_{rng.choice(_NOUNS)}"}
    names |= {"f": f"{rng.choice(_VERBS)}_{rng.choice(_NOUNS)}_{rng.randint(1, 99)}", "w": rng.choice(_NOUNS)}
    names |= {"T": _type_name(number, rng.randint(0, 3)), "U": _type_name(other), "g": _function_name(other)}
    names |= {"m": _module(other), "p": _package(other), "q": _package(number), "n": str(rng.randint(1, 999))}
    return names


def _type_name(number: int, part: int = 0) -> str:
    words = _NOUNS[number % len(_NOUNS)], _NOUNS[(number // 7 + part) % len(_NOUNS)], _VERBS[number % len(_VERBS)]
    return "".join(word.capitalize() for word in words) + (str(number) if part == 0 else "Part")


def _function_name(number: int) -> str:
    return f"{_VERBS[number % len(_VERBS)]}_{_NOUNS[number // 3 % len(_NOUNS)]}_{number}"


def _module(number: int) -> str:
    return f"{_NOUNS[number % len(_NOUNS)]}_{_VERBS[number // 11 % len(_VERBS)]}_{number}"


def _package(number: int) -> str:
    group = number // (_FILES_PER_FOLDER * len(STYLES))
    return f"{_NOUNS[group % len(_NOUNS)]}{group}"
