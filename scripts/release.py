"""Prepare and check a release; nothing is published, committed or tagged.

python scripts/release.py prepare 0.3.0   set the version, turn [Unreleased] into a section of the changelog
python scripts/release.py changelog       check that the changelog has a section for the version and nothing newer
python scripts/release.py check dist      check metadata, contents and sizes of the wheel and the sdist in a folder
python scripts/release.py install dist    install the wheel in a fresh environment, run the demo, print the sizes
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable
from datetime import UTC, datetime
from email.parser import HeaderParser
from importlib.metadata import Distribution, distributions
from pathlib import Path, PurePosixPath
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
VERSION_FILE: Final = Path("src/scrubjay/__init__.py")
VERSION_LINE: Final = re.compile(r'^__version__ = "([^"]+)"$', re.MULTILINE)
UNRELEASED: Final = "## [Unreleased]"
CHANGELOG: Final = Path("CHANGELOG.md")
MANIFEST: Final = Path("deploy/kubernetes/scrubjay.yaml")
"""Names the image by its version."""
RELEASE: Final = re.compile(r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?")
"""A version as the changelog and tags have it (PEP 440, three numbers)."""

MB: Final = 1_000_000
MAX_WHEEL, MAX_SDIST, MAX_FILE = 4 * MB, 8 * MB, 1 * MB
MAX_INSTALLED: Final = 400 * MB
"""Bytes of the default install with all its models, without the bytecode that some installers compile."""
NEEDED: Final = ("scrubjay/py.typed", "scrubjay/embeddings/data/colbert-projection.npy")
LICENCES: Final = ("LICENSE", "NOTICE")


class Problem(Exception):
    """What keeps the release from being made; its text is shown."""


def tracked_files(root: Path, *folders: str) -> set[str]:
    """Return the paths of the files that git tracks."""
    done = subprocess.run(
        ["git", "ls-files", "-z", *folders], cwd=root, capture_output=True, text=True, check=True
    )
    return {name for name in done.stdout.split("\0") if name and (root / name).is_file()}


def read_version(root: Path) -> str:
    """Return the version that the package states."""
    found = VERSION_LINE.search((root / VERSION_FILE).read_text("utf-8"))
    if found is None:
        raise Problem(f'{VERSION_FILE} has no line __version__ = "…".')
    return found[1]


def sections(changelog: str) -> dict[str, str]:
    """Return the text below each heading of a release, newest first, by version or ``Unreleased``."""
    parts = re.split(r"^## \[([^\]]+)\].*$", changelog, flags=re.MULTILINE)
    return {name: text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def prepare(root: Path, version: str, today: str) -> None:
    """Set the version and turn [Unreleased] into its section, which a new, empty one precedes.

    Raises:
        Problem: The version is malformed or not newer, or nothing is unreleased. Nothing was written.
    """
    if not RELEASE.fullmatch(version):
        raise Problem(f"{version} is no version such as 0.3.0 or 0.3.0rc1. Nothing was written.")
    known, text = read_version(root), (root / CHANGELOG).read_text("utf-8")
    found = sections(text)
    if version in found:
        raise Problem(f"{CHANGELOG} already has a section for {version}. Nothing was written.")
    if _order(version) <= _order(known):
        raise Problem(f"{version} is not newer than {known}. Nothing was written.")
    if not found.get("Unreleased"):
        raise Problem(f"{CHANGELOG} has nothing under [Unreleased]. Nothing was written.")
    source = (root / VERSION_FILE).read_text("utf-8")
    (root / VERSION_FILE).write_text(VERSION_LINE.sub(f'__version__ = "{version}"', source), "utf-8")
    manifest = (root / MANIFEST).read_text("utf-8")
    (root / MANIFEST).write_text(
        manifest.replace(f"image: scrubjay:{known}\n", f"image: scrubjay:{version}\n"), "utf-8"
    )
    (root / CHANGELOG).write_text(
        text.replace(UNRELEASED, f"{UNRELEASED}\n\n## [{version}] - {today}", 1), "utf-8"
    )


def _order(version: str) -> tuple[int, int, int, str]:
    numbers = re.match(r"(\d+)\.(\d+)\.(\d+)(.*)", version)
    if numbers is None:
        raise Problem(f"{VERSION_FILE} states {version}, which is no version such as 0.3.0.")
    # A release comes after its candidates.
    return int(numbers[1]), int(numbers[2]), int(numbers[3]), numbers[4] or "~"


def check_changelog(root: Path) -> None:
    """Raise Problem unless the version has a section and nothing is unreleased."""
    version, found = read_version(root), sections((root / CHANGELOG).read_text("utf-8"))
    if not found.get(version):
        raise Problem(f"{CHANGELOG} has no section for {version}.")
    if found.get("Unreleased"):
        raise Problem(
            f"{CHANGELOG} has entries under [Unreleased], which {version} would ship without naming them.\n"
            "hint: make release VERSION=X.Y.Z"
        )


def check_wheel(file: Path, root: Path) -> list[str]:
    """Return what is wrong with a wheel: its files are those that git tracks below src/scrubjay, and its metadata."""
    version = read_version(root)
    with zipfile.ZipFile(file) as wheel:
        sizes = {each.filename: each.file_size for each in wheel.infolist()}
        info = f"scrubjay-{version}.dist-info/"
        metadata = wheel.read(f"{info}METADATA").decode("utf-8") if f"{info}METADATA" in sizes else ""
    shipped = {name for name in sizes if not name.startswith(info)}
    tracked = {name.removeprefix("src/") for name in tracked_files(root, "src/scrubjay")}
    licences = {f"{info}licenses/{name}" for name in LICENCES}
    problems = [f"{name} is not tracked by git" for name in sorted(shipped - tracked)]
    problems += [
        f"{name} is missing" for name in sorted({*tracked, *NEEDED, *licences} - shipped - set(sizes))
    ]
    headers = HeaderParser().parsestr(metadata)
    for name, wanted in {"Name": "scrubjay", "Version": version, "License-Expression": "Apache-2.0"}.items():
        if headers[name] != wanted:
            problems.append(f"metadata has {name} {headers[name]}, expected {wanted}")
    return problems + _too_large(file, sizes, MAX_WHEEL)


def check_sdist(file: Path, root: Path) -> list[str]:
    """Return what is wrong with an sdist: each of its files is tracked, and the package can be built from it."""
    with tarfile.open(file) as sdist:
        sizes = {
            PurePosixPath(each.name).relative_to(f"scrubjay-{read_version(root)}").as_posix(): each.size
            for each in sdist.getmembers()
            if each.isfile()
        }
    tracked = tracked_files(root)
    needed = {"pyproject.toml", *LICENCES, "README.md", *tracked_files(root, "src/scrubjay")}
    problems = [f"{name} is not tracked by git" for name in sorted({*sizes} - tracked - {"PKG-INFO"})]
    problems += [f"{name} is missing" for name in sorted(needed - set(sizes))]
    return problems + _too_large(file, sizes, MAX_SDIST)


def _too_large(file: Path, sizes: dict[str, int], most: int) -> list[str]:
    found = [
        f"{name} has {size:,} bytes, more than {MAX_FILE:,}"
        for name, size in sizes.items()
        if size > MAX_FILE
    ]
    if (size := file.stat().st_size) > most:
        found.append(f"it has {size:,} bytes, more than {most:,}")
    return found


def built(folder: Path, version: str) -> tuple[Path, Path]:
    """Return the wheel and the sdist of a version.

    Raises:
        Problem: One of them is missing, or other files are beside them.
    """
    pair = folder / f"scrubjay-{version}-py3-none-any.whl", folder / f"scrubjay-{version}.tar.gz"
    found = sorted(each.name for each in folder.iterdir() if each.name != ".gitignore")
    if found != sorted(each.name for each in pair):
        raise Problem(
            f"{folder} holds {', '.join(found) or 'nothing'}, expected the wheel and sdist of {version}."
        )
    return pair


def check(folder: Path, root: Path) -> None:
    """Check the wheel and the sdist of a folder, with `twine check` for their metadata."""
    wheel, sdist = built(folder, read_version(root))
    problems = [f"{wheel.name}: {each}" for each in check_wheel(wheel, root)]
    problems += [f"{sdist.name}: {each}" for each in check_sdist(sdist, root)]
    if problems:
        raise Problem("\n".join(problems))
    _run([sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist)], dict(os.environ))
    for each in (wheel, sdist):
        print(f"{each.name}: {each.stat().st_size / MB:.1f} MB")


def package_sizes(site_packages: Iterable[Distribution]) -> list[tuple[str, int]]:
    """Return each package with the bytes of its files, the largest first; bytecode is not counted."""
    found = []
    for each in site_packages:
        files = [Path(str(file.locate())) for file in each.files or () if file.suffix != ".pyc"]
        found.append(
            (f"{each.name} {each.version}", sum(file.stat().st_size for file in files if file.is_file()))
        )
    return sorted(found, key=lambda one: -one[1])


def install(folder: Path, root: Path) -> None:
    """Install the wheel in fresh environments, by pip, uvx and pipx, and run the demo in each."""
    wheel, _ = built(folder, read_version(root))
    tools = Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch) / "home"
        home.mkdir()
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("SCRUBJAY_", "XDG_"))
        }
        around = kept | {"HOME": str(home), "PIPX_HOME": f"{scratch}/pipx", "UV_CACHE_DIR": f"{scratch}/uv"}
        fresh = Path(scratch) / "fresh"
        _run([sys.executable, "-m", "venv", "--without-pip", str(fresh)], around)
        [python] = [
            each for each in (fresh / "bin" / "python", fresh / "Scripts" / "python.exe") if each.exists()
        ]
        uv = [str(tools / "uv"), "pip", "install", "-q", "--python", str(python), str(wheel)]
        _run(uv, around)
        _show_sizes(fresh)
        _run_demo([str(python.parent / "scrubjay")], around, home)
        spec = str(wheel.resolve())
        _run_demo([str(tools / "uvx"), "-q", "--from", spec, "scrubjay"], around, home)
        _run_demo([str(tools / "pipx"), "run", "--quiet", "--spec", spec, "scrubjay"], around, home)


def _show_sizes(environment: Path) -> None:
    [site] = [*environment.glob("lib/python*/site-packages"), *environment.glob("Lib/site-packages")]
    sizes = package_sizes(distributions(path=[str(site)]))
    total = sum(size for _, size in sizes)
    shown = [one for one in sizes if one[1] >= 2 * MB]
    for name, size in shown:
        print(f"{size / MB:7.1f} MB  {name}")
    rest = total - sum(size for _, size in shown)
    print(f"{rest / MB:7.1f} MB  {len(sizes) - len(shown)} more packages\n{total / MB:7.1f} MB  in all")
    if total > MAX_INSTALLED:
        raise Problem(f"The default install has {total / MB:.0f} MB, more than {MAX_INSTALLED / MB:.0f}.")


def _run_demo(command: list[str], around: dict[str, str], home: Path) -> None:
    said = _run([*command, "demo"], around)
    if "PostgreSQL" not in said:
        raise Problem(f"{' '.join(command)} demo does not answer its first question:\n{said}")
    left = [
        each for folder in (".config", ".local/share") for each in (home / folder / "scrubjay").rglob("*")
    ]
    if left:
        raise Problem(f"The demo leaves {', '.join(map(str, left))}.")
    print(f"{Path(command[0]).name}: the demo answers and leaves nothing but the models' cache")


def _run(command: list[str], around: dict[str, str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, env=around, check=False)
    if done.returncode:
        raise Problem(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def main() -> int:
    """Run a command and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("prepare").add_argument("version")
    commands.add_parser("changelog")
    for name in ("check", "install"):
        commands.add_parser(name).add_argument("folder", type=Path)
    given = parser.parse_args()
    try:
        if given.command == "prepare":
            prepare(ROOT, given.version, datetime.now(UTC).date().isoformat())
        elif given.command == "changelog":
            check_changelog(ROOT)
        else:
            {"check": check, "install": install}[given.command](given.folder, ROOT)
    except Problem as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
