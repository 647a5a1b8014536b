import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scrubjay.ingest.gitignore import IgnoreRules
from scrubjay.ingest.scanner import scan_files

FOLDERS = ("", "a/", "b/", "a/b/", "b/a/", "x.md/", "a/b/ab/", "a b/")
FILES = ("x.md", "y.md", "ax.md", "]x.md", "a.md")
PATTERN = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "", "/", "**/"]),
    st.sampled_from(
        [
            "a",
            "b",
            "*.md",
            "x.md",
            "a/b",
            "a/*",
            "a*",
            "?.md",
            "[xy].md",
            "a/**",
            "a/**/x.md",
            "*",
            "**",
            "***",
            "a**",
            "**b/x.md",
            "[^x].md",
            "[!a-w]*",
            "[z-a].md",
            "[[:alpha:]].md",
            "[]x]*.md",
            "x[",
            "[!]]x.md",
            "\\x.md",
            "a\\/b",
            "a?b",
            "**/**",
            "a[/]b",
            "[a-]b",
            "ab/..",
        ]
    ),
    st.sampled_from(["", "", "/", " ", "\r", "/**"]),
)
RULES = st.dictionaries(st.sampled_from(FOLDERS[:4]), st.lists(PATTERN, min_size=1, max_size=5), max_size=3)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for folder in FOLDERS:
        (root / folder).mkdir(exist_ok=True)
        for name in FILES:
            if f"{folder}{name}/" not in FOLDERS:
                (root / folder / name).touch()
    return root


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rules=RULES)
def test_what_is_ignored_is_what_git_ignores(repository: Path, rules: dict[str, list[str]]) -> None:
    for folder in FOLDERS:
        ignore_file = repository / folder / ".gitignore"
        ignore_file.unlink(missing_ok=True)
        if folder in rules:
            ignore_file.write_text("\n".join(rules[folder]), newline="")
    git = ["git", "-C", str(repository), "-c", "core.excludesFile=/dev/null"]
    command = [*git, "ls-files", "-o", "-z", "--exclude-standard", "--", "*.md"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    expected = sorted(name for name in listed.split("\0") if name)
    assert [state.path for state in scan_files(repository).files] == expected


@pytest.mark.parametrize("line", ["broken\\", "x[", "!", "[a-", "[[:alpha:]"])
def test_a_line_that_is_no_pattern_matches_nothing_and_is_named(line: str) -> None:
    ignore = IgnoreRules([line, "y.md"])
    assert ignore.broken == (line,)
    assert ignore.decide("y.md")
    assert ignore.decide(line) is None


def test_comments_blank_lines_and_escapes_are_read_as_git_reads_them() -> None:
    ignore = IgnoreRules(["# no", "", "  ", "\\#yes", "\\!bang", "trail\\ ", "cr\r"])
    assert ignore.broken == ()
    assert [path for path in ("# no", "#yes", "!bang", "trail ", "trail", "cr") if ignore.decide(path)] == [
        "#yes",
        "!bang",
        "trail ",
        "cr",
    ]
