"""Signs: what in a clause speaks for or against a lasting statement.

They are weighed (``weighed``): who is spoken of, whether a name, number or time stands in it, whether it speaks of
the talk itself. Each sign is one bit, and most come from single words, so a clause is looked at once.
"""

from __future__ import annotations

from typing import Final

from scrubjay.ingest.statements import things, words
from scrubjay.ingest.statements.words import bag

ORDERS: Final = bag(
    """make write give show tell help explain find fix add change use create list summarize translate rewrite
    please can
    could let's lets try check look suggest recommend generate draft convert update remove delete run put
    keep turn move
    set rename continue stop do don't go sort compare describe review refactor implement build design
    plan format include
    avoid ignore read open send call take think imagine shorten simplify sum bring walk guide cut pick drop
    skip leave"""
)
_ABROAD: Final = {
    "i": bag(
        "ich je j'ai j'habite j'utilise yo eu vivo trabajo soy tengo moro trabalho sou tenho me m'appelle llamo chamo"
    ),
    "kin": bag(
        """mutter vater mama papa schwester bruder sohn tochter frau mann freundin freund kinder kind eltern oma opa
        hund katze mère père sœur frère fils fille femme mari enfants chien chat madre padre hermana hermano hijo hija
        hijos esposa marido abuela abuelo perro gato mãe pai irmã irmão filho filha filhos mulher cão"""
    ),
    "trait": bag(
        """allergisch vegetarier vegetarierin veganer veganerin schwanger verheiratet diabetiker zöliakie allergique
        végétarien végétarienne végane enceinte diabétique alérgico alérgica vegetariano vegetariana vegano vegana
        celíaco celíaca diabético diabética"""
    ),
    "stays": bag(
        """wohne wohnt wohnen lebe lebt leben arbeite arbeitet heiße heißt spreche läuft nutzen verwenden habite
        habitons j'habite vit travaille m'appelle s'appelle parle tourne utilisons vivo vive vivimos trabajo trabaja
        llamo llama hablo corre usamos moro mora trabalho trabalha chamo chama falo seit depuis desde gekauft acheté
        compré comprei"""
    ),
    "is": bag(
        "bin ist sind suis est sommes soy es somos sou é somos hat habe haben ai j'ai a avons tengo tiene tenho tem"
    ),
}
"""Words of German, French, Spanish and Portuguese that stand for a sign."""
_SUBJECTS: Final = {
    "i": bag("i im ive i'm i've i'd i'll") | _ABROAD["i"],
    "we": bag("we we're we've we'd we'll wir nous on usamos"),
    "my": bag("my mein meine meinen meiner mon ma mes mi mis meu minha meus minhas"),
    "our": bag("our unser unsere notre nos nuestro nuestra nosso nossa"),
    "the": bag("the"),
    "he": bag("he she his her he's she's"),
    "they": bag("they their they're they've"),
    "it": bag("it that this these those there it's that's there's its thats"),
    "you": bag("you your you're you've you'll"),
    "a": bag("a an"),
    "asks": words.ASKING | bag("if when whenever"),
    "order": ORDERS
    | bag(
        """rebuild regenerate sketch prove swap replace cancel book recolour recolor reformat restructure reorder
        retry rerun rephrase reword revise redo resend recompute recalculate reduce remind repeat reply answer
        respond apply adapt adjust align append arrange assign attach calculate categorise categorize choose
        combine comment complete compute condense correct count critique debug define deploy derive diagnose
        discuss divide double-check edit elaborate estimate evaluate expand extend extract fetch figure fill
        filter finish flag follow group guess highlight improve insert install integrate invent judge lay log
        lower mail merge migrate modify name optimise optimize order organise organize outline paraphrase parse
        pass paste pitch plot polish post predict prepare print propose provide push quote raise rank rate
        research restart return roast schedule score search simulate sketch solve spell split squeeze state
        structure submit test tidy title transcribe trim try turn type verify wrap"""
    ),
}
_CLASSES: Final = {
    "moment": things.MOMENT,
    "at hand": things.AT_HAND,
    "passes": words.PASSING,
    "talks": words.TALKED,
    "fault": bag(
        """error errors bug bugs fails fail failed failing crash crashes crashed broken stuck throws throw
    traceback 404 403
        401 500 502 503 getting trouble flickers recognized exception warning warnings timeout"""
    ),
    "others": bag(
        """users people customers author authors paper study article students company countries world government model
        function method everyone someone somebody they them"""
    ),
    "trait": words.TRAITS
    | things.LASTING_HAD
    | bag("allergy allergies stroke surgery pronouns diagnosed dyslexic")
    | _ABROAD["trait"],
    "kin": things.KIN | _ABROAD["kin"],
    "own": things.OWN_THINGS,
    "world": things.WORLD,
    "now": bag("now today tonight yesterday tomorrow currently still yet again just already keeps"),
    "appraises": bag(
        """great good bad nice cool love awesome perfect terrible weird wrong broken slow funny better worse
    fine ok okay
        thanks thank sorry amazing beautiful ugly stupid annoying best worst hard easy difficult really very so
    too just"""
    ),
    "denies": words.NEGATIVE,
    "wish": bag("i'd we'd i'll let realize realise knew aware managed"),
    "coming": bag("coming will going gonna i'll we'll about soon"),
    "begs": bag("please pls"),
    "habit": words.HABITUAL,
    "time": bag(
        """since year years month months every each always never usually ago weekly daily anymore next last spring
        summer autumn winter january february march april june july august september october november
        december monday tuesday
        wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays"""
    ),
    "of today": bag(
        "tonight today tomorrow rn atm temporarily moment morning afternoon evening minute second"
    ),
    "rather": bag("instead rather over only everywhere throughout whenever anything everything"),
    "you": bag("you your yours you're you've you'll u ur yourself"),
    "me": bag("i we my our i'm i've we're we've me us mine ours i'd i'll we'll im ive myself"),
    "here": bag("this that these those here it there"),
    "the": bag("the"),
    "a": bag("a an"),
    "is": bag("is are isn't aren't he's she's they're we're i'm it's") | (_ABROAD["is"] - {"a"}),
    "was": bag("was were"),
    "counts": words.NUMBERS,
    "from": bag("from by until since via"),
    "for": bag("for"),
    "in": bag("in at on"),
    "to": bag("to"),
    "with": bag("with"),
    "and": bag("and"),
    "because": bag("because since so as cause cuz"),
    "if": bag("if when whenever unless"),
    "all": bag("all every each any everything everyone everywhere only nothing nobody"),
    "plans": bag("i'll i'd we'll will going gonna planning want need trying looking"),
    "settles": bag(
        """born grew lives live works work married moved own owns runs run use uses called named based
        speaks play plays since until"""
    ),
    "doubt": bag(
        """would could might should wouldn't couldn't shouldn't maybe perhaps probably possibly wish wished hope
        hoping hopefully unsure dunno wonder wondering guess almost nearly tempted considering planned thinking
        supposed"""
    ),
    "likes": words.LIKE | bag("favourite favorite fan allergic vegan vegetarian"),
    "chose": words.CHOSE | bag("moved relocated switched adopted migrated went"),
    "stays": words.LIVE
    | bag("lives works working based called named born owns uses speaks teaches runs prefers")
    | _ABROAD["stays"],
    "norm": bag(
        """rule rules policy convention must max maximum min minimum limit allowed forbidden required mandatory
        strictly strict standard"""
    ),
    "does": frozenset(one for one in words.STATES if one[-1] == "s") - words.AUXILIARY,
}
OURS_ABROAD: Final = frozenset[str]().union(
    *_ABROAD.values(), *(_SUBJECTS[name] for name in ("we", "my", "our"))
)
LIVED: Final = words.HABIT | words.LIVE | words.LIFE | words.LIKE | words.CHOSE

NAMES: Final = (
    *(f"of {name}" for name in (*_SUBJECTS, "name", "other")),
    *_CLASSES,
    *("no verb", "past", "fleeting", "lived", "number", "named", "code"),
    *("under 3", "under 5", "over 12", "long turn", "short turn", "pasted", "first", "foreign"),
    *("ing", "ed", "not but", "exclaims", "goes on", "heads", "opens turn", "ends turn"),
    *("asked turn", "informs", "lines", "lists", "marked up", "quotes"),
)
BITS: Final = {name: 1 << number for number, name in enumerate(NAMES)}
"""Sign -> its bit."""


def _by_word(classes: dict[str, frozenset[str]], prefix: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, members in classes.items():
        for word in members:
            found[word] = found.get(word, 0) | BITS[prefix + name]
    return found


SUBJECT: Final = _by_word({name: _SUBJECTS[name] for name in reversed(_SUBJECTS)}, "of ")
BY_WORD: Final = _by_word(_CLASSES, "")
"""Word -> the signs that it is."""


def of_turn(text: str, plain: str, said: list[str]) -> int:
    """Return the signs of a whole turn: its length, an order at its start, what was pasted."""
    signs = BITS["long turn"] if len(said) > LONG else BITS["short turn"] if len(said) < BRIEF else 0
    if _dense(plain) < PASTED * _dense(text):
        signs |= BITS["pasted"]
    if not _INFORMING.isdisjoint(said):
        signs |= BITS["informs"]
    for mark, name in _TURN:
        if mark in text:
            signs |= BITS[name]
    return signs


_INFORMING: Final = bag(
    "fyi note remember btw context reminder update heads-up record memory know background correction actually wrong"
)
_TURN: Final = (
    ("?", "asked turn"),
    ("\n", "lines"),
    (":", "lists"),
    ("`", "marked up"),
    ("{", "marked up"),
    ('"', "quotes"),
)
LONG: Final = 60
"""Words of a turn from which most of it was brought along."""
BRIEF: Final = 15
PASTED: Final = 0.85
"""Share of the characters that is the writer's own, below which a turn is about what was brought along."""


def _dense(text: str) -> int:
    return len(text) - text.count(" ") - text.count("\n")
