# ruff: noqa: E501
"""Ownership: is a person's statement about the person, and so true in all projects, or about the project at hand?

A statement is the person's if it says so ("in all my projects"), if it is about how they are answered or asked ("short
answers", "ask me first"), or if it tells who they are, what they like or who is close to them. A word of the project
("we", "here", "the repo", "staging") makes it the project's, and so does any doubt: what is missed there is still
known where it was said, but a project's rule taken for the person's would be wrong in all others.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_EVERYWHERE: Final = re.compile(
    r"\b(?:all|any|each|every one)(?: of)? my (?:\w+ )?(?:projects|repos|repositories|code)\b|\bin (?:every|any) project(?! of (?!mine))\b"
    r"|\b(?:no matter (?:which|what|the)|whichever|whatever)(?: the)? project\b|\bregardless of (?:the )?project\b"
    r"|\b(?:in|für) (?:allen? meinen?|jedem(?: meiner)?) projekte?n?\b|\begal (?:in |bei )?welche[mns]? projekt\b"
    r"|\bdans tous mes projets\b|\bquel que soit le projet\b|\ben todos mis proyectos\b|\ben cualquier proyecto\b"
    r"|\bem todos os meus projetos\b|(?:我的?所有|所有我的|任何|每个)项目"
)
"""Phrases that say outright that a statement holds in all projects."""
_PROJECT: Final = re.compile(
    r"\b(?:we|we're|we've|our|ours|here|(?:mono)?repos?|repository|projects?|codebase|branch(?:es)?|modules?|packages?|librar(?:y|ies)|services?"
    r"|servers?|clusters?|containers?|databases?|db|schemas?|migrations?|queues?|api|apis|endpoints?|backend|frontend|website|apps?|bot|assistant"
    r"|scripts?|parser|pipelines?|ci|builds?|deploy\w*|releases?|staging|production|prod|teams?|users?|customers?|clients?|tenants?|tickets?|docs"
    r"|documentation|errors?|logs?|json|wir|uns|unsere?[mnrs]?|hier|projekte?s?|dienste?|datenbank\w*|zweig|modul\w*|\w+modul|kunden|nutzer|fehler\w*"
    r"|nous|notre|nos|ici|projets?|dépôt|serveurs?|base de \w+|équipe|clients|utilisateurs?|erreurs?"
    r"|nosotros|nuestr[oa]s?|aquí|proyectos?|repositorio|servidor(?:es)?|módulos?|equipo|clientes?|usuarios?|errores|nosso|nossa|aqui|projeto)\b"
    r"|我们|咱们|这里|项目|仓库|代码库|分支|模块|服务|接口|数据库|部署|客户|用户|\w_\w|\w::\w|\w\.[a-z]{1,4}\b"
)
"""Words of a project, and of its people and things."""
_LANGUAGE: Final = (
    r"(?:english|german|french|spanish|portuguese|italian|dutch|polish|chinese|japanese|korean|russian)"
)
_ANSWER_STYLE: Final = re.compile(
    r"\b(?:short|brief|concise|terse|long|detailed|blunt|direct|formal|informal) (?:answers|replies|responses|explanations)\b(?! (?:\w+ )?(?:are|is|must|should|from|to)\b)"
    r"|\b(?:keep|make) (?:your )?(?:answers|replies|responses|explanations) \w+"
    r"|\byour (?:answers?|reply|replies|responses?|explanations?|tone)\b"
    r"|\b(?:answer|call|address) me\b|\b(?:talk|speak|write|reply|respond|explain(?: \w+)?) to me\b"
    rf"|\b(?:answer|reply|respond) (?:(?:always|only) )?(?:in {_LANGUAGE}|briefly|concisely|tersely)(?=[.,;!]|$)"
    r"|\b(?:kurze|knappe|lange|ausführliche)n? (?:antworten|erklärungen)\b|\bantworte (?:mir|bitte|immer|nur|kurz|knapp|auf (?:deutsch|englisch|französisch|spanisch))\b"
    r"|\b(?:deine|ihre) antworten\b|\b(?:duze|sieze|nenn) mich\b"
    r"|\bréponds\b|\bréponses (?:courtes|brèves|longues|concises)\b|\b(?:longues|courtes) (?:explications|réponses)\b|\b(?:tes|vos) réponses\b|\b(?:tutoie|vouvoie|appelle)-moi\b"
    r"|\brespuestas (?:cortas|breves|largas|concisas)\b|\btus respuestas\b|\b(?:respóndeme|contéstame|tutéame|llámame)\b|\bresponde (?:siempre |solo )?en (?:español|inglés|alemán|francés)\b"
    r"|\brespostas (?:curtas|breves)\b|\bresponde? (?:sempre )?em (?:português|inglês)\b"
    r"|用(?:中|英|德|法|日)(?:文|语)(?:来)?回答|回答.{0,4}(?:简短|简洁)|(?:简短|简洁)的?回答"
)
"""Length, language and tone of answers to the person."""
_ASK_ME: Final = re.compile(
    r"\b(?:ask|asking|tell|telling|show|warn|warning|consult) me\b|\bfrag(?:e)? mich\b|\bohne mich zu fragen\b|\b(?:zeig|sag)e? mir\b"
    r"|\bdemande-moi\b|\bsans me demander\b|\bmontre-moi\b|\bpregúntame\b|\bsin preguntarme\b|先问我|问过我"
)
"""Requests to be asked or told."""
_START: Final = r"(?:^|[,;:.!] ?|\b(?:and|but|since|because|as|that|und|aber|da|et|y|pero|que|e)\b )(?:please |also |well )?"
_END: Final = r"(?=[.,;!]|$| (?:and|und|et|y|e) )"
_PERSON_NOUNS: Final = (
    r"(?:name|nickname|pronouns|birthday|time ?zone|native language|mother tongue|first language|home ?town|hobby|hobbies|diet|favou?rite \w+"
    r"|wife|husband|partner|girlfriend|boyfriend|mother|father|mum|mom|dad|sister|brother|son|daughter|kids|children|dog|cat|grandmother|grandfather)"
)
_ABOUT_SELF: Final = re.compile(
    _START + r"(?:"
    rf"my (?:\w+ )?{_PERSON_NOUNS}\b|i go by\b|(?:i'm|i am) (?:an? |[a-z-]*(?:blind|handed|deaf|dyslexic|autistic|diabetic|vegan|vegetarian|allergic|married|retired)\b|from\b|based in\b|called\b)"
    r"|i (?:live in|was born|grew up|speak|work as|work nights|have (?:\w+ )?(?:kids|children|daughters?|sons?|dogs?|cats?|adhd|asthma|diabetes))\b"
    r"|i (?:really |strongly |always |generally )?(?:prefer|like|love|hate|dislike|detest|enjoy|can't stand|cannot stand)\b"
    r"|(?:i'd|i would) (?:much |always )?(?:rather|prefer)\b|i (?:always|never|don't|do not) want\b|i want (?:you|your)\b"
    rf"|ich (?:heiße|wohne|lebe|spreche|bevorzuge|mag|hasse|liebe|hätte gerne?|komme aus|(?:will|möchte) (?:immer|nie))\b|ich bin (?!zuständig|verantwortlich)[\w-]+{_END}"
    r"|(?:meine?|mein name) (?:name ist|frau|mann|schwester|bruder|mutter|vater|tochter|sohn|kinder|muttersprache|hund|katze)\b"
    rf"|je m'appelle\b|j'(?:habite|aime|adore)\b|je (?:préfère|déteste|n'aime pas|parle)\b|je suis (?!responsable)[\w-]+{_END}|(?:ma|mon|mes) (?:femme|mari|sœur|frère|mère|père|fille|fils|enfants)\b"
    rf"|(?:yo )?(?:me llamo|vivo en|prefiero|odio|detesto|me gustan?|hablo)\b|soy (?!responsable)[\w-]+{_END}|mis? (?:hermanas?|hermanos?|mujer|marido|esposa|madre|padre|hijas?|hijos?)\b"
    rf"|(?:eu )?(?:me chamo|moro em|prefiro|odeio)\b|sou (?!responsável)[\w-]+{_END}"
    r")|我叫|我是|我住在|我(?:更)?喜欢|我讨厌|我说(?:中文|英语)"
)
"""Phrases about the person, their likes, and people close to them."""
_I_AM: Final = re.compile(r"\bI(?:'m| am) [A-ZÀ-Þ][\w-]+(?=[.,;!]|$| and )")
_PERMANENT: Final = re.compile(
    r"\b(?:always|never|from now on|immer|nie|niemals|stets|toujours|jamais|siempre|nunca|sempre)\b|以后|总是|永远|不要"
)
"""Words that make a request for one answer a request for all answers."""
_POINTS: Final = re.compile(r"\b(?:the|this|that|these|those|it|der|die|das|dies\w*|le|la|les|el|los|las)\b")
"""Words that point at a thing at hand: liking that thing is no general preference."""
_LIKING: Final = re.compile(
    r"\b(?:prefer|like|love|hate|dislike|detest|enjoy|stand|rather|want|bevorzuge|mag|hasse|liebe)\b"
)
_FIRST_PERSON: Final = re.compile(
    r"\W*(?:i|i'm|i've|i'd|my|ich|meine?[mnrs]?|je|j'\w+|mon|ma|mes|yo|mis?|eu|meu|minha)\b|\W*我(?!们)"
)


@lru_cache(4_096)
def is_personal(text: str) -> bool:
    """Return whether a person's statement belongs to the person, in all projects; False in doubt.

    >>> [is_personal(text) for text in ("I prefer tabs", "I prefer tabs in this repo", "Always use pytest")]
    [True, False, False]
    >>> [is_personal(text) for text in ("Always use pytest, short answers please", "Antworte immer auf Deutsch")]
    [True, True]
    """
    plain = " ".join(text.replace("’", "'").split())
    lower = plain.lower()
    if _EVERYWHERE.search(lower):
        return True
    if _PROJECT.search(lower):
        return False
    if _ANSWER_STYLE.search(lower) or _ASK_ME.search(lower) or _I_AM.search(plain):
        return True
    return bool(_ABOUT_SELF.search(lower)) and not (_LIKING.search(lower) and _POINTS.search(lower))


@lru_cache(4_096)
def may_be_personal(text: str) -> bool:
    """Return whether a statement is the person's, or speaks in the first person of no project's thing."""
    return is_personal(text) or bool(_FIRST_PERSON.match(text.lower()) and not _PROJECT.search(text.lower()))


def introduces_person(text: str) -> bool:
    """Return whether a sentence only introduces the person, or asks for a style of all answers.

    >>> [introduces_person(text) for text in ("I am Ines.", "Bitte antworte immer auf Deutsch.", "I am Done with it")]
    [True, True, False]
    """
    lower = text.lower()
    if _PROJECT.search(lower):
        return False
    return bool(_I_AM.match(text.strip()) or (_ANSWER_STYLE.search(lower) and _PERMANENT.search(lower)))
