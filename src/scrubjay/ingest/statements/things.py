"""Things: the classes of people and things that somebody has, speaks of, or has just brought along."""

from __future__ import annotations

from typing import Final

from scrubjay.ingest.statements.words import bag

KIN: Final = bag(
    """mother father mom mum mam dad daughter son child children kid kids parent parents ma pa mommy daddy
    mums moms stepmother stepfather stepson stepdaughter eldest oldest youngest missus folks half boys
    girls stepdad stepmom grandmother grandfather grandparents grandson granddaughter grandchild
    grandchildren godmother godfather godson goddaughter sister sisters brother brothers sibling
    siblings wife husband hubby spouse partner fiancé fiancée fiance fiancee girlfriend boyfriend gf bf
    ex twin twins baby toddler newborn grandma grandpa granny granddad grandad gran nana nan aunt aunts
    auntie uncle cousin cousins niece nephew mother-in-law father-in-law brother-in-law sister-in-law
    in-laws family roommate roommates flatmate flatmates housemate neighbour neighbor neighbours
    neighbors friend friends boss manager supervisor advisor colleague colleagues coworker co-worker
    cofounder co-founder mentor assistant dog dogs cat cats puppy puppies kitten kittens horse pony
    rabbit rabbits parrot hamster tortoise hens landlord landlady dentist therapist gp doctor vet
    accountant lawyer nanny babysitter tutor coach physio"""
)
"""People and animals of somebody's life: what is said of them is said of that life."""
MOMENT: Final = bag(
    """question questions problem problems issue issues error errors bug bugs trouble doubt doubts headache
    feeling feelings idea ideas guess point hope concern concerns worry understanding mistake apologies
    typo fault hunch impression sense suspicion confusion request task assignment query prompt message
    answer reply draft essay code function script snippet output result results test tests traceback
    stacktrace input text paragraph sentence goal aim intention intent plan plans thought thoughts
    opinion take bet turn mind brain head hypothesis theory attempt approach solution favour favor
    chance hurry rush lot look character protagonist hero heroine villain narrator dream nightmare stuff
    thing one ones exception failure warning crash regex formula loop class method variable program
    problem tears luck way heart clue chat conversation thread symptom code-review total sum speech need
    choice reason conversation argument fight cold nap"""
)
"""What somebody has or is only while the talk lasts: questions, faults, moods, what is worked on."""
AT_HAND: Final = bag(
    """list spreadsheet file csv pdf document docx dataset array dataframe component minutes minute hours
    hour deadline photo picture screenshot image table column row page button form event callback user
    request handler hook element div field string number value set pair vector matrix graph node tree
    stack pointer thread process sample subset formula equation matrix sequence series map folder link
    url photo video clip slide slides"""
)
"""What a turn brings along or works on: to have one is no fact about its writer."""
OWN_THINGS: Final = bag(
    """name nickname surname username handle pronouns birthday anniversary address email phone timezone job
    title role employer salary rent major height weight age flight train appointment wedding exam
    deadline budget language tongue hometown hobby hobbies diet visa lease contract car bike house flat
    apartment laptop computer setup stack server database db repo ci api backend frontend company
    startup business shop store team project app website site domain school office dissertation thesis
    degree garden kitchen camera guitar piano subscription insurance mortgage pension surgery diagnosis
    release releases sprint sprints standup stand-up retro convention conventions policy guide linter
    formatter editor ide keyboard shell terminal theme os distro branch cluster registry queue bucket
    staging production prod size pressure license licence allergy allergies medication doctor clinic
    practice farm boat van bakery cafe restaurant band choir"""
)
WORLD: Final = bag(
    """crm erp os registrar provider host vendor supplier carrier insurer broker agency accountant
    everything server staging production prod database db repo repository api service backend frontend
    app build pipeline ci deploy release branch key meeting standup retro deadline wifi bucket cluster
    queue cron script backups backup docs config secrets logs team office clinic shop site website
    domain project codebase monorepo package company worker workers cache registry proxy dashboard wiki
    runner runbook migrations schema port host machine vm nas router printer demo launch conference
    wedding party course exam invoice invoices warehouse kitchen garden car van boat cabin house flat
    lab greenhouse shed rota calendar spreadsheet folder drive newsletter endpoint gateway certificate
    licence license contract lease webhook bot board firmware bootloader sensor mortgage rent boiler
    roof nursery school kindergarten surgery ward gym choir band club allotment bakery oven stall
    tractor spectrometer microscope dataset corpus grant paper supervisor client clients customer
    customers budget deposit flight hotel venue ceremony reception studio workshop factory line plant
    farm barn field fields stable loft cellar landlord tenant tenants insurance pension account accounts
    bank membership season term semester league tournament fixture trial study cohort survey instrument
    telescope mill lathe kiln loom press monolith backlog sprint roadmap stack mobile web site framework
    editor linter formatter handbook policy fridge freezer car's dog cat kids baby"""
)
"""Things of somebody's life and work that are spoken of as known: what is said of them is no general knowledge."""
WELL_KNOWN: Final = bag(
    """python java javascript typescript rust go golang ruby php postgres postgresql mysql sqlite redis
    mongo docker kubernetes react vue angular svelte node linux windows macos ubuntu debian github
    gitlab google apple amazon microsoft facebook netflix chatgpt gpt claude openai django flask rails
    spring git npm yarn terraform ansible grafana prometheus nginx kafka spark excel word chrome firefox
    android ios iphone monday tuesday wednesday thursday friday saturday sunday january february march
    april may june july august september october november december europe africa asia america england
    france germany spain italy japan china india god everyone everybody someone somebody nobody people
    kids there here it this that these those which who what he she they we i you one another each
    nothing something anything everything next first second third last the a an my our his her their its
    no yes"""
)
"""What everybody knows of these is not worth keeping, so a capital alone makes no person of them."""
LASTING_HAD: Final = bag(
    """adhd asthma diabetes celiac coeliac eczema migraines ibs pcos epilepsy arthritis anxiety depression
    kids twins children siblings hypertension"""
)
