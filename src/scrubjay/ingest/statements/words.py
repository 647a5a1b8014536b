"""Words: the classes of words that clauses, vetoes and rules ask for."""

from __future__ import annotations

from typing import Final


def bag(words: str) -> frozenset[str]:
    """Return the words of a text as a set.

    >>> sorted(bag("b a b"))
    ['a', 'b']
    """
    return frozenset(words.split())


FIRST: Final = bag("i we i'm im i've ive i'd i'll we're we've we'll we'd my our")
PRONOUNS: Final = bag("i we he she they you it there that im ive") | FIRST - {"my", "our"}
OWNED: Final = bag("my our his her their the this these those your its")
JOINS: Final = bag("and but so because since although though whereas plus yet or while cuz cause")
BE: Final = bag("am is are was were be been being isn't aren't wasn't weren't")
AUXILIARY: Final = BE | bag(
    "have has had do does did can could will would should shall may might must don't doesn't didn't can't "
    "cannot won't haven't hasn't hadn't wouldn't couldn't shouldn't"
)
ASKING: Final = bag("what how which where who whose why when what's how's where's who's")
NEGATIVE: Final = bag("not don't dont didn't can't cant cannot won't haven't never isn't aren't doesn't no")
ADVERBS: Final = bag(
    """also just really actually recently currently still already finally only mostly now usually always
    never often generally normally typically mainly primarily personally both all then so absolutely
    strongly much definitely simply honestly regularly sometimes rarely hardly strictly happily
    officially even very quite pretty kinda proudly ever explicitly deliberately exclusively permanently
    once first since eventually ultimately not no longer originally lately genuinely totally completely
    truly either"""
)
"""What may stand between a subject and its verb."""
HABITUAL: Final = bag(
    """always never usually normally typically generally mostly often only rarely regularly mainly
    primarily exclusively strictly"""
)
PASSING: Final = bag(
    """delayed tired exhausted hungry thirsty bored confused stuck lost sick ill busy sorry sure unsure afraid
    curious wondering trying looking going getting having asking seeing feeling hoping happy sad glad
    excited worried nervous stressed anxious angry mad upset frustrated annoyed ready done back here
    there home late early good fine ok okay great bad better well right wrong aware able unable
    interested about running waiting sitting standing eating drinking watching reading writing thinking
    considering supposed gonna off out up down over desperate grateful thankful impressed surprised
    pleased satisfied disappointed proud struggling debugging failing failed broken crashing crashed
    throwing returning acting behaving hanging slow fast stopped missing empty red green dead asleep
    sleeping awake crying coming arriving talking telling saying nice cute amazing awesome terrible
    awful horrible perfect due true false clear unclear complete finished cooking making doing what how
    why that this it simple easy hard difficult possible impossible free available open closed next
    frozen loading being too so correct funny weird strange annoying beautiful gone quiet loud not-
    working to like"""
)
"""Predicates that will not hold in a month, or that only appraise."""
LIKE: Final = bag(
    """prefer like love adore hate dislike enjoy detest loathe despise favour favor stand bear tolerate
    loved hated"""
)
LIVE: Final = bag(
    """live work teach speak own rent drive manage lead volunteer commute maintain coach collect foster
    specialise specialize freelance supervise chair suffer identify belong subscribe study play ride
    wear"""
)
"""What people do for years, and say in the present."""
HABIT: Final = LIVE | bag(
    """run sing practise practice train sell raise grow breed consult operate organise organize host follow
    take earn pay keep avoid eat drink cook bake swim cycle jog hike climb paint knit sew garden read
    write type code program develop design deploy support meditate smoke sleep walk use do bring track
    listen watch attend visit stay report go get meet have see call send review release ship hold update
    clean feed back"""
)
"""What people do again and again, when a word says so."""
LIFE: Final = bag(
    """bought moved adopted graduated married joined quit retired founded hired switched enrolled inherited
    became studied lived sold published qualified migrated renamed cancelled canceled launched divorced
    relocated immigrated emigrated converted registered subscribed purchased acquired cofounded co-
    founded signed rescued grew upgraded replaced won served volunteered landed standardised
    standardized started worked"""
)
"""What happens once and stays true."""
DATED: Final = LIFE | bag(
    """broke completed opened closed built ordered booked received installed trained competed earned
    proposed separated named planted set took gave visited attended finished learned learnt met began
    paid spent saved lost redesigned refactored rewrote merged traded donated collected passed scheduled
    hosted organised organized led submitted presented defended renovated repainted remodeled leased
    rented borrowed invested accepted scored ran flew travelled traveled hiked climbed participated made
    created released shipped deployed enabled disabled dropped deprecated left failed went got had saw
    read watched tried reached celebrated picked redid cut cancelled stopped"""
)
"""What is worth keeping once a date or a number stands with it."""
CHOSE: Final = bag("decided chose chosen opted settled agreed picked committed")
CHOOSING: Final = bag(
    """going sticking staying switching moving migrating standardising standardizing dropping adopting
    keeping"""
)
TRAITS: Final = bag(
    """allergic intolerant vegan vegetarian pescatarian lactose gluten gluten-free coeliac celiac diabetic
    asthmatic pregnant left-handed lefthanded right-handed colorblind colourblind color-blind colour-
    blind deaf blind dyslexic autistic married divorced widowed single engaged retired self-employed
    unemployed muslim jewish christian catholic hindu buddhist kosher halal sober bilingual fluent
    native based located born raised responsible from neurodivergent nonbinary non-binary gay lesbian
    trans bisexual introverted shortsighted nearsighted happiest"""
)
NUMBERS: Final = bag("one two three four five six seven eight nine ten eleven twelve twenty thirty")
STATES: Final = bag(
    """left came chose need is are was were has have had runs run uses lives live works work likes loves
    hates prefers starts started ends expires begins leaves departs takes costs sits speaks sells makes
    closes opens consists must studies study teaches plays owns drives eats goes attends turns turned
    moved bought died passed graduated graduates retired retires married joined got grew became collects
    suffers sings sleeps celebrates keeps comes visits adopted finished quit opened named talks listens
    points ships deploys includes covers serves weighs measures accepts allows forbids requires means
    belongs handles lasts holds lies stands stops moves changes becomes grows meets pays remains stays
    faces seats weighs spans lacks bans allows speaks includes excludes belongs attends relies depends forbids
    will was were gave holds keeps wants prefers refuses snores retired insists dislikes suits tastes smells
    isn't aren't doesn't don't can't won't cannot called contains needs gets does"""
)
"""Verbs that end the naming of a thing and begin what is said of it."""
VERBAL: Final = (
    STATES
    | AUXILIARY
    | LIKE
    | LIVE
    | HABIT
    | DATED
    | CHOSE
    | bag("need want think know went says said just always never also feel")
)
FLEETING: Final = bag(
    """need want try think know see get feel guess mean hope wonder understand remember forget believe
    agree suppose assume notice look wait say ask tell mind care find seem appear miss expect promise
    plan do have are am go come put give got getting keep change add fix create check wish bet swear
    apologize apologise appreciate thank realize realise imagine doubt hear trust love like post paste
    send call show copy pick choose just hit face struggle refer talk speak upload attach mention notice
    end stop start begin finish continue require land arrive depart reach pull join let decide intend
    propose suggest recommend discuss conclude argue demonstrate present introduce describe consider
    examine explore investigate aim seek observe obtain define denote assign compute calculate derive
    prove note turn print import declare pass return"""
)
"""What people do in the talk itself, or in a paper they paste: in the present tense it says nothing of other days."""
TALKED: Final = bag(
    """asked said told thought knew needed wanted tried looked checked noticed realized realised found
    heard wondered felt meant hoped forgot remembered mentioned googled searched tested ran fixed pushed
    committed debugged restarted changed updated added removed deleted compiled rebooted pasted copied
    typed wrote posted uploaded attached read saw seen understood expected assumed guessed figured
    seemed had got gotten been done was were followed used clicked opened closed set put deployed kept
    woke cooked ate drank slept sat stood liked loved hated agreed talked planned decided believed
    waited struggled received attempted considered discussed learned noted called experienced provided
    included selected shared given increased decreased changed defined implemented created made"""
)
"""What somebody did in the work at hand, or of late in the talk: a number does not make it last."""
