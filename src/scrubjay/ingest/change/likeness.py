"""Likeness: words that say the same, and words that say the opposite.

One table. A line's words are of one meaning; behind a bar stand the words of the opposite one. A word is read as
the first of its line, and one from behind the bar turns the statement round, as "not" would. So "forbidden", "not
allowed" and "banned" are one thing to say, and "allowed" is its denial.
"""

from __future__ import annotations

from typing import Final

_LINES: Final = """
allow permit let authorise authorize able possible fine welcome ok | forbid forbidden ban prohibit disallow impossible deny disapprove
public | private
enable activate active on-state | disable deactivate inactive off switched-off
like love enjoy adore fond keen fan | hate dislike detest loathe despise
open reopen | close shut closed
lock | unlock
accept approve | reject decline refuse
safe harmless | dangerous hazardous harmful
legal lawful | illegal
true correct right-answer | false incorrect
full | empty
hot | cold
fast quick speedy rapid | slow sluggish
easy simple | difficult hard tricky
writable | read-only readonly
working functional operational functioning | broken defunct busted down
common usual | rare unusual uncommon
cheap inexpensive affordable | expensive pricey costly
big large huge | small little tiny
tall | short
old elder | young
long | brief
strong | weak
loud noisy | quiet silent
clean tidy | dirty messy filthy polluted contaminated
parallel concurrent concurrently | sequential sequentially serial serially
dry | wet
healthy well-being | ill sick unwell
early | late
alive | dead
awake | asleep
present | absent
visible shown | hidden invisible
free-of-charge gratis | paid-for
mandatory compulsory obligatory required must | optional voluntary
include contain cover | exclude omit
succeed pass success | fail failure
win | lose
agree | disagree
trust | distrust
include-in | leave-out
synchronous sync | asynchronous async
mutable | immutable
manual hand | automatic automated automatically auto
online | offline
remote | onsite on-site
temporary | permanent
married | single-again divorced
indoor inside indoors | outdoor outside outdoors
above | below
before | after
ascending | descending
import | export
secure | insecure
encrypted | plaintext
good great excellent | bad terrible awful poor
happy glad | unhappy sad
stable reliable | unstable flaky unreliable
vegetarian veggie
light | dark
major | minor
generous | stingy miserly
flexible | rigid inflexible
friendly kind-hearted | unfriendly hostile
polite | rude
rich wealthy | broke penniless
thick | thin
wide broad | narrow
deep | shallow
heavy | lightweight
smooth | rough
sharp | blunt
sweet | bitter sour
fresh | stale
raw | cooked
soft | firm
calm relaxed | nervous anxious
busy | idle
lazy | hardworking diligent
clever smart intelligent | stupid dumb
modern | outdated old-fashioned
guilty | innocent
near nearby | far
add | subtract
attach | detach
append | prepend
lend | borrow
remember | forget
admit | deny-that
install | uninstall
show-up | hide
strict | lenient lax
full-time fulltime | part-time parttime
vertical | horizontal
internal | external
urban | rural
natural | artificial
real genuine authentic | fake made-up synthetic fictional fabricated
introvert | extrovert
lefthanded | righthanded
optimistic | pessimistic
profitable | unprofitable loss-making
stateful | stateless
static | dynamic
confirm | refute
reversible | irreversible
crowded | deserted
spicy | mild
noisy | quiet
popular | unpopular
even-numbered | odd-numbered
wireless | wired cabled
vacant free-room | occupied
necessary essential | unnecessary superfluous
vegan-friendly | meaty
centralised centralized | decentralised decentralized
waterproof watertight | leaky
sober | drunk
minimum-of least
pregnant | childless
keep-on | give-away
alone | together
in-stock available obtainable | sold-out out-of-stock unavailable
raise-up | lower-down
buy purchase
begin start commence kick-off
finish end conclude
child kid
car automobile
phone telephone mobile cell cellphone
laptop notebook-computer
film movie
tv television telly
bicycle bike
live reside dwell
work employ employed
doctor physician gp
mother mum mom
father dad
grandmother grandma gran
grandfather grandpa
physician-practice surgery
flat apartment
fridge refrigerator
holiday vacation
shop store-front
repair fix mend
make create produce
build construct
call name title
supermarket grocery
picture photo photograph image
database db
repository repo
library lib
configuration config settings setting
application app
environment env
directory folder
function func fn
parameter param argument arg
administrator admin
authentication auth
documentation docs documents
message msg
kubernetes k8s
javascript js
typescript ts
postgresql postgres pg
python py
maximum max
minimum min
average mean avg
number count no.
temperature temp
information info
minute-book minutes-of
favourite favorite preferred
colour color
grey gray
practise practice
organise organize
centre center
theatre theater
meeting mtg
appointment appt
department dept
manager mgr
engineer eng developer dev-person programmer
team group-of
company firm
salary pay wage
customer client
error fault
request req
response reply answer
delete remove erase
send submit
receive get-in
show display
choose pick select opt
need require
help assist
try attempt
talk speak
tell inform
inhabit occupy
birthday bday born birth
lunch midday-meal
dinner supper
autumn fall-season
noon midday
allergic allergy allergies
vacuum hoover
spouse partner
cup mug
sofa couch
garden yard
rubbish trash garbage
lorry truck
petrol gas gasoline
jumper sweater pullover
soccer football
gym fitness-studio
prefer rather favour favor
everyday daily
fortnightly biweekly
store save persist
start-time starting-time
run execute launch
port porting
password pwd passphrase
limit cap
timeout time-out
lasts last duration take-time
hold contain-up accommodate
often frequently regularly
sometimes occasionally
hire recruit employ-new
teach instruct
lead head run-by
own possess
cost price priced fee
reach contact
commute travel-to-work
drive driving
cook prepare
wear put-on
relocate move
university uni college
maths math mathematics
television-set set-top
new-york nyc ny
los-angeles la l.a
san-francisco sf
united-states us usa u.s u.s.a
united-kingdom uk u.k britain
pull-request pr prs
continuous-integration ci
machine-learning ml
artificial-intelligence ai
end-of-day eod
tests-suite test-suite
weekly week-by-week
"""

PHRASES: Final = {
    "no longer": "no-longer", "not anymore": "no-longer", "used to": "used-to", "going to": "going-to",
    "gave up": "gave-up", "give up": "gave-up", "as well": "as-well", "new york city": "nyc", "new york": "nyc",
    "los angeles": "la", "san francisco": "sf", "united states": "us", "united kingdom": "uk", "pull request": "pr",
    "pull requests": "pr", "end of day": "eod", "kick off": "kick-off", "kicks off": "begin", "takes place": "is",
    "take place": "be", "took place": "was", "broke up": "broke-up", "broken up": "broke-up", "shut down": "shut-down",
    "closed down": "closed-down", "not only": "as-well", "not just": "as-well", "right now": "now", "at the moment": "now",
    "these days": "now", "from now on": "now", "as of": "now", "going forward": "now", "in fact": "actually",
    "turns out": "actually", "by the way": "btw", "for free": "free-of-charge", "free of charge": "free-of-charge",
    "about to": "about-to", "brought forward": "brought-forward", "instead of": "instead-of", "rather than": "instead-of",
    "as opposed to": "instead-of", "in place of": "instead-of", "no more": "no-longer", "switched off": "off", "switched on": "on-state",
    "turned off": "off", "turned on": "on-state", "no one": "nobody", "sign in": "login", "log in": "login",
    "logging in": "login", "phased out": "phased-out", "of course": "btw", "a lot": "btw", "out of": "from",
    "continuous integration": "ci", "machine learning": "ml", "artificial intelligence": "ai", "called off": "cancelled",
    "every other week": "fortnightly", "every two weeks": "fortnightly", "every day": "daily", "each day": "daily", "as of now": "now",
    "per cent": "percent", "due to": "because", "responsible for": "lead", "in charge of": "lead", "for now": "btw",
    "time zone": "timezone", "e mail": "email", "wi fi": "wifi", "set up": "setup", "such as": "btw", "doctor's": "doctor",
    "is able": "can", "are able": "can", "has to": "must", "have to": "must", "had to": "must", "needs to": "must", "need to": "must",
    "because of": "because", "out of order": "broken", "out of service": "broken", "out of stock": "sold-out", "sold out": "sold-out", "in stock": "in-stock", "made up": "made-up", "old fashioned": "old-fashioned", "full time": "full-time", "part time": "part-time", "left handed": "lefthanded", "right handed": "righthanded", "read only": "read-only", "run out": "expire", "runs out": "expire", "ran out": "expired", "is up": "working", "is down": "down", "was down": "down", "is back": "returned", "are back": "returned", "'s back": "returned", "no more": "no-longer", "looking for": "awaiting", "looking to": "awaiting", "waiting for": "awaiting", "waiting on": "awaiting", "saving up": "awaiting", "saving for": "awaiting", "out for": "away",  "supposed to": "supposed-to", "up to": "max", "at most": "max", "free of": "without", "free from": "without", "no longer than": "max", "no larger than": "max", "no bigger than": "max", "not more than": "max", "not exceed": "max", "no later than": "max", "no less than": "min", "no fewer than": "min", "not less than": "min", "or newer": "min", "or later": "min", "or higher": "min", "and up": "min", "can not stand": "hate", "can not bear": "hate", "nobody but": "only", "nothing but": "only", "none but": "only", "any longer": "anymore", "any more": "anymore", "not yet": "not-yet", "no more than": "max", "at least": "min",
}  # fmt: skip
"""Several words that do the work of one."""

_OPENINGS: dict[str, list[tuple[tuple[str, ...], str]]] = {}
for _phrase, _word in PHRASES.items():
    _first, *_rest = _phrase.split()
    _OPENINGS.setdefault(_first, []).append((tuple(_rest), _word))
OPENINGS: Final = {first: sorted(rest, key=lambda one: -len(one[0])) for first, rest in _OPENINGS.items()}
"""First word of a phrase -> what may follow, longest first, and the word it makes."""


def _read() -> dict[str, tuple[str, bool]]:
    table: dict[str, tuple[str, bool]] = {}
    for line in _LINES.strip().splitlines():
        same, _, opposite = line.partition("|")
        first = same.split()[0]
        table |= {word: (first, False) for word in same.split() if word not in table}
        table |= {word: (first, True) for word in opposite.split() if word not in table}
    return table


LIKE: Final = _read()
"""Word -> the word it is read as, and whether it says the opposite."""

SETTINGS: Final = {
    word: (kind, words.split()[0])
    for kind, lines in (
        ("stage", ("production prod live-system", "staging stage preprod", "development dev", "test testing", "qa", "canary", "preview", "sandbox", "local localhost")),
        ("system", ("linux ubuntu debian fedora", "macos mac osx", "windows", "android", "ios", "freebsd")),
        ("side", ("left", "right", "front", "back rear", "upper", "lower", "upstairs", "downstairs", "inner", "outer", "top", "bottom", "north northern", "south southern", "east eastern", "west western")),
        ("daypart", ("morning mornings", "afternoon afternoons", "evening evenings", "night nights", "weekday weekdays", "weekend weekends")),
        ("season", ("summer summers", "winter winters", "spring", "autumn")),
        ("end", ("client-side", "server-side", "frontend front-end", "backend back-end")),
        ("way", ("read reads", "write writes", "input", "output", "incoming inbound", "outgoing outbound", "minimum min", "maximum max")),
    )
    for words in lines
    for word in words.split()
}  # fmt: skip
"""Word -> the kind of circumstance and its name in one spelling: the same thing elsewhere is another thing."""

_KINDS: Final = (
    "red blue green yellow orange purple pink brown black white grey gray beige turquoise teal navy silver gold",
    "small medium large xl", "walk drive cycle bike bus tram train metro subway car ferri scooter", "daily weekly monthly yearly hourly nightly quarterly fortnightly mornings evenings weekdays weekends",
    "always usually often sometimes", "vegetarian vegan pescatarian omnivore", "single engaged married divorced widowed",
    "beginner intermediate advanced expert", "pending draft approved merged closed open shipped paid",
)  # fmt: skip
KINDS: Final = {word: at for at, words in enumerate(_KINDS) for word in words.split()}
"""Words that exclude each other: what is red is not blue."""
