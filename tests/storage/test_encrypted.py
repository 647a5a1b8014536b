"""Encrypted stores: their tests in a Python whose APSW encrypts, and what is said in one whose does not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from scrubjay import Memory
from scrubjay.errors import InputError, StoreError

ROOT = Path(__file__).parents[2]
CIPHER = ROOT / "build" / "cipher" / "site"
"""Where `make cipher` puts APSW with a cipher: it has the same name as the one without."""


@pytest.mark.skipif(not CIPHER.exists(), reason=f"{CIPHER} is not there: make cipher")
def test_encrypted_stores_keep_the_contract_and_tell_nothing_on_the_disk(tmp_path: Path) -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environ["PYTHONPATH"] = os.pathsep.join([str(CIPHER), *filter(None, [environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", str(ROOT / "tests/storage/encrypted"), "-p", "no:cacheprovider",
         "--basetemp", str(tmp_path / "run")],
        cwd=ROOT, env=environ, capture_output=True, text=True, check=False, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "skipped" not in done.stdout
    assert int(done.stdout.rsplit(" passed", 1)[0].split()[-1]) > 100, done.stdout[-200:]


def key(folder: Path, text: str, mode: int = 0o600) -> str:
    file = folder / "key"
    file.write_text(text)
    file.chmod(mode)
    return f"sqlite:///{folder}/m.db?key_file={file}"


@pytest.mark.skipif(hasattr(apsw, "mc_version"), reason="this APSW encrypts")
def test_an_apsw_that_cannot_encrypt_is_not_taken_for_one_that_does(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot encrypt") as error:
        Memory.open(key(tmp_path, "ab" * 32), user="ann")
    assert "pip install --force-reinstall apsw-sqlite3mc" in error.value.hint
    assert list(tmp_path.glob("m.db*")) == []


@pytest.mark.parametrize("text", ["", "ab" * 31, "ab" * 33, "a passphrase", "xy" * 32, "\0" * 5000])
def test_what_is_no_key_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="holds no key") as error:
        Memory.open(key(tmp_path, text), user="ann")
    assert "openssl rand -hex 32" in error.value.hint
    assert text == "" or text not in str(error.value)
    assert list(tmp_path.glob("m.db*")) == []


def test_a_key_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        Memory.open(f"sqlite:///{tmp_path}/m.db?key_file={tmp_path}/nowhere", user="ann")


@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
def test_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is readable by others") as error:
        Memory.open(key(tmp_path, "ab" * 32, 0o640), user="ann")
    assert error.value.hint.startswith("chmod 600")
