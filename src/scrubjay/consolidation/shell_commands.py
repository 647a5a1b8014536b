"""Commands: the shell commands that a text shows or that an agent ran, each named by program and subcommand.

``git push origin main`` is named "git push". Commands that only read are left out.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final

from scrubjay.frozen import frozen
from scrubjay.text.normalize import word_set

MAX_COMMAND_TEXT: Final = 200_000
MAX_COMMAND: Final = 200

_PROGRAMS: Final = word_set(
    """git gh glab hub npm pnpm yarn bun node deno pip pip3 uv poetry pdm pipx python python3 pytest tox
    nox ruff black mypy isort alembic flask django-admin cargo rustc rustup go make cmake ninja gradle
    mvn java javac dotnet docker docker-compose podman kubectl helm k9s kustomize terraform tofu ansible
    ansible-playbook packer vagrant aws gcloud az flyctl fly heroku vercel netlify wrangler doctl psql
    pg_dump pg_restore createdb dropdb mysql mysqldump sqlite3 redis-cli mongosh mongodump curl wget ssh
    scp rsync systemctl journalctl service nginx certbot tar zip unzip gzip cp mv rm mkdir touch chmod
    chown ln apt apt-get brew dnf yum pacman snap conda mamba bundle rake rails gem composer php artisan
    jest vitest eslint prettier tsc webpack vite pre-commit twine hatch openssl gpg ssh-keygen tmux mount
    dd ffmpeg pandoc latexmk bazel sbt stack cabal mix rebar3 swift xcodebuild fastlane flutter dart
    serverless sam cdk pulumi buildah skopeo trivy restic borg rclone crontab useradd ufw iptables ip"""
)
_WITHOUT_SUBCOMMAND: Final = word_set(
    """cp mv rm mkdir touch chmod chown ln curl wget ssh scp rsync psql pg_dump pg_restore createdb
    dropdb mysql mysqldump sqlite3 pytest tar zip unzip gzip ffmpeg pandoc openssl gpg node java javac
    jest tsc mongosh mongodump dd mount ssh-keygen crontab ansible-playbook redis-cli k9s useradd"""
)
"""Programs whose first argument is an operand, not a subcommand."""
_INTERPRETERS: Final = word_set("python python3 node bash sh zsh ruby perl php deno ansible-playbook")
_READ_ONLY: Final = word_set(
    """cd ls pwd cat echo head tail grep egrep rg ag find which whereis clear less more man history wc
    tree file stat sleep true false printf sed awk diff test type whoami date env export source set unset
    alias exit id du df ps top htop jobs read sort uniq cut tr xargs tee nano vim vi emacs code open if
    then else fi for do done while case esac function return in ping man help"""
)
_NESTED: Final = {
    "aws": word_set("s3 ecr ecs lambda"),
    "bun": word_set("run"),
    "cargo": word_set("install"),
    "docker": word_set("compose image container volume"),
    "fly": word_set("secrets"),
    "gcloud": word_set("run compute"),
    "gh": word_set("pr release workflow issue"),
    "git": word_set("remote submodule stash"),
    "helm": word_set("repo"),
    "kubectl": word_set("rollout config"),
    "npm": word_set("run"),
    "pnpm": word_set("run"),
    "terraform": word_set("workspace"),
    "uv": word_set("pip"),
    "yarn": word_set("run"),
}
"""Subcommands that have subcommands."""
_READ_ONLY_COMMANDS: Final = frozenset(
    [
        "git status",
        "git diff",
        "git log",
        "git show",
        "git branch",
        "docker ps",
        "docker images",
        "kubectl get",
    ]
)
_PREFIXES: Final = (
    "sudo", "time", "nohup", "uv run", "poetry run", "pipenv run", "pdm run", "hatch run", "bundle exec", "npx", "bunx",
    "python -m", "python3 -m", "uvx", "pipx run", "dotenv run", "xargs",
)  # fmt: skip
_SHELLS: Final = frozenset(("bash", "sh", "shell", "zsh", "console", "shell-session", "terminal", "fish"))
_FENCE = re.compile(r"\s*(```+|~~~+)\s*([\w-]*)")
_PROMPT = re.compile(r"\s*(?:[\w.@~:/()-]*[$%❯»]|>>>?) +(?=[\w./~])")
_INLINE = re.compile(r"(?<!`)`([^`\n]{2,200})`(?!`)")
_SEPARATOR = re.compile(r"(?<!\s)\s++(?:&&|\|\||;)\s++|;\s++")
_ASSIGNMENTS = re.compile(r"(?<!\S)(?>(?:[A-Z_][A-Z0-9_]*+=\S*+\s++)+)")
_FLAGS = re.compile(r"(?<!\S)(?>(?:-\S++\s++)+)")
_SUBCOMMAND = re.compile(r"[a-z][a-z0-9:_-]*\Z")
_PROGRAM = re.compile(r"[\w./~+-]+\Z")


@frozen
class CommandStep:
    """One command.

    Attributes:
        name: Its program and subcommand.
        text: The command as it was written.
        folder: The ``cd`` before it on its line, or an empty string.
    """

    name: str
    text: str
    folder: str = ""


def extract_steps(text: str) -> tuple[CommandStep, ...]:
    r"""Return the commands that a text shows, in order, without immediate repetitions.

    >>> [step.name for step in extract_steps("Run `git push origin main`, then:\n```bash\n$ make deploy ENV=prod\n```")]
    ['git push', 'make deploy']
    """
    return _without_repetitions(_steps(text[:MAX_COMMAND_TEXT]))


def command_steps(command: str) -> tuple[CommandStep, ...]:
    r"""Return the commands of a shell command, in order; none of one that holds a here-document.

    >>> [(step.folder, step.text) for step in command_steps("cd web && npm ci && ls\nmake")]
    [('cd web', 'npm ci'), ('', 'make')]
    """
    if "<<" in command or len(command) > MAX_COMMAND_TEXT:
        return ()
    return _without_repetitions(_shell_steps(command.split("\n"), shell=True))


def _without_repetitions(steps: Iterable[CommandStep]) -> tuple[CommandStep, ...]:
    found: list[CommandStep] = []
    for step in steps:
        if not found or found[-1].name != step.name:
            found.append(step)
    return tuple(found)


def _steps(text: str) -> Iterator[CommandStep]:
    fence, shell, lines = "", False, list[str]()
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence, shell, lines = mark[1], mark[2].lower() in _SHELLS, []
        elif fence and line.strip() == fence:
            yield from _shell_steps(lines, shell=shell)
            fence = ""
        elif fence:
            lines.append(line)
        elif _PROMPT.match(line):
            yield from _shell_steps([line], shell=False)
        else:
            for code in _INLINE.findall(line):
                yield from _line_steps(code, known=True)
    if fence:  # cut off before its end
        yield from _shell_steps(lines, shell=shell)


def _shell_steps(lines: Sequence[str], *, shell: bool) -> Iterator[CommandStep]:
    """Yield the commands after a prompt; without any prompt, all lines of a shell's fence."""
    prompts = [_PROMPT.match(line) for line in lines]
    every_line = shell and not any(prompts)
    command = ""
    for line, prompt in zip(lines, prompts, strict=True):
        if prompt or command or every_line:
            command += line[prompt.end() if prompt else 0 :].strip()
            if command.endswith("\\"):
                command = command[:-1].rstrip() + " "
            else:
                yield from _line_steps(command)
                command = ""


def _line_steps(line: str, *, known: bool = False) -> Iterator[CommandStep]:
    if line.startswith("#") or len(line) > 10 * MAX_COMMAND:
        return
    folder = ""
    for part in _SEPARATOR.split(line.split(" #")[0].strip()):
        if part.startswith("cd "):
            folder = part.strip()
        name = _command_name(part.split(" | ")[0].strip(), known=known)
        if name and len(part) <= MAX_COMMAND:
            yield CommandStep(name, part.strip(), folder)


def _command_name(command: str, *, known: bool) -> str:
    """Return program and subcommand, or an empty string if the command is skipped."""
    command = _ASSIGNMENTS.sub("", command, count=1)
    stripped = True
    while stripped:
        stripped = False
        for prefix in _PREFIXES:
            if command.startswith(prefix + " "):
                command, stripped = _FLAGS.sub("", command[len(prefix) :].lstrip(), count=1), True
    try:
        words = shlex.split(command)
    except ValueError:  # an open quote
        words = command.split()
    if not words or not _PROGRAM.match(words[0]) or words[0] in _READ_ONLY:
        return ""
    if known and (len(words) < 2 or words[0] not in _PROGRAMS):
        return ""
    program = PurePosixPath(words[0]).name
    if not any(map(str.isalpha, program)):
        return ""
    subcommand = _subcommand(program, [word for word in words[1:] if not word.startswith("-")])
    name = " ".join((program, *subcommand))
    return "" if name in _READ_ONLY_COMMANDS else name


def _subcommand(program: str, words: Sequence[str]) -> Sequence[str]:
    if not words:
        return ()
    if program in _INTERPRETERS:
        return (PurePosixPath(words[0]).name,)
    if program in _WITHOUT_SUBCOMMAND or not _SUBCOMMAND.match(words[0]):
        return ()
    nested = words[0] in _NESTED.get(program, ()) and len(words) > 1 and _SUBCOMMAND.match(words[1])
    return words[:2] if nested else words[:1]
