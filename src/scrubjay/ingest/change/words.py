"""Words: what the small words of English do in a statement: nothing, deny, or say that time has passed."""

from __future__ import annotations

from typing import Final

from scrubjay.ingest.change.tables import lines


def listed(words: str) -> frozenset[str]:
    """Return the words of a list written as text."""
    return frozenset(words.split())


DETERMINERS: Final = listed(
    "the a an this that these those my our your his her their its another each every some any no"
)
PERSONS: Final = {
    **dict.fromkeys(("i", "me", "my", "mine", "myself", "we", "us", "our", "ours"), "i"),
    **dict.fromkeys(("you", "your", "yours"), "you"),
    **dict.fromkeys(("he", "him", "his", "she", "her", "hers", "they", "them", "their"), "they"),
}
"""Who speaks or is spoken of; "I" and "we" are the same side of the talk."""
BE: Final = listed("be is are am was were been being isn't aren't wasn't weren't 's 're 'm sits lies stands")
AUXILIARY: Final = listed(
    "have has had do does did 've 'd would could should can may might must shall will having doing ought"
)
STOP: Final = (
    DETERMINERS
    | BE
    | AUXILIARY
    | frozenset(PERSONS)
    | listed(
        "of to in on at by for with from as into onto about it itself there here who which what where how"
        " so such very quite really basically just please simply also too well and or but if then than per"
        " via ok okay yes hey hi oh um btw fyi note remember reminder know think believe guess say said"
        " recently lately newly"
        " generally usually typically normally currently presently still always overall mostly mainly"
        " especially essentially both all own during within around approximately apiece roughly exactly"
        " precisely about only even ever least most more much many lot lots bit kind sort thing things etc"
        " get gets got getting let lets ourselves themselves himself herself one ones some right? please,?"
        " everyone everybody anyone anybody someone somebody something anything everything people set up out"
        " over off upon down that's it's need has-been value equals entire whole total currently, definitely"
        " certainly truly absolutely own personally honestly located situated using when while because"
        " because since though although until till between through across time times oclock o'clock approx"
        " ca circa date keep keeps kept way apparently obviously clearly luckily unfortunately already yet"
        " now anymore again mind note, thanks thank shortly fairly rather teh adn sinse again happen happens"
        " take takes place taking taken took every each like-to go-to different various other"
    )
) - listed("no like-to right? please,? but when while because need")
"""Words that a statement may gain or lose and say the same."""

NEGATORS: Final = listed(
    "not n't never no none nobody nothing neither nor nowhere without cannot hardly barely scarcely"
    " rarely seldom unable lack lacks lacking nah fails fail refuse refuses refused refusing avoid"
    " avoids avoiding minus zero-tolerance anything-but"
)
"""Words that turn a statement round. Two of them turn it back."""

CHANGE: Final = listed(
    "now actually instead switch switched switching moved moving changed migrated migrating replaced"
    " replaces replacing upgraded downgraded updated renamed rescheduled postponed pushed bumped raised"
    " increased lowered reduced cut became becomes become relocated transferred converted swapped"
    " adopted correction nope nowadays turned shifted rebranded extended shortened grew rose"
    " dropped fell went nudged promoted rewrote ported delayed brought-forward amended revised corrected"
    " meanwhile switches moves again returned fixed repaired resolved solved reopened resumed"
    " restored re-enabled meant sorry oops scratch wrong reverted changing anymore finally transitioned"
    " upped slipped slid adjusted expanded shrank doubled halved tripled traded edited rebooked preponed"
)
"""Words by which a speaker says that what follows took the place of something."""

STEPS: Final = listed("fell rose grew dropped went cut lost pushed turned became climbed fallen")
"""Words of change only where they say from what or to what: a price fell to 5, a vase fell."""

MOVES: Final = listed(
    "switch move change migrat replac upgrad downgrad updat renam reschedul postpon push bump rais"
    " increas lower reduc cut becom reloc transfer convert swap adopt turn shift rebrand extend shorten"
    " go drop grow rise fall promot port rewrit revert settl settle land delay transit trade rebook"
    " expand shrink adjust up slip slid leav came come decid decided pick chose choos opt"
)
"""Stems of verbs of change: they stand for whatever verb the old statement had."""

ENDS: Final = listed(
    "stopped stop quit quits left resigned retired sold ended cancelled canceled dropped ditched"
    " abandoned scrapped ceased gave-up discontinued removed deleted closed-down shut-down divorced"
    " broke-up formerly former ex ex- used-to previously finished expired-since no-longer retired"
    " decommissioned deprecated outgrew lost died sunset dissolved done completed disbanded unsubscribed"
    " uninstalled revoked phased-out"
)
"""Words by which a state is over."""

FUTURE: Final = listed(
    "will 'll shall going-to gonna planning plans plan planned intend intends intending considering"
    " consider hoping hopes hope thinking wants want upcoming about-to awaiting probably hiring soon"
    " tomorrow due-to aim aims might may-be supposed-to scheduled-to wanna"
)
"""Marks of a plan, not of a fact."""
PLANS: Final = listed(
    "plan plans planning planned intend intends intending considering consider hoping hopes hope"
    " thinking wants want aim aims gonna wanna"
)

ALSO: Final = listed("also too another additionally besides as-well additional")
"""Marks of one more beside the old ones."""

IRREGULAR: Final = {form: verb for verb, *forms in map(str.split, lines("irregular.txt")) for form in forms}
"""Form of an irregular verb -> the verb."""
PLURALS: Final = {
    "goes": "go",
    "children": "child",
    "men": "man",
    "women": "woman",
    "feet": "foot",
    "teeth": "tooth",
    "mice": "mouse",
    "lives": "live",
    "wives": "wife",
    "knives": "knife",
}
"""Plurals that no stemmer knows."""
PAST: Final = listed(
    "was were bought went got wrote met left made took gave had did said saw knew thought found came"
    " became began ran spoke taught sold told kept led paid drove flew ate drank built brought chose won"
    " lost held sent spent slept sang swam broke grew drew wore fell felt heard sat stood shot rose rode"
    " caught fought stole threw hid forgot understood froze bit shrank"
)

VERBS: Final = listed(
    "live reside purchas inhabit work use like love hate prefer own play speak eat drink run start"
    " begin end finish close open cost weigh measur store keep call name drive park commut studi attend"
    " teach meet visit buy sell read watch listen write make take give need want hold support allow serv"
    " host deploy expir pay earn rent stay sleep walk swim cycl cook bake grow travel fli arriv leav"
    " return join report belong contain includ requir accept charg deliv ship send receiv return handl"
    " log scale backup sync pull push merg build compil test fail pass crash lead manag own coach train"
    " practis practic rehears perform sing danc paint collect wear smoke suffer celebr move switch chang"
    " migrat becom plan go come get have do know think say enjoy dislik adopt marri graduat sign releas"
    " launch offer show open expect default listen point connect depend seat fit last sit stand lie face"
    " produc generat print display accept render learn vote donat volunt borrow order book schedul"
    " happen subscrib restart remov add avoid ensur check tri avoid peel break climb expos encrypt treat"
    " leak trigger block fetch emit save load pars validat retri reject die feed water tutor help carri"
    " bring follow see find tell ask sell decid choos pick win lose spend updat instal process ride say"
)
"""Stems of common verbs: one of them parts what a statement speaks of from what it says."""

ADDITIVE: Final = listed(
    "like love enjoy hate have own buy visit see read watch speak know learn play eat drink cook bake"
    " try travel meet talk discuss fix add write make finish want need support collect wear bring go"
    " attend order listen ask find grow studi help follow offer includ contain accept sing hear sell do"
    " show tell borrow volunt donat subscrib climb serv win allow reject handl get"
)
"""Stems of verbs that hold of many things at once: who likes tea may like coffee."""

STATIC: Final = listed(
    "be call name hang sit stand lie keep store base host locat park mount instal stay live belong"
    " label titl say read"
)
"""Stems of verbs that say no more than what or where a thing is: one may stand for another."""

ONCE: Final = listed(
    "bear found launch join graduat marri die releas hire sign start begin open end close born schedul"
    " book expir"
)
"""Stems of verbs of what happens once to a thing: another date is a correction, not another occasion."""

KIN: Final = listed(
    "sister brother cousin uncle aunt friend neighbour neighbor colleague son daughter child kid nephew"
    " niece grandmother grandfather flatmate roommate coworker teammate student customer client"
)
"""People one may have several of."""

LIGHT: Final = listed(
    "be have get do make take give go put keep includ seem current happen stay new recent final actual lot"
)
"""Stems of words that carry little: two statements are not about the same because they share one."""

SINGLE: Final = STATIC | listed(
    "work weigh cost drive sleep studi earn pay rent commut park report deploi deploy run use expir default"
    " lead practis practic rehears wear vote found launch graduat marri die releas hire sign born schedul"
    " book prefer"
)
"""Stems of verbs of what a person has one of at a time: who works at one place has left the other."""

FOR: Final = listed("use run lead sign hire wear vote book")
"""Those of them that need what it is for: who uses one thing for the mail uses another for the accounts."""

WEAK: Final = STATIC | listed(
    "take run come go find see feature offer provid have get remain occur happen exist use contain includ hold"
    " consist compris involv total amount measur serv work give"
)
"""Stems of verbs that stand for one another where all else is the same: a bus runs, or comes, every hour."""

WEIGHTLESS: Final = listed(
    "number be have get do make happen occur exist seem matter case fact point type kindli appreci sure ensur"
    " detail overal process activ gener basi regard concern period"
)
"""Stems of words that a paraphrase gains or loses and that tell nothing of their own."""
