"""How authors bring in a name: the phrases of abstracts, as patterns.

They were written against about two hundred abstracts and measured on ten thousand.
"""

import re
from typing import Final

PART = r"[^\W_][\w²³⁰-⁹₀-₉]*"
WORD: Final = rf"{PART}(?:[-‐‑–.+/&]{PART})*(?:\+\+|\+(?!\w)|\*(?!\w))?"
COINED_WORD: Final = re.compile(WORD)
NAME_PHRASE: Final = re.compile(
    rf"{WORD}(?:\s+(?:(?:of|and|for|with|in|the|on|to|by|via)\s+){{0,2}}(?=[A-Z0-9]){WORD}){{0,6}}"
)
SUBJECT: Final = (
    r"\b(?:[Ww]e|[Tt]h(?:is|e|e present|e current) (?:paper|work|article|study|report|thesis)|"
    r"[Oo]ur (?:paper|work|study)|I)\b"
)
ADVERBS: Final = (
    r"(?:\s*,?\s*(?:\w+ly|also|then|further|furthermore|next"
    r"|here|first|thus|hence|therefore|instead|now|have|has|will"
    r"|in this (?:paper|work)|in turn|to this end|in particular)\s*,?){0,3}"
)
STRONG_VERB: Final = (
    r"propos|introduc|present|develop|describ|releas|design|buil[dt]|devis|creat|construct|"
    r"unveil|contribut|debut|coin|offer|suggest|advocat|publish|open-sourc|put forward|curat|"
    r"formulat|implement|deriv|invent|launch|collect|pioneer"
)
WEAK_VERB: Final = r"provid|train|establish|us|study|stud|employ|defin|leverag|obtain|extend|call"
PROPOSAL: Final = re.compile(
    rf"(?:{SUBJECT}{ADVERBS}\s+|\b(?:and|to|by|then|further|also)\s+|,\s*)"
    rf"(?:(?P<strong>{STRONG_VERB})|(?P<weak>{WEAK_VERB}))(?:e|es|s|ed|ing|y|ies|ting|ping)?\s+"
)
OUTCOME: Final = re.compile(
    r"\b(?:leads?|leading|led) (?:us )?to\s+|\byield(?:s|ed|ing)?\s+|\bresult(?:s|ed|ing)? in\s+|"
    r"\bgiv(?:es|ing) rise to\s+|\bculminat\w+ in\s+|(?P<means>\b(?:with|via|through)\s+)"
)
DETERMINERS: Final = re.compile(
    r"(?:(?:a|an|the|our|new|novel|simple|yet|but|and|efficient|effective|both|first)\s+)*"
)
AFTER_NAME: Final = re.compile(
    r"\s*(?:[,(:—–;.!]|\(|$|['’”\"]|\s-{1,2}\s|\s(?:a|an"
    r"|the|that|which|to|for|as|in|with|by|based|our|and|"
    r"where|whose|on|using|is|–|—|one|consisting|combining|via|through|under|from|at)\b)"
)
TYPE_NOUN: Final = (
    r"(?:model|method|framework|algorithm|approach|system|dataset|data set|corpus|benchmark|"
    r"architecture|network|technique|toolkit|library|strategy|optimizer|optimiser|agent|"
    r"pipeline|procedure|scheme|variant|estimator|mechanism|paradigm|suite|platform|package|"
    r"tool|task|metric|environment|test|attack|defen[sc]e|loss|regularizer|learner|module|"
    r"classifier|decoder|encoder|methodology|extension|policy|program|solution|simulator|protocol)"
)
AFTER_TYPE: Final = re.compile(rf"\b{TYPE_NOUN}s?\s*(?:,|:|—|–|-{{1,2}}\s)?\s+[“\"‘]?")
OUR_THING: Final = re.compile(
    rf"\b(?:[Oo]ur|[Tt]he (?:proposed|resulting"
    rf"|new))\s+(?:[\w-]+\s+){{0,2}}?(?:{TYPE_NOUN}\s*[,:—–(]?\s*)?[“\"‘]?(?={WORD})"
)
PASSIVE: Final = re.compile(
    r"[^;.]{0,80}?\b(?:is|are|was|were|has been)\s+(?:\w+ly\s+"
    r"|then\s+|also\s+)?(?:proposed|introduced|presented|developed)\b"
)
NAMING: Final = re.compile(
    r"(?<!also )\b(?:dubbed|named|called|termed|titled"
    r"|coined|christened|nicknamed|abbreviated(?: as| to)?|"
    r"denoted(?: as| by)?|labell?ed|referred to as|"
    r"(?:which|that|what) we (?:call|name|term|dub|coin|denote(?: as| by)?|refer to as|title)|"
    r"(?<=we )(?:call|name|term|dub|denote|coin)(?: (?:it|this|our|the|them)(?: \w+){0,3}?)?|"
    r"(?<=we )refer to (?:it|this|our|the|them|these)(?: \w+){0,3}? as)\s*:?\s+"
    r"(?:the\s+|a\s+|as\s+|an\s+)?[“\"‘']?"
)
APPOSED: Final = re.compile(
    r"\s*(?:\([^()]{1,120}\)\s*)?[”\"’]?\s*(?:[,:;(]"
    r"|—|–|-{1,2}\s)|\s*\.?$|\s(?:an?|the|that|which)\b"
)
MODIFIES: Final = re.compile(
    rf"\s+(?!(?:\w+\s)?{TYPE_NOUN}|to|for|that|which|as|by|in|on|with|and|or|is|are|"
    r"where|via|using|from|based on|at|of|can|has|over"
    r"|under|through|when|we|it|whose|while|into)[a-z]"
)
"""A noun after "(NAME)": then the name only tells which kind of that noun is meant."""

PREPOSITION: Final = re.compile(
    r"\b(?:of|for|in|to|with|on|from|by|under|over|between"
    r"|into|about|through|against|at|as|how|the|this|these)\b"
)
SHORT_FORM: Final = re.compile(
    rf"\(\s*(?:i\.e\.,?\s*|or\s+|denoted\s+|called\s+|dubbed\s+"
    rf"|abbreviated(?: as)?\s+)?[“\"‘]?({WORD})[”\"’]?\s*\)"
)
RESULT: Final = (
    r"(?:s|['’]s)?\s+(?:\w+ly\s+|also\s+|can\s+"
    r"|not only\s+)?(?:is|are|has|can|outperform|achiev|improv|"
    r"surpass|reduc|enabl|provid|demonstrat|exhibit"
    r"|perform|obtain|yield|learn|use|utili[sz]|employ|"
    r"leverag|combin|consist|comprises|deliver|match|outpac|offer|allow|attain|generali[sz]|"
    r"introduc|adopt|explicitly|operat|work|extend|build|reach|scale|maintain|produc|contain|"
    r"consistently|generat|does|beat|needs?|runs?|handl|solv"
    r"|construct|decompos|integrat|encod|ach|show|take|treat)"
)
SECONDARY: Final = re.compile(
    r"^\W*(?:additionally|furthermore|moreover|in addition|also|besides|finally|second|lastly)\b"
    r"|\bwe (?:also|further|additionally|then|next)\b",
    re.IGNORECASE,
)
SEVERAL: Final = re.compile(
    r"(?:two|three|four|five|six|several|many|various|multiple|both|a (?:set|number|family) of)\b"
)
CLAUSE_END: Final = re.compile(r"[;.]|\b(?:that|which|where|whose|while|because|such that)\b")
_GENERIC = """
approach approaches algorithm algorithms architecture architectures framework frameworks
mechanism mechanisms method methods methodology model models module modules paradigm pipeline
pipelines procedure scheme solution strategy strategies system systems technique techniques
tool toolkit way work one variant design concept notion idea class family set
"""
GENERIC: Final = frozenset(_GENERIC.split())
"""Nouns that do not tell what a thing is."""

_EMPTY_ADJECTIVES = """
novel new simple general powerful effective first innovative proposed generic various several
different existing better good other such certain strong promising yet but unified
"""
EMPTY_ADJECTIVES: Final = frozenset(_EMPTY_ADJECTIVES.split())
_FUNCTION_WORDS = """
a an the of and or to for with without in on by via from as at into within under over between
through during against towards toward across about upon per than that which where whose who
when while how if is are was were be can its their our this these those it both each all any
many more most some not no also very using based
"""
FUNCTION_WORDS: Final = frozenset(_FUNCTION_WORDS.split())
REFERS_BACK: Final = re.compile(
    r"\b(?:this|these|those|them|both (?!\S+ and )\w+|such (?!as\b)|the (?:above|former|latter|"
    r"aforementioned|two|(?:\w+ )?(?:gaps?|dilemmas?|challenges?|issues?|limitations?|drawbacks?|"
    r"shortcomings?|trade-?offs?))(?! (?:of|in|between|from|for)\b))\b",
    re.IGNORECASE,
)
"""What can only be understood after the sentences before."""

CLAUSE: Final = re.compile(
    r"\s+(?:(?:(?:that|which|who)\s+(?:(?:can|could|may|will|is able to|is capable of|aims to|"
    r"\w+ly|also|first|both|not only)\s+){0,3}(?P<finite>[a-z-]+)\s+)|where\b|whose\b|"
    r"(?:(?:specifically|specially|explicitly|carefully|jointly|\w+ly)\s+)?"
    r"(?:(?:designed|engineered|built|developed|tailored|intended|made|created|crafted|able|"
    r"aimed|aiming|meant|optimi[sz]ed)\s+(?P<aim>for|to|at)\b|"
    r"(?P<gerund>utili[sz]ing|using|leveraging|combining|integrating|exploiting|employing|"
    r"enabling|incorporating|unifying|allowing|harnessing|featuring|coupling|adopting)\s+))"
)
"""A relative or participle clause after a noun."""

NEUTRAL_GERUND: Final = re.compile(
    r"(?:us|utili[sz]|leverag|employ|exploit|harness|accommodat|incorporat|featur)ing$"
)
"""Having done with what: here the object tells more than the verb."""

JUDGES: Final = re.compile(
    r"(?:is|are|has|have|can|does|do|outperform|achiev|surpass|improv|enjoy|beat|exceed|match|"
    r"work|perform|show|demonstrat|exhibit|attain|reach|yield|remain|address|solv|resolv|tackl|"
    r"overcom|mitigat|requir|need|run|allow|enabl|was|were|provid|offer|make|help|consist|seem)"
)
"""Verbs of what is said in praise of a thing, not of what it does."""

ADJECTIVE: Final = re.compile(
    r"(?:\w{2,}(?:ive|[^u]al|ic|ous|able|ible|ful|less|wise|ary|ular)|\w{3,}(?:[^e]ed|ised|ized)|"
    r"[\w²³]+[-‐‑](?:\w+(?:ed|al|ic|ive|ous|ent|ant|able)|aware|free|rank|order|time|level|scale|"
    r"shot|hop|end|domain|view|task|wise|like|style|step|source|range|world|\w*specific)|"
    r"small|large|deep|high|low|long|short|fast|robust|sparse|dense|efficient|different|latent|"
    r"arbitrary|early|late|multiple|hard|soft|free|smooth|strong)$",
    re.IGNORECASE,
)
"""Words after which a noun is still to come."""

HYPHENED: Final = re.compile(
    r"[\w²³]+[-‐‑](?!(?:tuning|training|learning|offs?|ups?|sets?)$)[\w-]+$", re.IGNORECASE
)
"""Hyphened words: most of them qualify a noun."""
