"""Promotion candidates: the facts and steps that a record's text states, with evidence.

Nothing is written here. A promoted memory of any tier but ``semantic`` is identified by key, project, tier and title,
so that a later run with more evidence replaces it.

A person's turn contributes what fact extraction learns from it (`facts.extractor`). A dated note contributes sentences
that stand alone: no questions, no tasks, nothing of a passing day, about something with a name. A command is read from
a shell's code fence, after a prompt, or between backticks if its first word is a known program; it is identified by
program and subcommand ("git push"). Commands that only look around ("ls", "git status") are no steps.

Reading a text costs a thousand times more than storing its gist, so gists are stored with their memory (`Reading`). A
gist holds numbers for words and names of steps, and depends on no other memory.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from pathlib import PurePosixPath
from typing import Final

from scrubjay.consolidation.context import chronological_key, ended_at, occurred_at
from scrubjay.consolidation.summary import verbatim_sentences
from scrubjay.facts.extractor import extract_facts
from scrubjay.models.dates import to_datetime
from scrubjay.models.records import PERSON_ROLES, EventTime, Record
from scrubjay.text.language import function_words
from scrubjay.text.normalize import fold, normalize_typography
from scrubjay.text.tokenizer import stem_word
from scrubjay.text.word_frequency import word_rank

SINGLE_SOURCE_CONFIDENCE: Final = 0.7
"""How sure one source makes anything; each further one halves the doubt that is left."""
MAX_EVIDENCE: Final = 100
"""Evidence that is listed: the doubt that is left after so many sources is not worth an edge each."""
_PRECISIONS: Final = ("second", "day", "month", "year")


@dataclass(frozen=True, slots=True)
class PromotedMemory:
    """A derived memory before it is written; its origin is ``derived``.

    Attributes:
        tier: ``crystal``, ``facet``, ``insight``, ``procedural`` or ``semantic``.
        text: All that is indexed of it.
        title: What it is called; an empty string for a ``semantic`` one, whose text is a sentence.
        tags: Those that at least half of its sources have, sorted.
        evidence: Ids of its sources, sorted, each with its share, 0..1; the shares come to 1.
        confidence: 0..1, from the number of independent sources.
        key: Visibility key of all of its sources.
        project: Project of all of them, else None.
        agent: Agent of all of them, else None.
        session: Conversation of all of them, else None.
        event: When what it tells of happened, or None.
    """

    tier: str
    text: str
    title: str
    tags: tuple[str, ...]
    evidence: tuple[tuple[str, float], ...]
    confidence: float
    key: str
    project: str | None
    agent: str | None
    session: str | None
    event: EventTime | None


def source_confidence(sources: int) -> float:
    """Return how sure a number of independent sources, from 1, makes what they all say.

    >>> [round(source_confidence(count_sources), 4) for count_sources in (1, 2, 3)]
    [0.7, 0.85, 0.925]
    """
    return 1 - (1 - SINGLE_SOURCE_CONFIDENCE) * 0.5 ** (sources - 1)


def source_key(record: Record) -> str:
    """Return what names the source that a record is of: two records of one source do not bear each other out.

    It is the conversation, else the document on its day (a journal of a year is many sources), else the day.
    """
    if record.session is not None:
        return f"session {record.session}"
    day = (
        to_datetime(occurred_at(record)).date().isoformat()
        if record.event is not None or record.place is None
        else ""
    )
    return (
        f"document {record.place.source} {record.place.path} {day}"
        if record.place is not None
        else f"day {day}"
    )


def stable_number(text: str) -> int:
    """Return a number of 64 bits for a text, alike in every process."""
    return int.from_bytes(
        hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big"
    )


def count_sources(records: Collection[Record]) -> int:
    """Return how many independent sources some records are of."""
    return len({source_key(record) for record in records})


def is_spoken(record: Record) -> bool:
    """Tell whether a record is a turn of the person whose memory this is."""
    return record.session is not None and record.role in PERSON_ROLES and record.origin == "owner"


def is_usable(record: Record) -> bool:
    """Tell whether anything may be drawn from a record: not from strangers' words, nor from what is no longer so."""
    return record.origin != "untrusted" and record.status != "superseded"


def promoted_memory(
    tier: str,
    text: str,
    title: str,
    records: Sequence[Record],
    event: EventTime | None,
    shares: Sequence[float] = (),
) -> PromotedMemory:
    """Return a memory drawn from records of one visibility key.

    Args:
        tier: Its tier.
        text: Its text.
        title: Its title.
        records: Its sources, at least one, each once, in any order; more than ``MAX_EVIDENCE`` are counted, but only
            those of the greatest share, else the latest, are listed.
        event: When what it tells of happened.
        shares: What each source brought, above zero, in the order of the records; empty if all brought as much.
    """
    weights = dict(zip((record.id for record in records), shares or [1.0] * len(records), strict=True))
    listed = sorted(records, key=chronological_key, reverse=True)
    listed = sorted(listed, key=lambda record: -weights[record.id])[:MAX_EVIDENCE]
    whole = sum(sorted(weights[record.id] for record in listed))
    counts = Counter(tag for record in records for tag in set(record.tags))
    return PromotedMemory(
        tier,
        text,
        title,
        tuple(sorted(tag for tag, count in counts.items() if 2 * count >= len(records))),
        tuple(sorted((record.id, weights[record.id] / whole) for record in listed)),
        source_confidence(count_sources(records)),
        records[0].key,
        _agreed([record.project for record in records]),
        _agreed([record.agent for record in records]),
        _agreed([record.session for record in records]),
        event,
    )


def time_span(records: Sequence[Record]) -> EventTime | None:
    """Return the time from the first of some records to the last, as exact as the least exact; None if one has none."""
    events = [record.event for record in records if record.event is not None]
    if len(events) < len(records):
        return None
    coarsest = max((event.precision for event in events), key=_PRECISIONS.index)
    return EventTime(min(map(occurred_at, records)), max(map(ended_at, records)), coarsest)


def _agreed(values: Collection[str | None]) -> str | None:
    found = set(values)
    return found.pop() if len(found) == 1 else None


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


KNOWN: Final = _set(
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
PLAIN: Final = _set(
    """cp mv rm mkdir touch chmod chown ln curl wget ssh scp rsync psql pg_dump pg_restore createdb
    dropdb mysql mysqldump sqlite3 pytest tar zip unzip gzip ffmpeg pandoc openssl gpg node java javac
    jest tsc mongosh mongodump dd mount ssh-keygen crontab ansible-playbook redis-cli k9s useradd"""
)
"""Programs whose first word is what they work on, not what they do."""
SCRIPTS: Final = _set("python python3 node bash sh zsh ruby perl php deno ansible-playbook")
LOOKING: Final = _set(
    """cd ls pwd cat echo head tail grep egrep rg ag find which whereis clear less more man history wc
    tree file stat sleep true false printf sed awk diff test type whoami date env export source set unset
    alias exit id du df ps top htop jobs read sort uniq cut tr xargs tee nano vim vi emacs code open if
    then else fi for do done while case esac function return in ping man help"""
)
ATTRIBUTES: Final = _set(
    """name nickname surname username handle pronouns birthday anniversary address email phone timezone
    zone job title role employer diet hometown nationality major language hobby instrument colour color
    editor shell terminal keyboard theme font breed blood allergy port host url branch database framework
    region version licence license"""
)
RANKS: Final = _set("only best main first last next biggest problem issue question thing guess")
NOBODY: Final = _set(
    """it this that these those he she they you there here which who what everyone everybody someone
    somebody nobody people one all both each nothing something anything everything and but so also or if
    then because please let"""
)
ASKING: Final = _set(
    """please could would can let's lets want need needs help run use using try again go ahead get make
    thing things stuff trying thinking looking going wondering thanks thank ok okay hey hi now next also
    just sure yes no"""
)
NESTED: Final = {
    "aws": _set("s3 ecr ecs lambda"),
    "bun": _set("run"),
    "cargo": _set("install"),
    "docker": _set("compose image container volume"),
    "fly": _set("secrets"),
    "gcloud": _set("run compute"),
    "gh": _set("pr release workflow issue"),
    "git": _set("remote submodule stash"),
    "helm": _set("repo"),
    "kubectl": _set("rollout config"),
    "npm": _set("run"),
    "pnpm": _set("run"),
    "terraform": _set("workspace"),
    "uv": _set("pip"),
    "yarn": _set("run"),
}
"""Programs of which it takes two words to know what they do, after these first ones."""
KIN: Final = _set(
    """mother father mom mum dad daughter son child children kid kids parent parents sister sisters
    brother brothers sibling siblings wife husband spouse partner fiance girlfriend boyfriend twin twins
    baby toddler grandmother grandfather grandma grandpa aunt uncle cousin cousins niece nephew family
    roommate flatmate neighbour neighbor friend friends boss manager colleague colleagues coworker dog
    dogs cat cats puppy kitten horse rabbit"""
)
"""People and animals: who "is" something bears a name, and is of no value otherwise."""


KINDS: Final = ("decision", "fact")
"""Kinds of statements that are facts; the others are lessons and procedures."""
MAX_FACT_TEXT: Final = 50_000
"""Characters of a record that are read."""
MIN_FACT_WORDS: Final = 4
MAX_FACT_WORDS: Final = 40
RARE_RANK: Final = 4_000
"""Rank in English of a word that names what a sentence is about, where there is no name in it."""
KEYED: Final = 3
"""Words that a sentence is looked up by, two at a time: the rarest ones. A sentence near to it shares two of them."""

_WORD = re.compile(r"\w+(?:[.'/:_-]\w+)*")
_SAYS = re.compile(
    r"\b(?:is|are|was|were|has|have|must|cannot|can't|can|needs|requires|costs|takes|supports|stores|listens|expires|runs|"
    r"uses|use|lives|works|owns|contains|holds|serves|deploys|run|live|need|require|moved|chose|decided|switched|agreed|replaced|returns|means|"
    r"doesn't|does not|don't|do not|allows|accepts|belongs|depends|starts|ends|opens|closes|reports|handles|keeps)\b",
    re.IGNORECASE,
)
_LOOSE = re.compile(
    r"\s*[\"'(*_]*(?:it|its|it's|this|that|that's|these|those|they|he|she|his|her|their|there|here|you|your|which|who|"
    r"what|why|how|when|where|if|let|let's|please|maybe|perhaps|and|but|so|or|then|because|also|however|todo|fix|check|"
    r"ask|call|remember)\b",
    re.IGNORECASE,
)
"""How a sentence begins that does not stand by itself, or is a task."""
_PASSING = re.compile(
    r"\b(?:today|tonight|yesterday|tomorrow|now|currently|recently|lately|initially|soon|so far|just|still|again|"
    r"actually|(?:this|last|next) (?:week|weekend|month|morning|night|afternoon|evening|[a-z]{3,6}day)|"
    r"(?:week|month|day|year)s? ago|for (?:a while|weeks|months)|ended up|planning|getting|craving|experiencing|feel|"
    r"feeling|maybe|probably|perhaps|might|seems?|tired|busy)\b",
    re.IGNORECASE,
)
_NAMED = re.compile(r"(?<=.)[\s\"'(](?:[A-HJ-Z]|[^\s\d\"'(]*+\d|`)|\w[/._:]\w", re.DOTALL)
_JOINED = re.compile(r"(?:and|but|so|or|because|then)\b", re.IGNORECASE)
_OWN = re.compile(r"\s*(?:i|i'm|i've|we|we're|we've|my|our|me)\b", re.IGNORECASE)


def fact_sentences(record: Record) -> Iterator[str]:
    """Yield the sentences of a record that could be a fact, as they stand there, white space made even."""
    if record.tier != "observation" or not is_usable(record):
        return
    if is_spoken(record):
        stated = (said.text for said in extract_facts(record.content) if said.kind in KINDS)
        yield from (
            text for text in stated if not (_PASSING.search(text) or _JOINED.match(text)) and _tells(text)
        )
    elif is_dated_note(record):
        yield from (text for text in verbatim_sentences(record.content[:MAX_FACT_TEXT]) if _states(text))


def is_dated_note(record: Record) -> bool:
    """Tell whether a record is of a dated note."""
    return record.session is None and record.event is not None and record.origin in ("owner", "agent")


def content_words(text: str) -> list[str]:
    """Return the words of a text in order, folded, without those that any text has."""
    said = ((word, word.partition("'")[0]) for word in _WORD.findall(fold(normalize_typography(text))))
    return [
        word for word, bare in said if bare not in function_words("en") and (len(bare) > 1 or bare.isdigit())
    ]


def topic_stems(text: str) -> frozenset[str]:
    """Return what a sentence speaks of: its words by stem, without those that any sentence has."""
    return frozenset(map(_is_told, content_words(text)))


def lookup_pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Return the pairs of words that a sentence is looked up by.

    A number is no key while there are words, so that what says another number of the same is found too.
    """
    rarest = sorted(
        set(content_words(text)), key=lambda word: (any(map(str.isdigit, word)), -word_rank(word), word)
    )
    first = [*dict.fromkeys(map(_is_told, rarest))][:KEYED]
    return tuple((min(pair), max(pair)) for pair in combinations(first * 2 if len(first) == 1 else first, 2))


def plain_words(text: str) -> str:
    """Return a sentence as its words alone: what differs in marks and capitals only is the same sentence."""
    return " ".join(_WORD.findall(fold(normalize_typography(text))))


@lru_cache(65_536)
def _is_told(word: str) -> str:
    return stem_word(word, "en")


def _tells(text: str) -> bool:
    """Tell whether a sentence names something, or says a rare word: "I'm a huge fan" is of everything."""
    return _NAMED.search(text) is not None or max(map(word_rank, content_words(text)), default=0) >= RARE_RANK


def _states(text: str) -> bool:
    count = len(text.split())
    if (
        not MIN_FACT_WORDS <= count <= MAX_FACT_WORDS
        or "?" in text
        or _LOOSE.match(text)
        or _PASSING.search(text)
    ):
        return False
    if _OWN.match(text):
        return any(said.kind in KINDS for said in extract_facts(text))
    return _SAYS.search(text) is not None and _tells(text)


MAX_COMMAND_TEXT: Final = 200_000
"""Characters of a record that are read."""
MAX_COMMAND: Final = 200
"""Characters of a step."""

_SHELLS: Final = frozenset(("bash", "sh", "shell", "zsh", "console", "shell-session", "terminal", "fish"))
_FENCE = re.compile(r"\s*(```+|~~~+)\s*([\w-]*)")
_PROMPT = re.compile(r"\s*(?:[\w.@~:/()-]*[$%❯»]|>>>?) +(?=[\w./~])")
_INLINE = re.compile(r"(?<!`)`([^`\n]{2,200})`(?!`)")
_SPLIT = re.compile(r"(?<!\s)\s++(?:&&|\|\||;)\s++|;\s++")
_SETTING = re.compile(r"(?<!\S)(?>(?:[A-Z_][A-Z0-9_]*+=\S*+\s++)+)")
_FLAGS = re.compile(r"(?<!\S)(?>(?:-\S++\s++)+)")
_COMMAND_WORD = re.compile(r"[a-z][a-z0-9:_-]*\Z")
_PROGRAM = re.compile(r"[\w./~+-]+\Z")
_BEFORE: Final = (
    "sudo", "time", "nohup", "uv run", "poetry run", "pipenv run", "pdm run", "hatch run", "bundle exec", "npx", "bunx",
    "python -m", "python3 -m", "uvx", "pipx run", "dotenv run", "xargs",
)  # fmt: skip
_LOOKS: Final = frozenset(
    (
        "git status",
        "git diff",
        "git log",
        "git show",
        "git branch",
        "docker ps",
        "docker images",
        "kubectl get",
    )
)


@dataclass(frozen=True, slots=True)
class CommandStep:
    """One thing done.

    Attributes:
        name: What it is known again by.
        text: As it stands there.
    """

    name: str
    text: str


def extract_steps(text: str) -> tuple[CommandStep, ...]:
    r"""Return the steps that a text shows, in order; the same one twice in a row is one.

    >>> [step.name for step in extract_steps("Run `git push origin main`, then:\n```bash\n$ make deploy ENV=prod\n```")]
    ['git push', 'make deploy']
    """
    found: list[CommandStep] = []
    for step in _steps(text[:MAX_COMMAND_TEXT]):
        if not found or found[-1].name != step.name:
            found.append(step)
    return tuple(found)


def _steps(text: str) -> Iterator[CommandStep]:
    fence, held = "", list[str]()
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence, shell, held = mark[1], mark[2].lower() in _SHELLS, []
        elif fence and line.strip() == fence:
            yield from _of_shell(held, shell=shell)
            fence = ""
        elif fence:
            held.append(line)
        elif _PROMPT.match(line):
            yield from _of_shell([line], shell=False)
        else:
            yield from (step for code in _INLINE.findall(line) for step in _of_line(code, known=True))
    if fence:  # cut off before its end
        yield from _of_shell(held, shell=shell)


def _of_shell(lines: list[str], *, shell: bool) -> Iterator[CommandStep]:
    """Yield the commands among lines: those after a prompt; where there is none, all lines of a shell's fence."""
    prompts = [_PROMPT.match(line) for line in lines]
    prompted = any(prompts)
    held = ""
    for line, prompt in zip(lines, prompts, strict=True):
        if prompt or held or (shell and not prompted):
            held += line[prompt.end() if prompt else 0 :].strip()
            if held.endswith("\\"):
                held = held[:-1].rstrip() + " "
            else:
                yield from _of_line(held)
                held = ""


def _of_line(line: str, *, known: bool = False) -> Iterator[CommandStep]:
    if line.startswith("#") or len(line) > 10 * MAX_COMMAND:
        return
    for part in _SPLIT.split(line.split(" #")[0].strip()):
        name = _name(part.split(" | ")[0].strip(), known)
        if name and len(part) <= MAX_COMMAND:
            yield CommandStep(name, part.strip())


def _name(command: str, known: bool) -> str:
    """Return the program and what it is told to do; an empty string for what is no step."""
    command = _SETTING.sub("", command, count=1)
    trimmed = True
    while trimmed:
        trimmed = False
        for prefix in _BEFORE:
            if command.startswith(prefix + " "):
                command, trimmed = _FLAGS.sub("", command[len(prefix) :].lstrip(), count=1), True
    try:
        words = shlex.split(command)
    except ValueError:  # an open quote: the words are as they stand
        words = command.split()
    if not words or not _PROGRAM.match(words[0]) or words[0] in LOOKING:
        return ""
    program = PurePosixPath(words[0]).name
    if not any(map(str.isalpha, program)) or (known and (len(words) < 2 or words[0] not in KNOWN)):
        return ""
    name = " ".join(
        (program, *_instructed(program, [word for word in words[1:] if not word.startswith("-")]))
    )
    return "" if name in _LOOKS else name


def _instructed(program: str, words: list[str]) -> tuple[str, ...]:
    if not words or (program in PLAIN and program not in SCRIPTS):
        return ()
    if program in SCRIPTS:
        return (PurePosixPath(words[0]).name,)
    if not _COMMAND_WORD.match(words[0]):
        return ()
    if words[0] in NESTED.get(program, ()) and len(words) > 1 and _COMMAND_WORD.match(words[1]):
        return (words[0], words[1])
    return (words[0],)


GIST_RULES: Final = "4"
"""Version of the rules: raise it when `fact_sentences`, `extract_facts` or `extract_steps` find something else, so that
every text is read again."""

Sentence = tuple[bool, tuple[int, ...]]
"""Whether somebody speaks of themselves, and the numbers of the pairs of words that a sentence is looked up by."""


@dataclass(frozen=True, slots=True)
class Gist:
    """What promotion asks of one text.

    Attributes:
        said: Its sentences that could be facts.
        steps: Names of the steps that it shows, in order.
    """

    said: tuple[Sentence, ...] = ()
    steps: tuple[str, ...] = ()


EMPTY_GIST: Final = Gist()


def compute_gist(record: Record) -> Gist:
    """Return what promotion asks of a record's text, whatever its status is now.

    >>> compute_gist(Record("obs_0", "observation", "Run `git push origin`.", "", "", "", "", 0, 0, session="s")).steps
    ('git push',)
    """
    match _read_as(record):
        case "":
            return EMPTY_GIST
        case "shown":
            return Gist(steps=tuple(step.name for step in extract_steps(record.content)))
    active = replace(record, status="active")
    return Gist(tuple(sentence_gist(text) for text in fact_sentences(active)))


def sentence_gist(text: str) -> Sentence:
    """Return what a sentence is looked up by."""
    return (
        text[:2].lower() in ("i ", "i'", "my"),
        tuple(stable_number("\x1f".join(pair)) for pair in lookup_pairs(text)),
    )


def lookup_numbers(record: Record, said: Sentence) -> Iterator[int]:
    """Yield the numbers under which a record's sentence is found: who sees it, what of, and a pair of its words.

    "The server" is another one in each project; somebody who speaks of themselves is always the same.
    """
    ground = stable_number(f"{record.key}\x1f{project_of(record, said)}")
    yield from (pair ^ ground for pair in said[1])


def project_of(record: Record, said: Sentence) -> str:
    """Return the project that a record's sentence is about."""
    return "" if said[0] else record.project or ""


def gist_fingerprint(record: Record) -> str:
    """Return what a record's gist was read from, or an empty string where there is nothing to read."""
    read_as = _read_as(record)
    if not read_as:
        return ""
    return f"{stable_number(f'{GIST_RULES} {read_as} {record.content_hash}'):016x}"


def _read_as(record: Record) -> str:
    """Return how a record is read: for what a person said or noted, for what was shown being done, or not at all."""
    if record.tier != "observation":
        return ""
    if is_spoken(record):
        return "said"
    if record.session is not None:
        return "shown" if record.origin != "derived" else ""
    return "noted" if is_dated_note(record) else ""


def serialize_gist(one: Gist) -> bytes:
    """Return a gist as it is kept.

    >>> said = Gist(((True, (1, 2)), (False, ())), ("git push",))
    >>> parse_gist(serialize_gist(said)) == said, parse_gist(serialize_gist(EMPTY_GIST)) == EMPTY_GIST
    (True, True)
    """
    return json.dumps([one.said, one.steps]).encode() if one != EMPTY_GIST else b""


def parse_gist(data: bytes) -> Gist:
    """Return the gist that was kept."""
    if not data:
        return EMPTY_GIST
    said, steps = json.loads(data)
    return Gist(tuple((own, tuple(pairs)) for own, pairs in said), tuple(steps))
