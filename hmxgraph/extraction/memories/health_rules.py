"""Sentence forms of what people must not or do not eat, and how they are: of oneself and of others."""

import re

from hmxgraph.extraction.memories.fact_rule import Rule
from hmxgraph.extraction.memories.fact_words import DIET, DIETS, ITEM, NOT, NOW, SOMEBODY

_ITEMS = rf"(?P<object>{ITEM}(?:(?:, {ITEM})*,? (?:and|or) {ITEM})?)"

RULES: tuple[Rule, ...] = (
    Rule(
        "is allergic to",
        ("allergic",),
        re.compile(
            rf"(?<![\w'])I(?:'m| am) (?:{NOT}|(?!not\b)\w+ )allergic to "
            rf"{_ITEMS}(?=[,.!;]|$| -| (?:so|but|which|and I)\b)"
        ),
        "{subject} is allergic to {object}",
        0.9,
        deniable=True,
        examples=(
            ("I'm severely allergic to peanuts, so no nuts.", "the user is allergic to peanuts"),
            ("I'm allergic to cats, dogs and horses.", "the user is allergic to horses"),
            ("I am not allergic to latex after all.", "the user is not allergic to latex"),
            ("I'm no longer allergic to nuts or milk", "the user is not allergic to milk"),
        ),
        counterexamples=(
            "I'm allergic to it",
            "I'm not badly allergic to bees",
            "I'm not allergic to anything",
            "I'm hardly allergic to bees",
            "I'm possibly allergic to bees",
        ),
    ),
    Rule(
        "is allergic to",
        ("allergic",),
        re.compile(
            rf"{SOMEBODY} is (?:{NOT}|(?!not\b)\w+ )allergic to "
            rf"{_ITEMS}(?=[,.!;]|$| -| (?:so|but|which|and s?he)\b)"
        ),
        "{subject} is allergic to {object}",
        0.9,
        deniable=True,
        examples=(
            ("Tom is severely allergic to hazelnuts, he carries a pen.", "Tom is allergic to hazelnuts"),
            ("My husband Tom is allergic to nuts and latex.", "Tom is allergic to latex"),
            ("Remember that my son is not allergic to peanuts.", "the user's son is not allergic to peanuts"),
        ),
        counterexamples=(
            "Nobody is allergic to nuts",
            "She is allergic to nuts",
            "Is Tom allergic to nuts?",
            "Tom thinks Ann is allergic to nuts",
            "Ann might be allergic to nuts",
        ),
    ),
    Rule(
        "is",
        DIETS,
        re.compile(
            rf"{SOMEBODY} is {NOW}{NOT}(?P<object>(?:an? )?(?:strict )?{DIET})(?=[,.;!]|$| (?:and|but|so|now)\b)"
        ),
        "{subject} is {object}",
        0.85,
        deniable=True,
        examples=(
            ("Marlene is coeliac.", "Marlene is coeliac"),
            ("Careful, my wife is a vegan now.", "the user's wife is a vegan"),
        ),
        counterexamples=("The soup is vegan", "This is vegan", "Tom is almost vegan", "Is Ann vegan?"),
    ),
    Rule(
        "is",
        DIETS,
        re.compile(
            rf"(?<![\w'])I(?:'ve| have) (?:always )?been (?P<object>(?:an? )?(?:strict )?{DIET})"
            r"(?=[.!]|$| (?:since|for|all my life)\b)"
        ),
        "{subject} is {object}",
        0.8,
        deniable=True,
        examples=(("I've been vegetarian since university.", "the user is vegetarian"),),
        counterexamples=("I have been vegan before", "I'd been vegan for years", "I've not been vegan for years"),
    ),
    Rule(
        "is",
        (*DIETS, "married", "divorced", "engaged", "single"),
        re.compile(
            rf"(?<![\w'])I(?:'m| am) {NOW}{NOT}"
            rf"(?P<object>(?:an? )?(?:strict )?"
            rf"(?:{DIET}|married|divorced|engaged|single (?:parent|mother|mom|father|dad)))\b"
            r"(?! to (?:the|my|it))"
        ),
        "{subject} is {object}",
        0.85,
        deniable=True,
        examples=(
            ("I'm a vegetarian.", "the user is a vegetarian"),
            ("I'm no longer a vegetarian.", "the user is not a vegetarian"),
            ("I'm lactose-intolerant.", "the user is lactose-intolerant"),
            ("I'm a single mother of two.", "the user is a single mother"),
        ),
        counterexamples=("I'm engaged to the idea", "Are you married?", "I'm almost vegan", "I'm single file, too"),
    ),
)
