# ruff: noqa: E501
"""Supersession lexicon: how languages announce a change, a rejection or a correction."""

from __future__ import annotations

import re
from typing import Final

from scrubjay.text.normalize import word_set


def _any(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts))


ALSO: Final = _any(
    r"\b(?:also|too|as well|in addition|additionally|besides|second|another|both|either|sometimes|part of)\b",
    r"\b(?:auch|ausserdem|außerdem|zusätzlich|zweite[rsn]?|manchmal|aussi|également|deuxième|parfois|también|además|segund[oa])\b",
    r"也|还有|另外|同时|第二",
)
"""What holds beside something else."""
REJECTION: Final = _any(
    r"(?P<behind>\bvon(?= \S+ (?:auf|zu|nach) .{2,30}(?:umgestiegen|gewechselt|umgestellt|migriert)\b)|\b(?:no longer|not .{0,12}any ?more|instead of|stopped|renamed|sold|replaced|cancell?ed|(?:i|we)(?:'ve| have)? (?:dropped(?!.{0,30}\b(?:at|off)\b)|quit|left(?! (?:my|the|our|a|it|for)\b))"
    r"|moved (?:away )?from|switched (?:away )?from|changed from|migrated from|went from|nicht mehr|kein[e]?[nrm]? mehr|statt|anstatt|anstelle"
    r"|n(?:e |')\S+ plus|ya no|en vez de|en lugar de|dejé de|au lieu d[eu']|já não|em vez de|non .{0,12} più|invece di)\b|(?:从(?=.{1,20}(?:换成|改成|改为|迁移到|切换到|换到))|不再(?:用|使用|是|住|在)?|不用|而不是|取代|替换))",
    r"(?P<before>\b(?:any ?more|anymore|any longer|fell through|est partie?|se jubiló|ist (?:im|in) (?:ruhestand|rente)|is gone|are gone|was (?:retired|dropped|replaced|shut)|is (?:shut|sold|retired|dead|over)"
    r"|bounces|ist weg|gibt es nicht mehr|n'existe plus|ya no existe)\b|了不再用|已停用|已经停用)",
)
"""What rejects the value that is named behind it, or before it."""
CHANGED: Final = _any(
    r"\b(?:changed|renamed|raised|increased|lowered|reduced|postponed|rescheduled|pushed back|brought forward|extended"
    r"|shortened|switched|migrated|upgraded|downgraded|replaced|moved|(?:went|gone) (?:up|down))\b",
    r"\b(?:geändert|ändert sich|umbenannt|erhöht|gesenkt|verschoben|verlegt|verlängert|verkürzt|gewechselt|wechseln|umgestellt|umgestiegen|ersetzt)\b",
    r"\b(?:changé|change de|renommé|augmenté|baissé|reporté|repoussé|prolongé|migré|passés? (?:à|au)|remplacé)\b",
    r"\b(?:cambi(?:é|ó|ado|amos|aron)|renombrad[oa]|subido|bajado|aplazad[oa]|pospuest[oa]|trasladad[oa]|migrad[oa]|pasamos a|sustituid[oa])\b",
    r"改成|改为|改到|改用|换成|换到|换了|升级到|搬到|推迟到|提前到|调整为|迁移到",
)
"""What says that the attribute beside it has another value now."""
NOW: Final = _any(
    r"\b(?:now|nowadays|these days|from now on|from today|as of (?:today|now)|henceforth|only on|instead(?! of)|told you wrong|i was wrong|correction)\b",
    r"\b(?:jetzt|nun|ab jetzt|ab sofort|ab heute|mittlerweile|inzwischen|stattdessen|künftig)\b",
    r"\b(?:maintenant|désormais|dorénavant|à partir de maintenant|à présent|ahora|a partir de ahora|desde ahora|actualmente|agora|adesso|ora)\b",
    r"现在|从现在起|以后|今后|目前|已经",
)
LASTING: Final = re.compile(
    r"\b(?:years?|months?|weeks?|days?|while|time|jahren?|ans|años) now\b|\bfor .{1,30} now\b|\bright now\b|\bfor now\b|\bnow (?:and|that)\b"
)
"""A "now" that says how long something has been so, or that it is so for a while."""
PASSIVE: Final = frozenset(
    ["has", "have", "was", "were", "is", "are", "been", "got", "wurde", "ist", "été", "sido", "to", "it"]
)
"""Words between an attribute and a verb of change that say that the attribute is what changed."""
BEEN: Final = PASSIVE - {"has", "have", "to", "it"}
CORRECTION: Final = _any(
    r"^(?:no|nope|sorry|wait|oops|correction|actually|scratch that|i meant|my mistake|not)\b",
    r"\b(?:correction|i was wrong|told you wrong|i misspoke|i meant|typo)\b",
    r"^(?:nein|moment|korrektur|ach nein|doch nicht|entschuldigung|non|pardon|rectification|perdón|corrección|me equivoqué)\b",
    r"\b(?:korrektur|ich meinte|je voulais dire|je me suis trompée?|quise decir)\b",
    r"^(?:不对|不是|更正|纠正|我说错|错了)|我说错|更正",
)
MOVED: Final = _any(
    r"\b(?:moved to|have moved|relocated to|umgezogen|ziehe nach|zog nach|nach .{2,20} gezogen|déménagé|mudé a|mudamos a|mudado a|traslad[éa])\b",
    r"搬到|搬去|搬家",
)
LIVE: Final = _any(
    r"\b(?:live|lives|am based|is based|are based|living|wohne|wohnt|wohnen|lebe|lebt|habite|habitent|habitons|vis à|vivo|vive|vivimos)\b",
    r"住",
)
PAST: Final = _any(
    r"\b(?:was|were|had|did|went|got|paid|lent|bought|sold|gave|took|came|made|reached|found|saw|met|ran|sent|spent|cost me|ate|won|lost|left|wrote"
    r"|yesterday|last (?:week|month|year|night)|today|tomorrow|this (?:week|month)|next (?:week|month)|(?!support|allow|requir|nam|call|bas|host|stor|us|locat|schedul|need|encrypt|cach|shar|speed|feed)\w{3,}ed)\b(?! (?:on|in|at|by) port)",
    r"\b(?:war|waren|hatte|wurde|wurden|gestern|heute|morgen|hat .*ge\w+t|habe .*ge\w+t|était|a été|hier|aujourd'hui|demain|fue|era|ayer|hoy|mañana|había)\b",
    r"昨天|今天|明天|上周|上个月|过",
)
"""What tells of one day or of what happened: that is so for ever, and happens again."""
OCCASIONS: Final = _any(
    r"\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
    r"|januar|februar|märz|mai|juni|juli|oktober|dezember|janvier|février|mars|avril|juin|juillet|août|décembre|enero|febrero|marzo|abril|mayo|junio"
    r"|julio|agosto|septiembre|octubre|diciembre|q[1-4]|20\d\d|invoice|rechnung|facture|factura|order|ticket|meeting|train|bus|flight|session"
    r"|score|result|experiment|trial|sample|patient|batch)\b",
    r"\d月|发票|订单|会议",
)
"""What there are several of, each with its own number: dated things, invoices, runs."""
ADDITIVE: Final = word_set(
    """allergic like likes love loves enjoy enjoys speak speaks know knows learn learns learning read reads
    reading play plays playing own owns owner maintain maintains maintainer review reviews lead leads
    manage manages responsible handle handles support supports need needs want wants have has hate hates
    collect collects work works mag liebe spricht spreche lerne lernt hat habe haben besitzt betreut
    verantwortlich zuständig aime parle apprends habla hablo tengo tiene gusta responsable knowledg study
    studies use uses helps help teaches attend attends visits buy buys eat eats sees watch watches writes
    write listen listens cook cooks goes go kann can could contains includes accepts covers"""
)
"""What one may do or have several of: a new object stands beside the old one."""
AT_VERB: Final = word_set(
    """is are be has have runs run takes take costs cost lasts last expires expire listens listen uses use
    needs need seats holds hold keeps kept keep earns earn pays pay starts start begins begin opens closes
    gets get drink drinks weighs contains supports requires allows ist sind hat haben beträgt kostet dauert
    läuft : = est sont a coûte dure es son tiene cuesta dura está s'appelle heißt llama 是 有 为"""
)
HEADS: Final = word_set(
    """port version number code pin limit size timeout budget retention concurrency year grade level of to at
    after for every minimum maximum rate lr in on per within auf nach um alle bei von zu auf à de en après
    sur cada hasta por minutes about around only just"""
)
"""Words behind which a number measures, and does not name."""
LIGHT: Final = word_set(
    """a an is are be been being it's that's there here has have had do does please we i you he she they it me
    my our your his her their its run runs running last lasts get gets take takes set use uses using
    currently exactly about around roughly now only just default by value current always still jetzt nun
    beträgt liegt läuft dauert maintenant ahora actualmente so then also from on at will with today 的 了 是 在
    我 们 你 他 她 个 现 已 经 i've we've listens listen host hosted hosts stored store lives live set version alle
    nach ab läuft team"""
)
SAME: Final = {
    word: same
    for same, words in {
        "limit": "limit limits cap",
        "second": "s sec secs second seconds sekunde sekunden",
        "minute": "min mins minute minutes minuten",
        "hour": "h hr hrs hour hours stunde stunden",
        "month": "month months monthly monat monatlich mensuel mensual",
        "week": "week weeks weekly woche wöchentlich",
        "day": "day days daily tag tage tagen jour jours día días",
        "request": "req reqs request requests",
        "retain": "retention retain retained keep keeps kept",
        "due": "due deadline frist abgabetermin abgabefrist stichtag",
        "production": "prod production",
        "repository": "repo repository repos",
    }.items()
    for word in words.split()
}
"""Spellings of one word."""
UNITS: Final = (
    {word: same for word, same in SAME.items() if same in ("second", "minute", "hour", "day")}
    | {
        word: word
        for word in (
            [
                "gb",
                "mb",
                "tb",
                "kb",
                "km",
                "m",
                "cm",
                "mm",
                "kg",
                "g",
                "mg",
                "ml",
                "l",
                "euro",
                "euros",
                "eur",
                "usd",
                "dollars",
                "dollar",
                "chf",
                "francs",
                "percent",
                "%",
                "people",
                "persons",
                "users",
                "seats",
                "pages",
                "words",
                "images",
                "items",
                "lines",
                "rows",
                "requests",
                "ms",
                "hz",
                "mhz",
                "ghz",
                "watt",
                "watts",
                "degrees",
                "grad",
                "cups",
                "coffees",
                "replicas",
                "workers",
                "nodes",
                "times",
            ]
        )
    }
    | {"req": "requests"}
)
PERSONS: Final = {
    word: who
    for who, words in {
        "i": "we our us wir unser unsere nous notre nos nosotros nuestro nuestra 我们 i my me mine ich mein meine meinen meinem meiner je j'ai j'habite mon ma mes yo mi mis me vivo 我",
        "she": "she her",
        "he": "he his him",
        "they": "they their",
    }.items()
    for word in words.split()
}
KIN: Final = _any(
    r"\b(?<!& )(?:wife|husband|partner|mother|mum|mom|father|dad|sister|brother|son|daughter|kids?|child(?:ren)?|parents?|grand\w+|aunt|uncle|cousin|niece|nephew"
    r"|in-laws?|\w+-in-law|friend|colleague|neighbou?r|boss)s?\b",
    r"\b(?:schwieger\w+|(?:mein|dein|sein|ihr|unser)e[rn]? frau|mann|mutter|vater|schwester|bruder|sohn|tochter|kind(?:er)?|eltern|oma|opa|großeltern|tante|onkel|freund(?:in)?|kolleg(?:e|in)|chef(?:in)?)\b",
    r"\b(?:femme|mari|mère|père|s(?:oe|œ)ur|frère|fils|fille|enfants?|parents|ami[e]?|collègue|esposa|marido|madre|padre|hermana|hermano|hij[oa]s?|padres|amig[oa])\b",
    r"妻子|老婆|老公|丈夫|妈妈|母亲|爸爸|父亲|姐姐|妹妹|姐|哥哥|弟弟|儿子|女儿|孩子|父母|朋友|同事|老板",
)
"""Whose something is, beside oneself: of two statements, both must name the same."""
SUBJECT: Final = re.compile(
    r"(?:\b(?:i|we|i've|we've|ich bin|ich|wir sind|wir|je|j'ai|j'|nous avons|nous|me|nos)(?:\b|(?<='))(?: \w+){0,2}? ?|(?:我们?|咱们)(?:已经|刚刚?|又|上周|上个?月)?)$"
)
"""Oneself, right before a verb."""
STATES: Final = word_set(
    "is are ist sind est sont es son está takes take costs cost called heißt : 是 为 starts start"
)
"""Verbs of which what follows is the value."""
QUALIFIERS: Final = tuple(
    word_set(words)
    for words in (
        "prod production staging stage dev development test testing local ci qa",
        "frontend backend mobile web ios android desktop",
        "left right front rear upper lower links rechts linke rechte linker rechter gauche droite izquierda derecha",
        "weekday weekdays weekend weekends wochenende",
        "morning afternoon evening night noon lunch breakfast dinner morgens abends",
        "read write upload download input output connect request response idle",
        "first last next previous new old other primary secondary main replica backup nächste nächstes nächster neue neues neuer alte altes alter erste erstes erster letzte letztes letzter prochain prochaine nouveau nouvelle ancien ancienne próximo próxima nuevo nueva",
        "january february march april june july august september october november december",
        "summer winter spring autumn q1 q2 q3 q4",
        "red blue green yellow black white",
        "home office school work",
        "linux windows macos mac",
        "if when unless until wenn falls quand cuando si",
    )
)
"""Kinds of circumstance: a statement with one of a kind is of another thing than one with another, or with none."""
ATTRIBUTES: Final = _any(
    r"^(?:my|our|the|mein|meine|unser|unsere|mon|ma|notre|mi|nuestr[oa]|el|la)(?: \w+){0,3}? (?:terminal|editor|shell|ide|browser|manager|boss|dentist|doctor|gp"
    r"|landlord|employer|wifi|password|address|email|name|phone|plan|provider|vendor|supplier|bank|insurer|host|database|framework|theme|font|keyboard"
    r"|laptop|chef|chefin|hausarzt|zahnarzt|vermieter|médecin|dentiste|patron|jefe|jefa|médico|dentista)"
    r"(?: (?:of|for|von|für|de|du|del|in|at) [\w -]+)? (?:is|ist|est|es|is called|heißt|s'appelle|se llama)(?: now)?$",
    r"^(?:the|our|der|die|das|unser|unsere|le|la|el)(?: \w+){0,2}? (?:build|ci|pipeline|site|website|wiki|docs|blog|cluster|backup|database|cabin wifi|wifi|offsite|wedding)"
    r" (?:runs on|is hosted on|are hosted on|is on|is in|lives on|is called|läuft auf|läuft bei|tourne sur|corre en)$",
)
"""Attributes that have one value, up to where it is told."""

WEEKDAYS: Final = word_set(
    """monday mondays tuesday tuesdays wednesday wednesdays thursday thursdays friday fridays saturday
    saturdays sunday sundays montag montags dienstag dienstags mittwoch mittwochs donnerstag donnerstags
    freitag freitags samstag samstags sonntag sonntags"""
)
SCHEDULE: Final = WEEKDAYS | word_set(
    "at on am pm um uhr every and half past quarter to noon midnight 一 二 三 四 五 六 七 八 九 十 两 日 天 上 下 午 早 晚 中 点 半 周 "
    + " ".join(
        f"{hour:02}:{minute:02} {hour}:{minute:02} {hour:02}.{minute:02} {hour} {hour}am {hour}pm"
        for hour in range(25)
        for minute in range(0, 60, 5)
    )
)
"""Words that say when something regular takes place."""
REGULAR: Final = re.compile(
    r"^(?!i |we |ich |wir |je |nous )[^,]* (?:is|are|meets|rehearses|takes place|is held|comes out|goes out|happens|airs|starts|is published|ist|findet|erscheint|:)(?: on)?$"
)
"""Words that say of something regular, up to its weekdays, when it takes place."""
NUMBERS: Final = {
    word: str(number)
    for number, words in enumerate(
        [
            "zero null",
            "one ein eine eins first erster un une",
            "two zwei second deux dos",
            "three drei third trois tres",
            "four vier fourth quatre cuatro",
            "five fünf fifth cinq cinco",
            "six sechs sixth seis",
            "seven sieben seventh sept siete",
            "eight acht eighth huit ocho",
            "nine neun ninth neuf nueve",
            "ten zehn tenth dix diez",
            "eleven elf",
            "twelve zwölf",
        ]
    )
    for word in words.split()
}
DIRECTIONS: Final = word_set(
    """to from back there before after above below over under with without into between nach von ab vor über
    unter mit ohne vers depuis avant après avec sans sur sous hacia desde antes después con sin"""
)
"""Small words of which another one tells of another thing: a ferry to and from a place."""
ARTICLES: Final = word_set("the a an der die das dem den ein eine le la les un une el los las my our")
ADVERBS: Final = word_set(
    """now nowadays currently instead henceforth jetzt nun mittlerweile inzwischen stattdessen künftig
    maintenant désormais actuellement ahora actualmente"""
)
"""What announces a change from within a statement."""
ANNOUNCED: Final = re.compile(
    r"^(?:(?:from now on|from today|new rule|update|correction|ab jetzt|ab sofort|ab heute|künftig|neue regel|désormais|à partir de maintenant|dorénavant|a partir de ahora|desde ahora|nueva regla)\b[:,]?"
    r"|[^:;,]{0,40}\b(?:changed it|changed that|told you wrong|was wrong|misread it|hat sich geändert|a changé|ha cambiado)\b[^:;,]{0,20}[:;,])\s*"
)
SINCE: Final = re.compile(
    r" (?:since (?:the|january|february|march|april|may|june|july|august|september|october|november|december|last|this)\b.*|as of .*)$"
)
VERBS: Final = word_set(
    """use write send put call keep run deploy release ship takes take uses writes needs meets rehearses lives
    works wohnt arbeitet habite travaille vive trabaja nutzen verwenden schreibt bake"""
)
"""Verbs that, like ``AT_VERB``, stand between a subject and its value."""
SINGLE: Final = re.compile(
    r"(?:\b(?:lives? in|works? (?:at|for)|is based in|is called|is named|wohnt in|wohne in|arbeitet bei|heißt|s'appelle|habite à|travaille chez|vive en|trabaja en|se llama"
    r"|(?:is|are) (?:serviced|owned|run|hosted|led|headed|managed|supplied|insured|cleaned|done|catered) by|(?:is|are) (?:hosted|stored|parked) (?:on|in|at|with)"
    r"|favou?rite \w+ is|(?:landlord|accountant|contact|supplier|vendor|insurer|manager|boss|dentist|doctor|gp|head|owner|maintainer|lead|caretaker"
    r"|ansprechpartner(?:in)?|vermieter(?:in)?|hausverwaltung|steuerberater(?:in)?|lieferant|leiter(?:in)?|comptable|propriétaire|contador|casero)"
    r"(?: (?:of|for|at|in|bei|für|von|de|du|des|del) [^,]{1,30})? (?:is|ist|est|es)))$"
)
"""What has one value, up to where it is told."""
DONE_BY: Final = re.compile(r"\b(?:is|are) \w+ed (?:by|in|on|at|with|to)\b")
OPEN: Final = re.compile(
    r"\b(?:open|opens|closed|closes|off|free|busy|available|owes?|geschlossen|geöffnet|offen|frei|fermée?|ouverte?|cerrad[oa]|abiert[oa])\b|开门|关门|休息|营业"
)
"""What is so on several days."""
DIARY: Final = re.compile(r"\b(?:has|have|hat|habe|haben|got|a|tiene|avons)\b.{0,200} (?:at|on|um|à) \d")
"""What stands in a diary, one appointment beside another."""
APART: Final = word_set("from back desde without ohne sans sin")
PLACED: Final = re.compile(r"\b(?:in|on|at|live\w*|host\w*|stor\w*|kept|um|auf|à|en)\b")
DAY_KEYS: Final = frozenset(word.removesuffix("s") for word in WEEKDAYS) | WEEKDAYS
DOES: Final = word_set("owns maintains manages leads runs handles reviews heads")
INTRANSITIVE: Final = frozenset(("moved", "went up", "went down", "gone up", "gone down"))
"""Verbs of change whose subject is what changed."""
ALIKE_VERBS: Final = (
    word_set("is are ist sind est es : 是"),
    word_set("needs takes requires costs"),
    word_set("runs run"),
)
"""Verbs that give a value to the same attribute."""
OURSELVES: Final = frozenset(("i", "we", "we're", "ich", "wir", "je", "nous", "nosotros"))
TONGUES: Final = frozenset(("en", "de", "fr", "es", "pt", "it", "zh"))
"""Languages whose small words are told apart here; of short English texts, others are guessed."""
SUBORDINATE: Final = word_set(
    "when if while after before since that which who because wenn als weil quand parce cuando porque"
)
"""Words that begin another clause."""
