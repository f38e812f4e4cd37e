"""Words that someone made: names and abbreviations, told from the property of the field."""

import re
from typing import Final

_COMMON = """
mtl ir abc maxsat sat dcgan rpn fhmm a3c ddpg ddpm
ai ml dl rl nlp nlu nlg cv llm llms vlm vlms mllm mllms lm lms plm plms gpt gpt-2 gpt-3 gpt-4
gpt-4o chatgpt bert roberta clip lora qlora peft sft rlhf dpo ppo grpo rag cot icl moe ner pos
qa vqa nmt smt mt asr tts ocr kg kgs kb kbs cnn cnns rnn rnns lstm lstms gru gan gans vae vaes
mlp mlps dnn dnns ann gnn gnns gcn vit vits svm svms knn k-nn pca ica lda hmm hmms crf crfs gmm
gmms em sgd adam admm mcmc hmc smc abc vi elbo kl mmd ot map mle mse mae rmse mdp mdps pomdp
pomdps ucb dp gp gps ode odes sde sdes pde pdes pac vc iid i.i.d ood gpu gpus cpu cpus tpu tpus
ram api apis mnist cifar cifar-10 cifar-100 imagenet coco glue superglue squad wikipedia wordnet
arxiv github pytorch tensorflow python atari mujoco 2d 3d relu sota state-of-the-art fl cl ssl
nas automl amr srl nli sts mcts mpc lqr tcp sql html json xml url pdf usa us uk eu ieee acl
naacl emnlp icml iclr nips neurips resnet resnets u-net transformer transformers word2vec glove
elmo t5 llama lasso rkhs rkhss dag dags scm scms bayesian gaussian markov lipschitz np-hard
non-iid nash frank-wolfe q-learning large language model models neural network networks deep
learning reinforcement machine monte carlo stochastic gradient descent hilbert riemannian
wasserstein english chinese german french
"""
KNOWN: Final = frozenset(_COMMON.split())
"""Common property of the field: no paper of today coins one of these."""


def is_coined(word: str) -> bool:
    """Whether the word looks made: inner capitals, capitals only, digits among letters."""
    if word.lower() in KNOWN or word.lower().removesuffix("s") in KNOWN or len(word) > 40:
        return False
    letters = [character for character in word if character.isalpha()]
    if len(letters) < 2 or not re.search(r"[A-Za-z]", word):
        return False
    if re.fullmatch(r"\d+(?:st|nd|rd|th|k|d|x|s|m|b|D|K|B|M|X|GB|MB|ms|%)?(?:-\w+)?", word):
        return False
    if (
        re.search(
            r"[a-z][-]?(?:based|like|style|aware|free|level"
            r"|type|trained|guided|specific|driven|shot|wise)$",
            word,
        )
        and "-" in word
    ):
        return False
    parts = re.split(r"[-‐‑–.+/&]", word)
    if any(part.lower() in KNOWN for part in parts) and all(
        part.lower() in KNOWN or part.islower() for part in parts
    ):
        return False
    return (
        any(_is_coined_part(part) for part in parts)
        or (
            len(parts) > 1
            and any(len(p) == 1 and p.isalpha() for p in parts)
            and word[:1].isupper()
        )
        or (len(parts) > 1 and parts[-1].isdigit() and parts[0][:1].isupper())
    )


def _is_coined_part(part: str) -> bool:
    n_capitals = sum(character.isupper() for character in part)
    has_inner_capital = any(character.isupper() for character in part[1:])
    is_plural = n_capitals >= 2 and part.endswith("s")
    has_digit = re.search(r"[A-Za-z]\d|\d[A-Za-z]{2}|[²³]", part) is not None
    return (
        (has_inner_capital and (len(part) > 2 or not is_plural))
        or (has_digit and n_capitals > 0)
        or (re.fullmatch(r"[a-z]+\d[a-z]+", part) is not None)
    )


_LINKING_WORDS = "a an and by for from in of on or the to via with"
_LINKING: Final = frozenset(_LINKING_WORDS.split())
_SPOKEN: Final = {"²": "2", "³": "3"}


def expansion_of(short: str, before: str) -> str | None:
    """The words at the end of ``before`` that ``short`` abbreviates.

    First by the initials of words, then after Schwartz & Hearst (2003): the letters of the short
    form occur in order in the long one, and its first letter begins a word there.
    """
    letters = [character for character in short.casefold() if character.isalnum()]
    letters = [_SPOKEN.get(character, character) for character in letters]
    if not 2 <= len(letters) <= 15 or not any(character.isupper() for character in short):
        return None
    words = before.rstrip(' “"‘(').split()
    window = " ".join(words[-min(len(letters) + 5, 2 * len(letters) + 2) :])
    position = _by_initials(short, window)
    if position is None:
        position = _by_letters(letters, window)
    if position is None:
        return None
    position = window.rfind(" ", 0, position) + 1
    expansion = window[position:].strip(" ,;:—–-")
    expansion = expansion.split(": ")[-1]
    return expansion if " " in expansion or "-" in expansion else None


def _by_initials(short: str, window: str) -> int | None:
    """Where the long form begins if each capital begins a word of it.

    Only linking words and the later halves of hyphened words may lie between; "E²" stands for
    two words with E.
    """
    units = [unit for unit, times in _units(short) for _ in range(times)]
    parts = list(re.finditer(r"[^\W_]+", window))
    index = len(parts) - 1
    begin = None
    for unit in reversed(units):
        while index >= 0 and not _abbreviates(unit, parts[index][0]):
            follows_hyphen = window[parts[index].start() - 1 : parts[index].start()] in "-‐‑–"
            is_free = follows_hyphen and parts[index].start() > 0
            if not is_free and parts[index][0].lower() not in _LINKING:
                return None
            index -= 1
        if index < 0:
            return None
        begin = parts[index].start()
        index -= 1
    return begin


def _units(short: str) -> list[tuple[str, int]]:
    """Each capital with the small letters after it, and how often it counts."""
    found = re.findall(r"([A-Z][a-z]*)([²³23](?![\w]))?", short)
    return [(unit, int(_SPOKEN.get(digit, digit)) if digit else 1) for unit, digit in found]


def _abbreviates(unit: str, word: str) -> bool:
    if word[:1].casefold() != unit[0].casefold():
        return False
    letters = iter(word.casefold())
    return all(letter in letters for letter in unit.casefold())


def _by_letters(letters: list[str], window: str) -> int | None:
    position = len(window)
    lowered = window.casefold()
    if len(lowered) != len(window):
        return None
    for index in range(len(letters) - 1, -1, -1):
        here = lowered.rfind(letters[index], 0, position)
        while index == 0 and here > 0 and lowered[here - 1].isalnum():
            here = lowered.rfind(letters[index], 0, here)
        if here < 0:
            if letters[index].isdigit() and index:
                continue
            return None
        position = here
    return position
