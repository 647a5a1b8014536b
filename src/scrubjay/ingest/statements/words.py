"""Words: the classes of words that the rules are made of, each an alternation for a pattern."""

from __future__ import annotations

from typing import Final


def _any(words: str) -> str:
    return "|".join(words.split())


ADVERB: Final = (
    r"(?:(?:also|just|really|actually|recently|currently|still|already|finally|only|mostly|now|usually|always|never|often|generally"
    r"|normally|typically|mainly|primarily|personally|both|all|then|so|absolutely|strongly|much|much rather|definitely|simply|honestly"
    r"|regularly|sometimes|rarely|hardly|strictly|happily|officially|even|kinda|kind of|sort of|very|quite|pretty|proudly|ever"
    r"|explicitly|deliberately|intentionally|exclusively|permanently|long ago|once|first|since|eventually|ultimately) )*"
)
"""What stands between a subject and its verb."""

KIN: Final = (
    r"(?:(?:step|grand|god|great-?grand)?-?(?:mother|father|mom|mum|mam|dad|daughter|son|child|children|kids?|parents?|ma|pa)|mommy|daddy|mums?|moms?|dads?"
    r"|sisters?|brothers?|siblings?|sis|bro|wife|husband|hubby|spouse|partner|fianc[eé]e?|girlfriend|boyfriend|gf|bf|ex|twins?|baby|toddler|newborn"
    r"|grandma|grandpa|granny|gran|nana|nan|aunts?|auntie|uncles?|cousins?|nieces?|nephews?|(?:mother|father|brother|sister|son|daughter)s?-in-law|in-laws|family"
    r"|roommates?|flatmates?|housemates?|neighbou?rs?|friends?|best friend|mates?|boss|manager|supervisor|advisor|colleagues?|co-?workers?|co-?founder|mentor"
    r"|business partner|assistant|dogs?|cats?|pupp(?:y|ies)|kittens?|horses?|ponies|pony|rabbits?|parrot|hamster|tortoise|hens|chickens|landlord|landlady"
    r"|dentist|therapist|gp|doctor|vet|accountant|lawyer|nanny|babysitter|tutor|coach)"
)
"""People and animals of somebody's life: what is said of them is said of that life."""

# What is had or is only while the talk lasts: its questions, its faults, its moods.
MOMENT: Final = _any(
    """question questions problem problems issue issues error errors bug bugs trouble doubt doubts headache feeling feelings idea ideas
    guess point hope concern concerns worry understanding mistake bad apologies typo fault hunch impression sense suspicion confusion
    request task assignment query prompt message answer reply draft essay code function script snippet output result results test tests
    build traceback stacktrace log logs input text paragraph sentence title thesis-question goal aim intention intent plan plans thought
    thoughts opinion take bet turn mind brain head hypothesis theory theories attempt approach solution favour favor chance time
    hurry rush bit lot look character protagonist hero heroine villain narrator dream nightmare stuff things thing one ones
    exception failure failures warning crash stack regex formula query loop class method variable"""
)

PASSING_STATE: Final = _any(
    """tired exhausted hungry thirsty bored confused stuck lost sick ill busy sorry sure unsure afraid curious wondering trying looking
    going getting having asking seeing feeling hoping happy sad glad excited worried nervous stressed anxious angry mad upset frustrated
    annoyed ready done back here there home late early good fine ok okay great bad better well right wrong aware able unable interested
    about just running waiting sitting standing eating drinking watching reading writing thinking considering supposed gonna off out
    down up on at over desperate grateful thankful impressed surprised pleased satisfied disappointed proud new struggling debugging
    failing failed broken crashing crashed throwing returning working acting behaving hanging timing slow fast stopped missing empty
    not-working red green dead alive asleep sleeping awake crying coming leaving arriving talking telling saying using cold hot warm
    nice cute amazing awesome terrible awful horrible ugly perfect due true false clear unclear complete finished cooking making doing
    what how why that this it simple easy hard difficult possible impossible free available open closed the-same next"""
)
"""Predicates that will not hold in a month, or that only appraise."""

ANAPHOR: Final = (
    r"(?:it|this|that|these|those|them|your|yours|both|neither|none|either|what|how|when you|where you|to know|to see|to hear|the (?:way|idea|sound|look|looks|"
    r"first|second|third|last|latest|new|old|previous|other|result|results|version|draft|option|options|answer|reply|tone|style|suggestion\w*|design|plan|one|ones"
    r"|part|example|examples|title|name|names|image|picture|logo|intro|ending|output|changes?|format|concept|fact|original|shorter|longer|revised|updated)"
    r"|(?:option|version|number|variant|draft) \w+|[a-d1-5]\b|one|some of)\b"
)
"""What points into the talk; who likes that says nothing of other days."""

# Things people do that are still true of them in a month.
HABIT: Final = _any(
    """live work teach study speak run manage lead own rent drive ride play wear volunteer commute maintain coach sing practise practice
    train sell raise grow breed collect foster specialise specialize freelance consult operate organise organize host supervise chair
    follow identify belong suffer take earn pay receive keep avoid eat drink cook bake swim cycle jog hike climb paint knit sew crochet
    garden read write type code program develop build design deploy support meditate smoke sleep walk use do make bring track
    subscribe listen watch attend visit stay report handle run represent serve"""
)
HABIT_SURE: Final = _any(
    """live work teach speak own rent drive manage lead volunteer commute maintain coach collect foster specialise specialize freelance
    supervise chair suffer earn identify belong subscribe study play ride wear"""
)
"""Of these, the ones that are habits without a word that says so."""

# Things that happen once and stay true.
LIFE: Final = _any(
    """bought moved started adopted graduated married joined quit retired founded hired switched enrolled inherited became studied lived
    grew sold broke published qualified completed signed migrated upgraded renamed launched opened closed built divorced relocated
    immigrated emigrated converted registered subscribed ordered booked purchased acquired received replaced installed
    worked served volunteered trained competed won earned rescued proposed separated co-founded cofounded named planted set
    took gave visited attended finished learned learnt met began paid spent saved lost redesigned refactored rewrote merged
    traded donated collected picked cancelled stopped passed scheduled hosted organised organized led submitted presented defended
    renovated repainted remodelled remodeled leased rented borrowed invested accepted landed scored ran flew travelled traveled
    hiked climbed participated made created released shipped deployed enabled disabled added removed dropped deprecated"""
)
LIFE_SURE: Final = _any(
    """bought moved adopted graduated married joined quit retired founded hired switched enrolled inherited became studied lived sold
    published qualified migrated renamed launched divorced relocated immigrated emigrated converted registered subscribed purchased
    acquired cofounded co-founded signed rescued started grew worked upgraded replaced won served volunteered landed standardised
    standardized merged"""
)
"""Of these, the ones that say something lasting without a date or a number."""

HAVE: Final = r"(?:have|'ve got|ve got|have got|own|keep|had)"
TAKEN: Final = (
    r"decided|chose|chosen|opted|settled on|went with|gone with|going with|agreed|committed to|will (?:go|stick|stay) with|'ll (?:go|stick|stay) with"
    r"|(?:am|'m|m|are|'re|re) (?:going|sticking|staying) with|picked|standardi[sz]ed on|ended up (?:with|choosing|going|picking|taking|buying|using)"
)
DO: Final = _any(
    """run use call execute type press set edit push open go make add create copy click start stop restart install pull merge tag
    ssh log ask put send check build bump update regenerate write change hit post wait fill delete remove rebase commit export import
    upload download enter select pick turn switch book email mail ping tell take first apply source load hold"""
)
"""What a step of a how-to begins with."""
LASTING: Final = (
    r"\b(?:always|never|from now on|going forward|from here on|in (?:the )?future|by default|in general|generally|every time|everywhere|ever|anymore"
    r"|as a rule|whenever|each time|at all times|for all|all my|all our|any of my|any more)\b"
)
