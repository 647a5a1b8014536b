"""Rules: (str, start, end) of a clause -> (rule, kind) that finds a lasting statement in it.

A rule is a pattern over classes of words (``words.py``) that must match where the clause begins, after what only
leads in ("by the way", "last week"). Rules ask who speaks of whom (I, we, my ..., a name, nobody) and what is
said: that one is, has, prefers, always does, once did. First match wins; precision comes first.
"""

from __future__ import annotations

import re
from typing import Final

from scrubjay.ingest.statements.words import (
    ADVERB,
    ANAPHOR,
    DO,
    HABIT,
    HABIT_SURE,
    HAVE,
    KIN,
    LASTING,
    LIFE,
    LIFE_SURE,
    MOMENT,
    PASSING_STATE,
    TAKEN,
)

_LEAD = re.compile(
    r"(?:[\s,.!\"'*_~-]*(?:oh|ok|okay|well|so|and|but|also|plus|btw|by the way|fyi|just|for (?:some )?(?:context|reference|background)|for (?:the|your) (?:record|information)"
    r"|(?:please |do )?(?:note|remember|keep in mind|bear in mind|be aware)(?: that)?|note to self|heads up|just so you know|so you know|to be (?:clear|honest|fair|precise)"
    r"|(?:i|we) (?:should|want to|wanted to|forgot to|must|have to) (?:also )?(?:mention|add|say|tell you|note)(?: that)?|i(?:'ve| have)? (?:already )?(?:told you|mentioned|said)(?: before| already)?(?: that)?"
    r"|as i (?:said|told you|mentioned)(?: before| earlier)?|like i said|in case it (?:matters|helps)|important|context|background|reminder|since|because|cause|cuz|as|given(?: that)?|now that"
    r"|seeing as|although|though|even though|whereas|basically|honestly|actually|anyway|anyways|hi|hello|hey|hey there|hi there|good (?:morning|afternoon|evening)|thanks|thank you|thx|hmm|hm|um|uh|yes|yeah|yep|yup|sure|right|no"
    r"|nope|nah|sorry|wait|unfortunately|luckily|fortunately|sadly|good news|update|quick update|you know|look|see|listen|the thing is|thing is|turns out|guess what|fun fact|not sure if it matters|one more thing|another thing|for me|personally|my bad|guys|man|dude|yesterday"
    r"|these days|nowadays|lately|recently|currently|at present|at the end|in the end|eventually|after all|meanwhile|previously|originally|today|until now|so far|first of all|secondly|then|that said)\b(?!['-]|\s+(?:i|we)\s+(?:should|want)\b.{0,3}$))*+[\s,:.!\"'*_~-]*"
)
_WHEN = re.compile(
    r"(?:(?:in|on|at|for|after|before|during|about|around|over|last|this|every|as of|from|back in|two|three|four|five|six|\d+|a few|a couple|several|some|once|one|since|until|till|as|earlier|with|under|within|here)\b"
    r"(?: (?!(?:i|we|my|you|what|how|if)\b)[\w'./&-]+){0,6}?(?:,)? )(?=(?:i|we|my|our|i'm|i've|we're|we've)\b)"
)

_NP: Final = r"(?:[\w'./&+#@-]+ ){1,6}?"
_NOW: Final = r"(?:'m| am|m|'re| are)"
_FILL: Final = r"(?:not |no longer |both |all |also |still |currently |now |actually |really |strictly |only |just |mostly |originally |a |an )*"
_TRAIT: Final = (
    r"(?:allergic|intolerant|vegan|vegetarian|pescatarian|lactose|gluten|coeliac|celiac|diabetic|asthmatic|pregnant|left-?handed|right-?handed|colou?r-?blind|deaf|blind|dyslexic|autistic"
    r"|married|divorced|widowed|single|engaged|retired|self-employed|unemployed|muslim|jewish|christian|catholic|hindu|buddhist|kosher|halal|sober|bilingual|fluent|native|based|located|born|raised"
    r"|responsible for|in charge of|from|into|a fan of|fond of|severely|deathly|highly allergic|on (?:a|the) [\w -]{2,30}(?:diet|plan|medication|team|committee|board|tier)|on (?:warfarin|insulin|metformin|statins|antidepressants|ssris?|blood thinners)"
    r"|in (?:my|our) (?:\w+ )?(?:teens|twenties|thirties|forties|fifties|sixties|seventies|\d0s|first|second|third|fourth|final|last)|in (?:year|grade|class|the \w+ (?:year|grade|semester)|therapy|college|uni|university|high school|recovery)"
    r"|\d{1,3}(?: ?(?:years? old|yrs? old|y/?o|cm|kg|weeks|months)\b|(?= *(?:$|,|and\b|years|with|from)))|\w+(?:teen|ty)(?:-\w+)? years old)"
)
_ONGOING: Final = (
    r"(?:learning|studying|training|working (?:as|for|at|in|on (?:a|my|our) (?:phd|thesis|master|novel|book|dissertation|degree))|living|raising|renting|saving|volunteering|majoring|taking (?:\w+ ){0,2}(?:classes|lessons|courses?|medication|pills|tablets)"
    r"|writing (?:a|my) (?:novel|book|thesis|dissertation|memoir|phd)|doing (?:a|my) (?:phd|master|degree|apprenticeship|residency|internship|bachelor)|moving (?:to|from|in|out|back)|getting married|expecting|running (?:a|the|on|my|our)|building (?:a|an|my|our)"
    r"|migrating|switching|planning (?:a|an|my|our) (?:trip|wedding|move|holiday|vacation|party|conference|retreat)|retiring|starting (?:a|my|at|as|in|uni|college)|using|recovering from|paying|teaching|leaving (?:my|the) (?:job|company|team)|hosting|going to (?:be a|become|have a baby|move|marry|start (?:a|my|at)))"
)
_FIRST = r"(?P<subject>i|we)"

_NOT_MOMENT: Final = rf"(?!(?:[\w'-]+ ){{0,3}}?(?:{MOMENT})\b)"
_DET: Final = r"(?:an?|the|my|our|one|two|three|four|five|six|seven|eight|nine|ten|\d+|no|some|several|many|only|another|both|type|severe|mild|chronic|bad|over|about|around|almost)"

_PERSON: Final = {
    # -- preference
    "likes": rf"{_FIRST}(?:'ve|'d always)? {ADVERB}(?:do not |don't |dont |didn't |never |can't |cannot |won't )?{ADVERB}(?:prefer|like|love|adore|hate|dislike|enjoy|detest|loathe|despise|favou?r|appreciate|stand|bear|tolerate"
    rf"|care (?:for|about)|want (?:you to )?(?:always|never|everything|all|every)|insist on|swear by)\b(?! {ANAPHOR})(?! ?$)(?! to (?:see|know|hear|ask|thank|get|have you|add|make|change|create|write|learn|start|try|buy|find|build)\b)",
    "fan": rf"{_FIRST}{_NOW} {_FILL}(?:big |huge |massive |great |real |lifelong |total )*(?:fan of|fond of|keen on|into|lover of|more of an?|\w+ person$|sensitive to|picky|a sucker for)\b(?! {ANAPHOR})",
    "rather": rf"{_FIRST}(?:'d| would) (?:always |much |generally )*(?:prefer|rather)\b(?=.*{LASTING})",
    # -- decision
    "decided": rf"{_FIRST}(?:'ve| have|'m| am|'re| are|'ll)? ?(?:have |just |finally |now |also |all |both |recently |already |then |will )*(?:{TAKEN})\b(?! {ANAPHOR})(?! ?$)",
    "will use": rf"(?:{_FIRST}(?:'ll| will)|{_FIRST}(?:'re| are|'m| am) (?:now )?(?:switching|moving|migrating|standardi[sz]ing|dropping|keeping|adopting)) ?(?:only |always |never |now |be )*(?:using |use |stick(?:ing)? (?:with|to) |to |with |on |keep |from |drop )(?!{ANAPHOR}|bed|the\b)",
    "by now": rf"{_FIRST}(?:'ll| will|'re| are|'m| am)? ?(?:\w+ ){{1,6}}.*\b(?:from now on|going forward|from here on)\b",
    # -- fact
    "is": rf"{_FIRST}{_NOW} {_FILL}{_TRAIT}\b",
    "is a": rf"{_FIRST}(?:{_NOW}|(?: was|'ve been| have been)(?= (?:born|raised|diagnosed|promoted|accepted|elected|hired|admitted))) (?:not |also |actually |currently |now |originally |just |both |still |only )*(?:(?:an?|the) (?!bit|little|lot|few|huge mess|mess|bad|good (?:idea|thing)|total mess|wreck|idiot|moron|fool|dumb|little bit|big fan|(?:[\w'-]+ )?(?:{MOMENT})\b|(?:first|second|same|one|last|next|best|worst|only one)\b)"
    rf"|(?:[\w'-]+ )?(?:parents|students|developers|siblings|twins|vegetarians|vegans|founders|renters|homeowners|remote-first)\b|born|raised|diagnosed|promoted|accepted|elected|hired|admitted)",
    "is doing": rf"{_FIRST}{_NOW} {_FILL}{_ONGOING}\b(?! {ANAPHOR})",
    "for years": rf"{_FIRST}(?:'ve| have|ve) {ADVERB}(?:been|had|lived|worked|owned|known|used|played|taught|run|kept|studied|wanted)\b(?=.*\b(?:for|since|lately|recently|all my life|ever since|these days)\b)(?! (?:trying|looking|stuck|thinking|having (?:trouble|issues|problems)|getting|wondering|debugging|struggling|waiting|working on (?:this|it|that))\b)(?!.*\b(?:hours?|minutes?|all day|all morning|forever|ages)\b)",
    "has done": rf"{_FIRST}(?:'ve| have|ve) {ADVERB}(?:{LIFE_SURE}|got (?:an?|my|two|three|\d+)|been diagnosed|been (?:promoted|accepted)|had (?:my|a|an) [\w ]{{0,20}}(?:surgery|removed|baby|operation|transplant|replaced))\b(?! {ANAPHOR})",
    "has": rf"{_FIRST} ?{ADVERB}{HAVE} {ADVERB}{_NOT_MOMENT}(?:{_DET}\b(?! (?:way|ways|clue|need|doubt|reason|choice|look|quick|following|bunch of (?:errors|code)|meeting (?:in|at|today|tomorrow))\b)|[\w'-]+ (?:in|at|on|with|for|allergy|disease|syndrome|and|people|kids|children|cats|dogs)\b|adhd|asthma|diabetes|celiac|coeliac|eczema|migraines|ibs|pcos|anxiety|depression|epilepsy|arthritis|kids|twins|children|siblings|cats|dogs)",
    "always does": rf"{_FIRST} (?:also |mostly |all |both |now )*(?:always|never|usually|normally|typically|generally|mostly|often|only|rarely|tend to|regularly|mainly|primarily|exclusively|strictly|no longer|used to) (?!(?:thought|knew|said|heard|wondered|asked|told|wanted|had|got|saw|was|seem|forget|get|want|need|understood|realized|realised|meant)\b)(?:[a-z']+\b)(?! {ANAPHOR})",
    "does": rf"{_FIRST} {ADVERB}(?:do not |don't |dont |can't |cannot )?{ADVERB}(?:{HABIT_SURE})\b(?! {ANAPHOR})(?! on (?:this|it|that)\b)",
    "does not": rf"{_FIRST} (?:do not|don't|dont|can't|cannot) (?:really |usually |ever |normally |even )*(?:eat|drink|smoke|drive|have|own|use|cook|do|like|tolerate|celebrate|fly|swim|speak|read|wear|work|watch|travel|allow|accept|deploy|commit|merge|ship|support|sell|offer|take)\b(?! {ANAPHOR})(?! (?:any idea|a clue|the time|time|access to this|anything|much time|enough|well)\b)",
    "does every": rf"{_FIRST} {ADVERB}(?:{HABIT}|go|get|meet|have|see|call|send|review|release|ship|hold|update|back|clean|feed|volunteer)\b(?=.*\b(?:every|each|daily|weekly|monthly|yearly|annually|on (?:mon|tues|wednes|thurs|fri|satur|sun)days?|mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays|twice a|once a|times a|per (?:day|week|month)|a (?:day|week|month)|in the mornings?|at night|most (?:days|mornings|weekends)|on weekends)\b)",
    "did": rf"{_FIRST} (?:also |just |recently |finally |actually |already |then |both |officially |last \w+ |once |eventually )*(?:{LIFE_SURE})\b(?! {ANAPHOR})(?! (?:to (?:think|feel|wonder|see|notice)|thinking|wondering|feeling|getting|seeing|noticing|with (?:this|that|the))\b)",
    "got": rf"{_FIRST} (?:also |just |recently |finally |actually |already |both )*(?:got (?:married|engaged|divorced|promoted|laid off|fired|hired|accepted|diagnosed|certified|tenure|pregnant|into \w+|my [\w ]{{2,30}}|a (?:new |second |used )?(?:{KIN}|job|puppy|car|bike|house|flat|apartment|raise|degree|promotion|tattoo|phone|laptop|camera|guitar|piano|scholarship|dog|cat))|was (?:born|raised|diagnosed|promoted|hired|laid off|accepted|a [\w-]+ (?:for|at|until))|were (?:born|acquired|founded|married)|had (?:a baby|twins|surgery|my|an? [\w-]+ (?:surgery|removed|operation)|a (?:stroke|heart attack|miscarriage|c-section))|broke my|lost my (?:job|mother|father|mum|mom|dad|wife|husband|brother|sister|dog|cat)|passed (?:my|the)|finished (?:my|the|reading|school|college|uni)|gave birth|grew up|came from|left (?:my job|the (?:company|army|navy)|school|home)|retired|used to (?:live|work|be|play|teach|smoke|own|have|run))\b(?! {ANAPHOR})",
    "did once": rf"{_FIRST} (?:also |just |recently |finally |actually |already |both |officially )*(?:{LIFE}|went|got|had|saw|read|watched|tried|reached|celebrated)\b(?! {ANAPHOR})(?=.*\b(?:in (?:19|20)\d\d|in (?:january|february|march|april|may|june|july|august|september|october|november|december)|(?:last|this past|a few|a couple of|two|three|four|five|six|\d+) (?:\w+ )?(?:year|month|week|weekend|summer|winter|spring|autumn|fall|years|months|weeks|days|monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?\b(?: ago| back)?|on (?:january|february|march|april|may|june|july|august|september|october|november|december|the \d+|(?:mon|tues|wednes|thurs|fri|satur|sun)day)|recently|years ago|yesterday|for my (?:birthday|anniversary)|\$\d|€\d|£\d|\d+(?:st|nd|rd|th)?\b))",
    "runs on": rf"(?P<team>we) {ADVERB}(?:do not |don't |dont )?{ADVERB}(?:use|run|deploy|host|store|ship|release|support|target|follow|pin|vendor|build|test|lint|format|squash|rebase|merge|tag|version|log|back up|keep|name|write|require|sell|make|serve|offer|charge|close|open|employ|publish|maintain|monitor|document|review|pair|track|manage|operate|develop|meet|share|rely on|depend on|live|rent|own|celebrate|speak|bill|invoice|pay|accept|hold|do)\b(?! {ANAPHOR})(?! (?:to|some|something|anything|not|our best|all we|the same|another|next|more)\b)(?! ?$)",
}
_OF_MINE: Final = {
    "favourite": rf"(?:my|our) (?:\w+ ){{0,2}}?(?:favou?rites?|preferred|preference|go-to|least favou?rite|pet peeve|dream)\b.*\b(?:is|are|was|were|has (?:always )?been|:)(?! {ANAPHOR}\b)",
    "kin": rf"(?:my|our) (?:[\w'-]+ ){{0,3}}?{KIN}(?:,? (?!is\b|was\b|has\b|are\b)[\w'-]+,?){{0,3}}? (?:also |just |recently |now |still |both |always |never |usually |actually |already |really |only |finally )*(?:(?:is|are|was|were|'s|isn't|aren't)(?! (?:also |just |really |so |very |now |still |being |not |a bit |a little |pretty |quite |currently )*(?:{PASSING_STATE})\b)|has|have|had(?= (?:a|an|his|her|their|surgery|twins))|lives?|works?|studies|study|teaches|teach|speaks?|likes?|loves?|hates?|prefers?|plays?|runs?|owns?|drives?|eats?|doesn't|does not|don't|can't|cannot|won't|goes to|go to|attends|turns?|turned|starts?|started|moved|bought|died|passed|graduated|graduates|retired|retires|married|joined|got|grew|became|was born|collects|suffers|takes|uses|makes|sings|sleeps|snores|celebrates|keeps|comes|visits|hates|gave birth|adopted|finished|quit|opened|named)\b(?! {ANAPHOR})",
    "name": rf"(?:(?:my|our) (?:[\w'-]+ ){{0,4}}?(?:name|nickname|surname|username|handle|pronouns|birthday|anniversary|address|email|phone(?: number)?|timezone|time zone|job|title|role|employer|salary|rent|major|blood type|size|shoe size|height|weight|age|flight|train|appointment|wedding|exam|interview|deadline|budget|native language|mother tongue|first language|native tongue|star sign|hometown|hobby|hobbies|diet|blood pressure|license|licence|visa|lease|contract|car|bike|house|flat|apartment|laptop|phone|computer|setup|stack|server|database|db|repo|ci|api|backend|frontend|company|startup|business|shop|store|team|project|app|website|site|domain|school|office|dissertation|thesis|degree|doctor's name|garden|kitchen|camera|guitar|piano|subscription|insurance|mortgage|pension|ancestors|background|goal for|due date|surgery|diagnosis|release|releases|sprint|sprints|standup|stand-up|retro|convention|policy|style guide|linter|formatter|package manager|editor|ide|keyboard|shell|terminal|theme|os|distro|branch|main branch|default branch|cluster|registry|queue|bucket|staging|production|prod)s?(?: [\w'-]+){{0,3}}? (?:is|are|'s|was|has|have|runs?|uses?|lives?|starts?|ends?|expires?|begins?|leaves?|departs?|takes?|needs?(?= (?:\d|python|node|java|at least))|costs?|sits|speaks?|sells?|makes?|closes?|opens?|consists of|turns?|doesn't|don't|isn't|aren't|must|only|has been|got|broke|died)\b(?! (?:also |just |really |so |very |now |still |being |not |a bit |a little |pretty |quite |currently |to |always |never )*(?:{PASSING_STATE}|to|n't|something|supposed|wrong)\b))",
    "possession": rf"(?:my|our) {_NOT_MOMENT}{_NP}(?:is|are|has|was|were) (?:also |now |currently |always |never |located |still )*(?:called|named|in (?!progress|trouble|place|my way)|at|on (?!fire|hold|the fritz)|from|an? (?!bit|little|mess|lot|problem|issue|pain|disaster|joke|nightmare)|made of|\d|written in|hosted|based|due (?:in|on)|by|owned|deployed|backed|built (?:in|on|with)|stored|older|younger|years)\b",
}
_OTHERS: Final = {
    "named mine": rf"(?:[\w'-]+ ){{1,3}}(?:is|are|was) (?:also |now |actually )?(?:my|our) (?:[\w'-]+ ){{0,3}}?(?:{KIN}|name|nickname|favou?rite|hometown|employer|landlord|middle name|birthday|main|default|staging|production|primary|lead|maintainer|designer|teacher|tech lead|cto|ceo|on-call|client|biggest|first language|mother tongue)\b",
    "place": r"(?:the|this) (?!(?:error|bug|problem|issue|function|code|text|file above|output|capital|sun|earth|function|story|movie|film|answer|question|thing|point)\b)(?:[\w'./-]+ ){1,5}?(?:(?:is|are) (?:now |always |actually |only |still )*(?:on (?:port|a |an |the |\w+\.|[\w-]+$)|at (?!least|most|all|risk|fault|the moment)|in (?:[\w.-]*[/.~]|the \w+ (?:repo|folder|bucket|branch|vault|channel|drawer)|aws|gcp|azure|\w+-\w+-\d)|called|named|hosted|deployed|written in|stored|kept|owned by|maintained by|backed up|due (?:on|by|in)|behind (?:a |the )|reachable|pinned (?:to|at)|protected|mirrored|:?\d{2,5}\b)|lives? (?:in|at|on|under|behind)|runs? (?:on|at|every|in|as|behind|under|nightly|weekly|daily)|listens? on|sits? (?:behind|in|on)|deploys? (?:to|from|with|on)|points? (?:to|at)|goes live|ships (?:on|every)|expires? (?:on|in)|is:? \d|uses? (?:python|node|postgres|sqlite|redis|react|vue|poetry|uv|npm|pnpm|yarn|rust|go|java)|talks to)\b",
    "this repo": rf"(?:this|the|our) (?:\w+ )?(?:repo(?:sitory)?|project|codebase|monorepo|app|service|package|team|company|shop|clinic|office|site)\b (?:also |only |now |still |always |never )*(?:uses?|runs? on|is written|targets?|supports?|requires?|follows?|deploys?|is called|pins|has (?:two|three|four|five|\d+|no|a)|is an? |lives|closes|opens|doesn't use|does not use)\b(?! {ANAPHOR})",
    "left out": rf"(?:(?:also |just |recently |finally )*(?:bought|adopted|moved|switched|graduated|married|allergic|intolerant|vegetarian|vegan|diagnosed|based in|living in|born|retired|been (?:using|living|working|learning|playing|married)|decided|going with|went with|sticking with|work(?:ing)? (?:as|at|for)|live in|currently (?:living|working|studying|learning)|from (?=\w+ (?:originally|here))|prefer(?! {ANAPHOR})|hate(?! {ANAPHOR})|can't stand(?! {ANAPHOR})|mother of|father of|mum of|mom of|dad of|single (?:mum|mom|dad|parent)|self-employed)\b(?! (?:yet|it|this|that)\b).*)",
}
_WISHES: Final = {
    "always do": rf"(?:please |pls |and |you (?:should|must|can|have to|need to) |but )*(?:always|never|don't ever|do not ever)\b (?!(?:mind|ever|again|heard|knew|been|seen|had|thought|said|used|tried|the|a|my|been|works|fails|gonna|too|got|understood|worked|failed|returns?|gets)\b)[a-z'-]+\b(?! ?$)(?! {ANAPHOR}(?! (?:in|to|for|with)))",
    "from now on": r"(?:from now on|going forward|from here on(?: out)?|in (?:the )?future|as a (?:general )?rule|by default|in general|whenever (?:you|i|we)|every time you|when(?:ever)? you (?:write|answer|reply|give|suggest|explain|generate|create|refactor|commit|respond|send))\b,? .+",
    "until further": r"(?:please |pls )*(?:use|write|answer|reply|respond|call|keep|give|format|address|stick|avoid|don't|do not|stop|no|speak|talk|commit|prefix|name|put|show|explain|ask|make|skip|leave|refer|add|include|sign|commit|run)\b(?=.*\b(?:from now on|going forward|from here on|in (?:the )?future|anymore|any more|ever again|ever\b|every time|by default|in general|at all times|in (?:all|any|every) (?:of )?(?:my|our|your|the|commits?|code|files?|answers?|replies|messages?|responses?|tests?)|each time|unless i (?:ask|say|tell)))",
    "call me": r"(?:please |just |you can |everyone |everybody |people |friends |they )*(?:call|calls) me (?!back|when|if|later|crazy|at|on|an?|tomorrow|today|stupid|old)[\w'-]+",
    "let us": rf"(?:let's|lets|let us) (?:just |all |always |never |stick |go |and )*(?:use|with|to|switch to|standardi[sz]e on|settle on|move to|adopt|keep|drop|call|name|pin|store|put|host|deploy)\b (?!{ANAPHOR}|(?:an?|some|more|another|different|sleep|bed|work|next|back|over|through|in mind|going|it)\b)(?:(?!the )|(?=.*{LASTING})).+",
    "noted": r"(?:decision|decided|convention|rule|house rule|policy|preference|tl;dr decision|agreed)\b ?:? ?(?=\w).{8,}",
}
_HOWTO: Final = {
    "to do so": rf"(?:the way (?:i|we|to) .{{3,60}} is|(?:in order )?to (?!be\b|me\b|my\b|the\b|sum\b|answer\b|clarify\b|say\b)\w+ .{{0,80}}?(?:,|:| -| you (?:have to|need to|must|just|can)?| we| i| just| first)+ ?(?:(?:you|we|i|always|just|first|have to|need to|must|should|can) ?)*(?:{DO})\b)",
    "rule of order": rf"(?:please |and |you (?:should|must|have to|need to) |but |we |i )*(?:always|never|don't ever|make sure (?:to|you|we|that)|remember to|be sure to|don't forget to|must|have to)\b (?!{ANAPHOR}).*\b(?:before|after|when(?:ever)?|until|once|every time|each time|without)\b .+",
    "in order": rf"(?:before|after|when(?:ever)?|every time|once|each time|if) .{{3,90}}?,? (?:you (?:must|have to|need to|always)|we (?:always|never|must|have to|need to|run|first|then)|i always|i first|always|never|make sure|don't forget|remember to|first (?:{DO})|(?:run|restart|rerun|regenerate|bump|purge|rebuild|reload|flush|call|tag|ssh))\b",
    "by doing": r"(?:you|we) (?:deploy|release|build|ship|publish|test|restore|back up|roll back|rollback|reset|migrate|provision|rotate|start|restart|regenerate|install|update|run|do) (?:[\w'./-]+ ){0,6}?(?:by \w+ing|with `|via `|using `|by hand)\b",
}
_RIGHT = re.compile(
    r"(?:[\s,.!-]*(?:no|nope|nah|wrong|incorrect|correction|actually|sorry|wait|hold on|that's (?:wrong|not right|not correct|incorrect|not true|false|not quite right)|that is (?:wrong|not right|incorrect)|not quite|i meant|i said|i was wrong|my mistake|my bad|you(?:'re| are) wrong|you got (?:it|that) wrong|you misunderstood|small correction|to correct)\b[\s,:.!-]*)+"
)
_CLAIM = re.compile(
    r"(?!(?:thanks|thank|worries|problem|need|idea|make|please|try|use the|do|don't|can|could|it (?:still|doesn't|does not|didn't|isn't work|is not work))\b)"
    r"(?=.*(?:\b(?:is|are|was|were|has|have|starts?|lives?|works?|runs?|uses?|use|'s|'re|i'm|leaves?|means?|takes?|spelled|spelt|ends?|goes|moved|born|need|called|belongs?)\b|\d|'s\b|'re\b))(?=.{6,})"
    rf"(?!(?:it|that|this|what|i|you)(?:'s| is|'m| am| was| are|'re) (?:also |just |really |so |still |not |very |a bit |all )*(?:{PASSING_STATE}|because|fine|good|the same|an? (?:bug|error|problem)|n't)\b)"
)
_NOT_BUT = re.compile(
    r"(?:it's|its|it is|that's|the [\w' -]{2,40} (?:is|are|was)|my [\w' -]{2,40} (?:is|are|was)|our [\w' -]{2,40} (?:is|are)|i(?:'m| am)|we(?:'re| are)|[\w' -]{2,30} (?:is|are)) [^,;]{2,60}(?:, ?| and |; ?| - )not (?:the |a |an |in |at |on |from )?[\w$€£.:-]+"
)

KINDS: Final = {
    "likes": "preference", "fan": "preference", "rather": "preference", "favourite": "preference", "always do": "preference",
    "from now on": "preference", "until further": "preference", "call me": "preference", "decided": "decision", "will use": "decision",
    "by now": "decision", "let us": "decision", "noted": "decision", **dict.fromkeys(_HOWTO, "howto"), "righted": "correction",
    "not but": "correction",
}  # fmt: skip


def _joined(rules: dict[str, str]) -> re.Pattern[str]:
    """Return the rules as one pattern; the group that matched tells which (spaces in names become ``__``)."""
    bodies = (f"(?P<{name.replace(' ', '__')}>{re.sub('[?]P<(?:subject|team)>', '?:', rule)})" for name, rule in rules.items())
    return re.compile("|".join(bodies))


_BY_START: Final = (
    (re.compile(r"(?:i|we|i'\w+|we'\w+|im|ive)\b"), _joined({**_PERSON})),
    (re.compile(r"(?:my|our)\b"), _joined(_OF_MINE)),
)
_ANY: Final = _joined({**_OTHERS, **_WISHES})
_STEPS: Final = _joined(_HOWTO)
_BARE = re.compile(r"\bi(m|ve)\b")


def steps(text: str, start: int, end: int) -> str | None:
    """Return the rule that finds a how-to in a sentence, or None."""
    found = _STEPS.match(text, _led(text, start, end), end)
    return _name(found)


def lasting(text: str, start: int, end: int) -> str | None:
    """Return the rule that finds a lasting statement in a clause, or None."""
    first = _led(text, start, end)
    when = _WHEN.match(text, first, end)
    if when:
        first = when.end()
    for opening, rules in _BY_START:
        if opening.match(text, first, end):
            return _name(rules.match(text, first, end)) or (_name(_ANY.match(text, first, end)) if text[first] == "o" else None)
    return _name(_ANY.match(text, first, end))


def righted(text: str, start: int, end: int) -> str | None:
    """Return the rule that finds a correction in a sentence, or None."""
    found = _RIGHT.match(text, start, end)
    if found and _CLAIM.match(text, found.end(), end):
        return "righted"
    return "not but" if _NOT_BUT.match(text, _led(text, start, end), end) else None


def kind(rule: str) -> str:
    """Return the kind of statement that a rule finds."""
    return KINDS.get(rule, "fact")


def _led(text: str, start: int, end: int) -> int:
    """Return where a clause begins after what only leads in."""
    found = _LEAD.match(text, start, end)
    return found.end() if found else start


def _name(found: re.Match[str] | None) -> str | None:
    return found.lastgroup.replace("__", " ") if found and found.lastgroup else None
