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
