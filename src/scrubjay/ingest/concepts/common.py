"""Common: words that name nothing by themselves.

``COMMON`` are ordinary English words; ``GENERIC`` are nouns of computing and work, and what headings call
their parts. None of them is ever discovered as a concept when it stands alone; a person may give one.
Chosen by hand from the 1,500 words that most documents of the English development sets hold.
"""

from __future__ import annotations

from typing import Final

_COMMON = """
a able about above access across act active actual actually add added additional after afterwards again
against age ago ahead all allow almost alone along already also although always am amazing among an and
another answer any anybody anyone anything anyway anywhere apply are area aren around art as ask at author
available avoid away awesome back bad based basic basically be bear beat because become been before begin
behind being believe below best better between big bit both bottom break bring build built but buy by call
called came can cannot case cause certain change check choose clean clear close cold come comes coming
common complete congrats congratulations consider cool copy could couldn course create current currently cut
date day days deal decide deep definitely did didn difference different difficult do does doesn doing don
done down draft drive drop due during each early easily easy edit either else end enjoy enough especially
etc even ever every everybody everyone everything exactly except expect extra fact false far fast feel felt
few fewer fill final finally find fine first fit five follow following for force form former forward found
four free fresh from front full fully fun further future gave general generally get getting give given glad
go goes going gone good got great group guess had hand happen happy hard has hasn have haven having he hear
held hello help helpful hence her here hers herself hey hi high him himself his hit hold home hope hour
hours how however huge i idea ideal if ignore image important in include included including indeed inside
instead interesting into is isn it its itself job join just keep key kind know known large last late later
latest lead learn least leave left less let lets level life light like likely line little live ll local long
longer look looking lose lot love low lower made main mainly maintain make makes making man many may maybe
me mean means meanwhile meet might mind minor miss moment month more moreover most mostly move much multiple
must my myself name near nearly necessary need needed neither never nevertheless new next nice no nobody
none nor normal not nothing notice now number of off offer often oh ok okay old on once one ones only onto
open optional or order original other others otherwise our ours ourselves out outside over overall own part
parts past pay people perfect perhaps person pick place plan play please plenty plus point possible post
pretty previous prior probably problem provide pull purpose push put question quick quickly quite rather
read ready real really reason receive recent recently recommended red regardless related remember remove
required rest result return right role room rule run running safe said same save saw say second see seem
seen self send sense set several shall share she short should shouldn show side similar similarly simple
simply since single sit six size slow small so some somebody someone something sometimes somewhere soon
sorry sort speak special specific start started state stay step still stop strong stuff such suggest super
sure take taken talk tell ten test than thank thanks that the their theirs them themselves then there
therefore these they thing things think third this those though thought three through throughout thus time
times to today together told tomorrow tonight too took top toward towards tried true try trying turn two
under unfortunately unless unlike until up upon us use used useful user uses using usually various ve very
via view wait want warning was wasn watch way ways we welcome well went were weren what whatever when
whenever where whereas whether which while who whole whom whose why will wish with within without won word
words work working works would wouldn wow write wrong yeah year years yes yesterday yet you your yours
yourself yourselves zero
"""

_GENERIC = """
abstract account accounts acknowledgements action actions activities activity admin admins advanced
advantages agenda alt alternatives analysis announcement answers app appendix application applications
approach argument arguments article articles asap aspects audience authors background bar basics baz
behavior behaviour benefits best bin blog body book boolean bug bugs bullet button byte bytes cancel caption
caveats chapter character characters checklist child class classes client cmd code column columns com
command commands comment comments communication company comparison concept concepts conclusion conclusions
config configuration considerations constant contact content contents context contributing contribution
conventions cost count credits ctrl customer customers data database debug default defaults definition
definitions delete demo dependencies dependency deprecated description design detail details dev developer
development discussion docs document documentation documents download element elements email enter entry env
environment epilogue error errors esc evaluation event events exact exactly example examples exception
execute exercise exercises expectations experience expert explanation export expression false faq faqs
feature features feedback figure file files fix fixes folder folders foo footer foreword format function
functions further general getting glossary goal goals guide guidelines guides head header heading headings
help helper history host how howto href id img impact implementation import improvements index info
information init input inputs insert install installation instance integer integration interface interfaces
intro introduction issue issues item items keyword keywords label language languages layout learn length lib
library license limit limitations line link links list listing listings lists literal literals localhost log
loop loops main maintenance manager member members memo menu message messages meta metrics milestone
milestones misc miscellaneous mission mode model models more motivation name names next nonce none note
notes notice null object objectives objects open operation operations operator option options outcome
outcomes outline output outputs overview owner package packages page pages panel parameter parameters parent
part password path paths people performance permission permissions plan platform policy post preface
preferences preparation prerequisites priorities problem problems procedure process processes product
products profile program programs progress project projects proposal purpose quality query question
questions quick quickstart rationale reading readme reason recommendations redirect reference references
release releases remarks repo report reports repos repository request requests requirement requirements
research resource resources response responsibilities result results retrospective review roadmap role roles
root row rows rules running sample scenario schedule script search section security see server service
services setting settings setup shift site solution solutions source specification src standard start
statement statements status step steps storage strategy structure structures stuff style subject submit
success summary support syntax system table tables tag tags target team teams template templates term
terminology terms test testing tests text thanks theory thing timeline tip tips title tmp todo todos tool
tools topic topics troubleshooting true tutorial type types unit update updates upgrade upload url usage
user users validation value values variable variables variant version versions video videos view vision
warning website welcome what why window windows work workflow www
"""

_CALENDAR = """
monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun january
february march april may june july august september october november december jan feb mar apr jun jul aug
sep sept oct nov dec montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz maerz
mai juni juli oktober dezember spring summer autumn fall winter am pm q1 q2 q3 q4
christmas easter
"""

COMMON: Final = frozenset(_COMMON.split())
GENERIC: Final = frozenset(_GENERIC.split())
CALENDAR: Final = frozenset(_CALENDAR.split())
