"""What a release holds, and what `make release` changes; the whole of it is tried by `make dist`."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from scrubjay import __version__

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def release() -> ModuleType:
    spec = importlib.util.spec_from_file_location("release", ROOT / "scripts" / "release.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    [file] = folder.glob("*.whl")
    return file


def test_the_wheel_holds_the_package_as_git_has_it_and_nothing_else(release: ModuleType, wheel: Path) -> None:
    strays = {
        f"{path.relative_to(ROOT / 'src')} is not tracked by git"
        for path in (ROOT / "src" / "scrubjay").rglob("*")
        if path.relative_to(ROOT).as_posix() not in release.tracked_files(ROOT, "src/scrubjay")
    }
    assert [each for each in release.check_wheel(wheel, ROOT) if each not in strays] == []


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("scrubjay/.env", b"KEY=x", "scrubjay/.env is not tracked by git"),
        ("tests/test_x.py", b"", "tests/test_x.py is not tracked by git"),
        (
            "scrubjay/model.bin",
            bytes(2_000_000),
            "scrubjay/model.bin has 2,000,000 bytes, more than 1,000,000",
        ),
    ],
)
def test_what_does_not_belong_into_the_wheel_is_named(
    release: ModuleType, wheel: Path, tmp_path: Path, name: str, content: bytes, problem: str
) -> None:
    copy = tmp_path / wheel.name
    shutil.copy(wheel, copy)
    with zipfile.ZipFile(copy, "a") as archive:
        archive.writestr(name, content)
    assert problem in release.check_wheel(copy, ROOT)


def test_a_wheel_without_types_data_or_licences_is_refused(
    release: ModuleType, wheel: Path, tmp_path: Path
) -> None:
    copy = tmp_path / wheel.name
    lost = ("scrubjay/py.typed", f"scrubjay-{__version__}.dist-info/licenses/NOTICE")
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(copy, "w") as target:
        for each in source.infolist():
            if each.filename not in lost:
                target.writestr(each, source.read(each))
    found = release.check_wheel(copy, ROOT)
    assert {f"{name} is missing" for name in lost} <= set(found)


LOG = "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n\n## [0.2.0] - 2026-01-01\n\n- Old.\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "src" / "scrubjay").mkdir(parents=True)
    (tmp_path / "src" / "scrubjay" / "__init__.py").write_text('"""Doc."""\n\n__version__ = "0.2.0"\n')
    (tmp_path / "CHANGELOG.md").write_text(LOG)
    (tmp_path / "deploy" / "kubernetes").mkdir(parents=True)
    (tmp_path / "deploy" / "kubernetes" / "scrubjay.yaml").write_text("image: scrubjay:0.2.0\n")
    return tmp_path


def test_a_release_sets_the_version_and_closes_the_section_of_the_changelog(
    release: ModuleType, project: Path
) -> None:
    with pytest.raises(release.Problem, match=r"entries under \[Unreleased\]"):
        release.check_changelog(project)
    release.prepare(project, "0.3.0", "2026-02-03")
    assert release.read_version(project) == "0.3.0"
    found = release.sections((project / "CHANGELOG.md").read_text())
    assert list(found) == ["Unreleased", "0.3.0", "0.2.0"]
    assert (found["Unreleased"], found["0.3.0"]) == ("", "### Added\n\n- A thing.")
    assert (project / "deploy" / "kubernetes" / "scrubjay.yaml").read_text() == "image: scrubjay:0.3.0\n"
    assert "## [0.3.0] - 2026-02-03\n\n### Added" in (project / "CHANGELOG.md").read_text()
    release.check_changelog(project)


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("v0.3.0", "is no version"),
        ("0.3", "is no version"),
        ("0.2.0", "already has a section"),
        ("0.1.9", "is not newer than 0.2.0"),
        ("0.2.0rc1", "is not newer than 0.2.0"),
    ],
)
def test_a_version_that_cannot_follow_changes_nothing(
    release: ModuleType, project: Path, version: str, message: str
) -> None:
    with pytest.raises(release.Problem, match=message):
        release.prepare(project, version, "2026-02-03")
    assert (project / "CHANGELOG.md").read_text() == LOG
    assert release.read_version(project) == "0.2.0"


def test_a_release_without_changes_is_refused(release: ModuleType, project: Path) -> None:
    release.prepare(project, "0.3.0rc1", "2026-02-03")
    with pytest.raises(release.Problem, match=r"nothing under \[Unreleased\]"):
        release.prepare(project, "0.3.0", "2026-02-03")
    assert release.read_version(project) == "0.3.0rc1"
