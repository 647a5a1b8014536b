"""Vocabulary: word classes of fact extraction."""

from __future__ import annotations

from importlib import resources
from typing import Final

from scrubjay.text.normalize import word_set


def table_lines(name: str) -> list[str]:
    """Return the lines of a table in ``data/`` that are neither empty nor comments."""
    table = resources.files("scrubjay.facts").joinpath("data", name)
    return [line for line in table.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]


FIRST: Final = word_set("i we i'm im i've ive i'd i'll we're we've we'll we'd my our")
PRONOUNS: Final = word_set("i we he she they you it there that im ive") | FIRST - {"my", "our"}
OWNED: Final = word_set("my our his her their the this these those your its")
JOINS: Final = word_set("and but so because since although though whereas plus yet or while cuz cause")
BE: Final = word_set("am is are was were be been being isn't aren't wasn't weren't")
AUXILIARY: Final = BE | word_set(
    """have has had do does did can could will would should shall may might must don't doesn't didn't can't
    cannot won't haven't hasn't hadn't wouldn't couldn't shouldn't"""
)
ASKING: Final = word_set("what how which where who whose why when what's how's where's who's")
NEGATIVE: Final = word_set(
    "not don't dont didn't can't cant cannot won't haven't never isn't aren't doesn't no"
)
ADVERBS: Final = word_set(
    """also just really actually recently currently still already finally only mostly now usually always never
    often generally normally typically mainly primarily personally both all then so absolutely strongly
    much definitely simply honestly regularly sometimes rarely hardly strictly happily officially even very
    quite pretty kinda proudly ever explicitly deliberately exclusively permanently once first since
    eventually ultimately not no longer originally lately genuinely totally completely truly either"""
)
"""Words that may stand between a subject and its verb."""
HABITUAL: Final = word_set(
    """always never usually normally typically generally mostly often only rarely regularly mainly primarily
    exclusively strictly"""
)
PASSING: Final = word_set(
    """delayed tired exhausted hungry thirsty bored confused stuck lost sick ill busy sorry sure unsure afraid
    curious wondering trying looking going getting having asking seeing feeling hoping happy sad glad
    excited worried nervous stressed anxious angry mad upset frustrated annoyed ready done back here there
    home late early good fine ok okay great bad better well right wrong aware able unable interested about
    running waiting sitting standing eating drinking watching reading writing thinking considering supposed
    gonna off out up down over desperate grateful thankful impressed surprised pleased satisfied
    disappointed proud struggling debugging failing failed broken crashing crashed throwing returning
    acting behaving hanging slow fast stopped missing empty red green dead asleep sleeping awake crying
    coming arriving talking telling saying nice cute amazing awesome terrible awful horrible perfect due
    true false clear unclear complete finished cooking making doing what how why that this it simple easy
    hard difficult possible impossible free available open closed next frozen loading being too so correct
    funny weird strange annoying beautiful gone quiet loud not- working to like"""
)
"""Predicates that will not hold in a month, or that only appraise."""
LIKE: Final = word_set(
    """prefer like love adore hate dislike enjoy detest loathe despise favour favor stand bear tolerate loved
    hated"""
)
LIVE: Final = word_set(
    """live work teach speak own rent drive manage lead volunteer commute maintain coach collect foster
    specialise specialize freelance supervise chair suffer identify belong subscribe study play ride wear"""
)
"""Verbs of long-term activities and states, in the present."""
HABIT: Final = LIVE | word_set(
    """run sing practise practice train sell raise grow breed consult operate organise organize host follow
    take earn pay keep avoid eat drink cook bake swim cycle jog hike climb paint knit sew garden read write
    type code program develop design deploy support meditate smoke sleep walk use do bring track listen
    watch attend visit stay report go get meet have see call send review release ship hold update clean
    feed back"""
)
"""Verbs of habits, if a word of frequency stands with them."""
LIFE: Final = word_set(
    """bought moved adopted graduated married joined quit retired founded hired switched enrolled inherited
    became studied lived sold published qualified migrated renamed cancelled canceled launched divorced
    relocated immigrated emigrated converted registered subscribed purchased acquired cofounded co- founded
    signed rescued grew upgraded replaced won served volunteered landed standardised standardized started
    worked"""
)
"""Past forms of events that happen once and stay true."""
DATED: Final = LIFE | word_set(
    """broke completed opened closed built ordered booked received installed trained competed earned proposed
    separated named planted set took gave visited attended finished learned learnt met began paid spent
    saved lost redesigned refactored rewrote merged traded donated collected passed scheduled hosted
    organised organized led submitted presented defended renovated repainted remodeled leased rented
    borrowed invested accepted scored ran flew travelled traveled hiked climbed participated made created
    released shipped deployed enabled disabled dropped deprecated left failed went got had saw read watched
    tried reached celebrated picked redid cut cancelled stopped"""
)
"""Past forms of events that are kept if a date or a number stands with them."""
CHOSE: Final = word_set("decided chose chosen opted settled agreed picked committed")
CHOOSING: Final = word_set(
    "going sticking staying switching moving migrating standardising standardizing dropping adopting keeping"
)
TRAITS: Final = word_set(
    """allergic intolerant vegan vegetarian pescatarian lactose gluten gluten-free coeliac celiac diabetic
    asthmatic pregnant left-handed lefthanded right-handed colorblind colourblind color-blind colour- blind
    deaf blind dyslexic autistic married divorced widowed single engaged retired self-employed unemployed
    muslim jewish christian catholic hindu buddhist kosher halal sober bilingual fluent native based
    located born raised responsible from neurodivergent nonbinary non-binary gay lesbian trans bisexual
    introverted shortsighted nearsighted happiest"""
)
STATES: Final = word_set(
    """left came chose need is are was were has have had runs run uses lives live works work likes loves hates
    prefers starts started ends expires begins leaves departs takes costs sits speaks sells makes closes
    opens consists must studies study teaches plays owns drives eats goes attends turns turned moved bought
    died passed graduated graduates retired retires married joined got grew became collects suffers sings
    sleeps celebrates keeps comes visits adopted finished quit opened named talks listens points ships
    deploys includes covers serves weighs measures accepts allows forbids requires means belongs handles
    lasts holds lies stands stops moves changes becomes grows meets pays remains stays faces seats weighs
    spans lacks bans allows speaks includes excludes belongs attends relies depends forbids will was were
    gave holds keeps wants prefers refuses snores retired insists dislikes suits tastes smells isn't aren't
    doesn't don't can't won't cannot called contains needs gets does"""
)
"""Verbs that end the subject and begin the predicate."""
VERBAL: Final = (
    STATES
    | AUXILIARY
    | LIKE
    | LIVE
    | HABIT
    | DATED
    | CHOSE
    | word_set("need want think know went says said just always never also feel")
)
FLEETING: Final = word_set(
    """need want try think know see get feel guess mean hope wonder understand remember forget believe agree
    suppose assume notice look wait say ask tell mind care find seem appear miss expect promise plan do
    have are am go come put give got getting keep change add fix create check wish bet swear apologize
    apologise appreciate thank realize realise imagine doubt hear trust love like post paste send call show
    copy pick choose just hit face struggle refer talk speak upload attach mention notice end stop start
    begin finish continue require land arrive depart reach pull join let decide intend propose suggest
    recommend discuss conclude argue demonstrate present introduce describe consider examine explore
    investigate aim seek observe obtain define denote assign compute calculate derive prove note turn print
    import declare pass return"""
)
"""Verbs of the conversation or of pasted papers, which say nothing lasting in the present tense."""
TALKED: Final = word_set(
    """asked said told thought knew needed wanted tried looked checked noticed realized realised found heard
    wondered felt meant hoped forgot remembered mentioned googled searched tested ran fixed pushed
    committed debugged restarted changed updated added removed deleted compiled rebooted pasted copied
    typed wrote posted uploaded attached read saw seen understood expected assumed guessed figured seemed
    had got gotten been done was were followed used clicked opened closed set put deployed kept woke cooked
    ate drank slept sat stood liked loved hated agreed talked planned decided believed waited struggled
    received attempted considered discussed learned noted called experienced provided included selected
    shared given increased decreased changed defined implemented created made"""
)
"""Past forms of the work at hand and the conversation; a number does not make them last."""


KIN: Final = word_set(
    """mother father mom mum mam dad daughter son child children kid kids parent parents ma pa mommy daddy
    mums moms stepmother stepfather stepson stepdaughter eldest oldest youngest missus folks half boys
    girls stepdad stepmom grandmother grandfather grandparents grandson granddaughter grandchild
    grandchildren godmother godfather godson goddaughter sister sisters brother brothers sibling siblings
    wife husband hubby spouse partner fiancé fiancée fiance fiancee girlfriend boyfriend gf bf ex twin
    twins baby toddler newborn grandma grandpa granny granddad grandad gran nana nan aunt aunts auntie
    uncle cousin cousins niece nephew mother-in-law father-in-law brother-in-law sister-in-law in-laws
    family roommate roommates flatmate flatmates housemate neighbour neighbor neighbours neighbors friend
    friends boss manager supervisor advisor colleague colleagues coworker co-worker cofounder co-founder
    mentor assistant dog dogs cat cats puppy puppies kitten kittens horse pony rabbit rabbits parrot
    hamster tortoise hens landlord landlady dentist therapist gp doctor vet accountant lawyer nanny
    babysitter tutor coach physio"""
)
"""People and animals of somebody's life."""
MOMENT: Final = word_set(
    """question questions problem problems issue issues error errors bug bugs trouble doubt doubts headache
    feeling feelings idea ideas guess point hope concern concerns worry understanding mistake apologies
    typo fault hunch impression sense suspicion confusion request task assignment query prompt message
    answer reply draft essay code function script snippet output result results test tests traceback
    stacktrace input text paragraph sentence goal aim intention intent plan plans thought thoughts opinion
    take bet turn mind brain head hypothesis theory attempt approach solution favour favor chance hurry
    rush lot look character protagonist hero heroine villain narrator dream nightmare stuff thing one ones
    exception failure warning crash regex formula loop class method variable program problem tears luck way
    heart clue chat conversation thread symptom code-review total sum speech need choice reason
    conversation argument fight cold nap"""
)
"""Things of the moment: questions, faults, moods, tasks."""
AT_HAND: Final = word_set(
    """list spreadsheet file csv pdf document docx dataset array dataframe component minutes minute hours hour
    deadline photo picture screenshot image table column row page button form event callback user request
    handler hook element div field string number value set pair vector matrix graph node tree stack pointer
    thread process sample subset formula equation matrix sequence series map folder link url photo video
    clip slide slides"""
)
"""Things that a turn brings along or works on: having one is no fact about its writer."""
OWN_THINGS: Final = word_set(
    """name nickname surname username handle pronouns birthday anniversary address email phone timezone job
    title role employer salary rent major height weight age flight train appointment wedding exam deadline
    budget language tongue hometown hobby hobbies diet visa lease contract car bike house flat apartment
    laptop computer setup stack server database db repo ci api backend frontend company startup business
    shop store team project app website site domain school office dissertation thesis degree garden kitchen
    camera guitar piano subscription insurance mortgage pension surgery diagnosis release releases sprint
    sprints standup stand-up retro convention conventions policy guide linter formatter editor ide keyboard
    shell terminal theme os distro branch cluster registry queue bucket staging production prod size
    pressure license licence allergy allergies medication doctor clinic practice farm boat van bakery cafe
    restaurant band choir"""
)
WORLD: Final = word_set(
    """crm erp os registrar provider host vendor supplier carrier insurer broker agency accountant everything
    server staging production prod database db repo repository api service backend frontend app build
    pipeline ci deploy release branch key meeting standup retro deadline wifi bucket cluster queue cron
    script backups backup docs config secrets logs team office clinic shop site website domain project
    codebase monorepo package company worker workers cache registry proxy dashboard wiki runner runbook
    migrations schema port host machine vm nas router printer demo launch conference wedding party course
    exam invoice invoices warehouse kitchen garden car van boat cabin house flat lab greenhouse shed rota
    calendar spreadsheet folder drive newsletter endpoint gateway certificate licence license contract
    lease webhook bot board firmware bootloader sensor mortgage rent boiler roof nursery school
    kindergarten surgery ward gym choir band club allotment bakery oven stall tractor spectrometer
    microscope dataset corpus grant paper supervisor client clients customer customers budget deposit
    flight hotel venue ceremony reception studio workshop factory line plant farm barn field fields stable
    loft cellar landlord tenant tenants insurance pension account accounts bank membership season term
    semester league tournament fixture trial study cohort survey instrument telescope mill lathe kiln loom
    press monolith backlog sprint roadmap stack mobile web site framework editor linter formatter handbook
    policy fridge freezer car's dog cat kids baby"""
)
"""Things of somebody's life and work, mentioned as known; a statement about one is no general knowledge."""
WELL_KNOWN: Final = word_set(
    """python java javascript typescript rust go golang ruby php postgres postgresql mysql sqlite redis mongo
    docker kubernetes react vue angular svelte node linux windows macos ubuntu debian github gitlab google
    apple amazon microsoft facebook netflix chatgpt gpt claude openai django flask rails spring git npm
    yarn terraform ansible grafana prometheus nginx kafka spark excel word chrome firefox android ios
    iphone monday tuesday wednesday thursday friday saturday sunday january february march april may june
    july august september october november december europe africa asia america england france germany spain
    italy japan china india god everyone everybody someone somebody nobody people kids there here it this
    that these those which who what he she they we i you one another each nothing something anything
    everything next first second third last the a an my our his her their its no yes"""
)
"""Words that are no names of people even with a capital."""
LASTING_HAD: Final = word_set(
    """adhd asthma diabetes celiac coeliac eczema migraines ibs pcos epilepsy arthritis anxiety depression
    kids twins children siblings hypertension"""
)
