"""The stemmer of Porter, "An algorithm for suffix stripping", Program 14(3), 1980.

"transfer", "transferable" and "transferability" become one term, "pretrained" and "pretraining"
another. Words that are not plain ASCII letters are left alone: names such as "tabpfn2" have no
endings.
"""

import re

_STEP_2 = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "abli": "able",
    "alli": "al",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
}
_STEP_3 = {
    "icate": "ic",
    "ative": "",
    "alize": "al",
    "iciti": "ic",
    "ical": "ic",
    "ful": "",
    "ness": "",
}
_STEP_4_WORDS = "al ance ence er ic able ible ant ement ment ent ou ism ate iti ous ive ize"
_STEP_4 = dict.fromkeys(_STEP_4_WORDS.split(), "") | {"sion": "s", "tion": "t"}
_VOWEL_RUNS = re.compile("v+c")


def stem(word: str) -> str:
    """The stem of a lower-case English word; anything else comes back as it is."""
    if len(word) <= 2 or not (word.isascii() and word.isalpha()):
        return word
    word = _without_participle(_without_plural(word))
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replace(word, _STEP_2, longer_than=0)
    word = _replace(word, _STEP_3, longer_than=0)
    word = _replace(word, _STEP_4, longer_than=1)
    return _without_final_e(word)


def _without_plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word if word.endswith("ss") or not word.endswith("s") else word[:-1]


def _without_participle(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        root = word.removesuffix(ending)
        if root != word and _has_vowel(root):
            return _restored(root)
    return word


def _restored(root: str) -> str:
    if root.endswith(("at", "bl", "iz")):
        return root + "e"
    if _ends_double(root) and root[-1] not in "lsz":
        return root[:-1]
    return root + "e" if _measure(root) == 1 and _ends_short(root) else root


def _replace(word: str, endings: dict[str, str], *, longer_than: int) -> str:
    """The longest ending that fits is exchanged if enough of the word is left before it."""
    for length in range(min(7, len(word) - 1), 1, -1):
        ending = word[-length:]
        if ending in endings:
            root = word[:-length] + endings[ending][: 1 if longer_than else None]
            kept = root if longer_than else word[:-length]
            return root if _measure(kept) > longer_than else word
    return word


def _without_final_e(word: str) -> str:
    root = word.removesuffix("e")
    measure = _measure(root)
    if measure > 1 or (measure == 1 and not _ends_short(root)):
        word = root
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def _shape(word: str) -> str:
    """One letter a letter: v for a vowel, c for a consonant; y is a vowel after a consonant."""
    shape = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    return len(_VOWEL_RUNS.findall(_shape(word)))


def _has_vowel(word: str) -> bool:
    return "v" in _shape(word)


def _ends_double(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _shape(word)[-1] == "c"


def _ends_short(word: str) -> bool:
    """Consonant, vowel, consonant at the end, the last not w, x or y: "hop", not "snow"."""
    return _shape(word)[-3:] == "cvc" and word[-1] not in "wxy"
