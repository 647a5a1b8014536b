"""Foreign: a clause in German, Spanish, French or Portuguese -> the rule that keeps it, or None.

A small set that is sure of itself: where one lives and works, what one is and must not eat, whom one has, what one
likes, what was decided. Anything that supposes or wishes is left alone. These languages have no more rules than
this because nothing here measures them well.
"""

from __future__ import annotations

import re
from typing import Final

from scrubjay.ingest.statements.words import bag

OPENINGS: Final = bag(
    """ich wir mein meine unser unsere bitte seit ab nein je j'ai j'habite j'aime j'adore j'utilise
    j'étudie nous mon ma mes notre nos on vivo trabajo soy tengo estoy mi mis nuestro nuestra prefiero
    odio me nos hemos usamos no siempre nunca eu moro trabalho sou tenho estou meu minha meus minhas
    nosso nossa prefiro detesto gosto usamos decidimos não toujours jamais immer nie niemals toujours
    non à desde depuis mudei comprei compré heredé j'ai s'il por sempre nunca utilizo uso quero adoro
    odeio somos temos compramos mudámos"""
)
_SUPPOSED: Final = bag(
    """wenn falls würde würden könnte könnten hätte wäre möchte vielleicht glaube denke gerade heute si
    si'l voudrais pourrais peut-être serait aurais aujourd'hui quisiera querría podría quizás tal creo
    hoy ahora gostaria poderia talvez acho hoje agora se sería seria dice sagt dit diz"""
)
_KIN_DE: Final = (
    "mutter|vater|mama|papa|schwester|bruder|sohn|tochter|frau|mann|freundin|freund|kinder|kind|eltern|"
    "oma|opa|tante|onkel|hund|katze|chefin?|kollegin|kollege|firma|team"
)
_KIN_FR: Final = (
    "mère|père|maman|papa|sœur|soeur|frère|fils|fille|femme|mari|copine|copain|compagne|compagnon|"
    "enfants?|parents|grand-mère|grand-père|tante|oncle|chien|chat|chienne|chatte|patron|équipe"
)
_KIN_ES: Final = (
    "madre|padre|mamá|papá|hermana|hermano|hijo|hija|mujer|esposa|marido|esposo|novia|novio|hijos|"
    "abuela|abuelo|tía|tío|perro|perra|gato|gata|jefe|jefa|equipo|pareja|mãe|pai|irmã|irmão|filho|"
    "filha|mulher|namorada|namorado|filhos|avó|avô|tia|tio|cão|cadela|chefe|equipa|equipe|parceira|"
    "parceiro"
)
_FACT = re.compile(
    r"(?:"
    r"(?:seit \S+ (?:\S+ )?)?(?:ich|wir) (?:\w+ )?(?:wohnen?|leben?|arbeiten? (?:als|bei|in|im)|studieren?|"
    r"heiße|spielen? seit|bin (?:allergisch|vegetarier\w*|veganer\w*|\d|schwanger|verheiratet|geschieden|"
    r"\w+(?:in|er|ist|at|ent) (?:von beruf|in|im|bei|und|$)|gegen|laktose\w*|im \w+ (?:monat|semester)|"
    r"linkshänder\w*|diabetiker\w*|umgezogen|von beruf)|esse(?:n)? (?:kein|nie)\w*|trinken? kein\w*|"
    r"vertrage(?:n)? kein\w*"
    r"|haben? (?:seit .{2,30})?(?:zwei|drei|vier|einen? (?:hund|katze|sohn|tochter|bruder|schwester|allergie|"
    r"garten)|diabetes|asthma|zöliakie|.{2,40} gekauft)|nutzen |benutzen |verwenden )"
    rf"|(?:mein|unser)e? (?:\w+ )?(?:{_KIN_DE}) (?:\w+ )?(?:heißt|wohnt|lebt|arbeitet|ist (?!krank|müde|sauer|"
    rf"weg)|hat |heißen|wohnen|leben|studiert|spricht)"
    r"|(?:mein|unser)e? (?:\w+ )?\w+ (?:heißt|läuft (?:auf|unter|in)|liegt (?:auf|in|unter)|ist (?:am|"
    r"auf port|im|in der|unter) )"
    r"|j'habite|j'étudie|je (?:vis|travaille (?:comme|chez|à|dans|en|pour)|suis (?:allergique|"
    r"végétarien(?:ne)?|végane?|en \w+ année|en (?:licence|master|terminale|première)|\d|enceinte|mariée?|"
    r"divorcée?|diabétique|intolérante?|gauch\w+|n[ée]e? |infirmi\w+|prof\w*|étudiante?|développeu\w+|médecin|"
    r"ingénieure?|retraitée?)|m'appelle|parle|ne (?:mange|bois) (?:pas|jamais)|n'ai pas de)"
    r"|(?:j'ai|nous avons|on a) (?:deux|trois|quatre|une? (?:fils|fille|chien|chat|frère|sœur|allergie)|"
    r"\d+ ans|acheté|déménagé|du diabète)|nous (?:utilisons|habitons|vivons|sommes une)|on utilise"
    rf"|(?:mon|ma|mes|notre|nos) (?:\w+ )?(?:{_KIN_FR}) (?:\S+ )?(?:s'appelle|habite|vit|travaille|"
    rf"est (?!malade|fatigué)|a (?:\d|une? |deux)|ont |parle|étudie|déteste|adore)"
    r"|(?:mon|ma|notre) \w+ (?:s'appelle|tourne sur|est (?:le \d|sur le port|au|à))"
    r"|(?:yo )?(?:vivo|trabajo (?:como|en|de|para)|vivimos|soy (?:alérgic[oa]|vegetarian[oa]|vegan[oa]|"
    r"celíac[oa]|diabétic[oa]|zurd[oa]|intolerante|de |enfermer[oa]|profesor\w*|ingenier[oa]|médic[oa]|"
    r"estudiante|madre|padre|desarrollador\w*)|tengo (?:\d+ años|dos|tres|un (?:hijo|perro|gato|hermano)|"
    r"una (?:hija|perra|gata|hermana|alergia)|diabetes|asma)|me llamo|me mudé|me casé|compré|no (?:como|bebo|"
    r"tomo) (?!eso)|usamos|hablo|estudio)"
    r"|(?:eu )?(?:moro|moramos|trabalho (?:como|em|na|no|numa|num|para|há)|sou (?:alérgic[oa]|vegetarian[oa]|"
    r"vegan[oa]|celíac[oa]|diabétic[oa]|canhot[oa]|intolerante|de |d[oa] |enfermeir[oa]|professora?|"
    r"engenheir[oa]|médic[oa]|estudante|mãe|pai|programadora?|desenvolvedora?)|tenho (?:\d+ anos|dois|duas|"
    r"três|um (?:filho|cão|cachorro|gato|irmão)|uma (?:filha|gata|cadela|irmã|alergia)|diabetes|asma)|"
    r"me chamo|chamo-me|mudei-me|mudei|comprei|não (?:como|bebo) (?!isso)|falo|estudo)"
    rf"|(?:mi|mis|nuestr[oa]s?|(?:o |a )?(?:meu|minha|nosso|"
    rf"nossa)s?) (?:\w+ )?(?:{_KIN_ES}) (?:\S+ )?(?:se llama|vive|trabaja|es (?!un problema)|tiene|estudia|"
    rf"habla|odia|chama-se|se chama|mora|trabalha|é |tem |estuda|fala|nació|nasceu|cumple|faz)"
    r"|(?:mi|nuestr[oa]|(?:o |a )?(?:meu|minha|nosso|nossa)) \w+ (?:se llama|corre en|está en (?:el puerto|"
    r"aws)|es el \d|es en|chama-se|roda em|é (?:no|na|em|dia) )"
    r")"
)
_LIKES = re.compile(
    r"(?:ich (?:mag |hasse |liebe |bevorzuge |trinke (?:nur|am liebsten)|esse (?:nur|am liebsten|gern))|"
    r"bitte (?:immer|nie|niemals|ab jetzt|künftig)|(?:ab jetzt|ab sofort|künftig|immer|niemals) \S+ \S"
    r"|mein lieblings\w+ ist|j(?:e |')(?:n')?(?:préfère|aime|adore|déteste|supporte) |(?:toujours|jamais|"
    r"désormais|à partir de maintenant) \S+ \S|s'il te plaît,? (?:toujours|jamais)"
    r"|(?:yo )?(?:prefiero|odio|detesto) |(?:no )?me (?:gustan?|encantan?) (?!mucho)|por favor,? (?:siempre|"
    r"nunca)|(?:siempre|nunca|a partir de ahora|de ahora en adelante) \S+ \S"
    r"|(?:eu )?(?:prefiro|detesto|odeio|adoro|(?:não )?gosto (?:muito )?d[eoa]s?) |por favor,? (?:sempre|"
    r"nunca)|(?:sempre|a partir de agora|de agora em diante) \S+ \S)"
    r"(?!das?\b|es\b|eso\b|esto\b|isso\b|ça\b|cela\b|deine|ta\b|ton\b|tu\b|die (?:zweite|erste|neue))"
)
_DECIDED = re.compile(
    r"(?:(?:ich habe mich|wir haben uns) .{0,60}(?:entschieden|geeinigt)|wir (?:nehmen|bleiben bei|"
    r"wechseln zu|sind auf .{2,40} umgestiegen)|(?:j'ai|nous avons|on a) (?:décidé|choisi|opté)"
    r"|(?:hemos|he) (?:decidido|elegido|optado)|decidimos|decidí|escolhemos|resolvemos)\b"
)
_RIGHTED = re.compile(
    r"(?:nein|doch|non|no|não),? (?!danke|merci|gracias|obrigad).{0,40}\b(?:ist|heißt|wohnt|est|s'appelle|es|"
    r"está|se llama|é|fica|chama-se)\b \S"
)


def foreign(text: str, start: int, end: int, words: list[str]) -> str | None:
    """Return the rule that finds a lasting statement in a clause of one of the four languages."""
    if not _SUPPOSED.isdisjoint(words):
        return None
    for rule, pattern in (
        ("foreign decided", _DECIDED),
        ("foreign likes", _LIKES),
        ("foreign righted", _RIGHTED),
        ("foreign", _FACT),
    ):
        if pattern.match(text, start, end):
            return rule
    return None
