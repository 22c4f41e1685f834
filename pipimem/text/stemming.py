"""English words brought to their stem: the one door to PyStemmer, loaded at the first word."""

from __future__ import annotations

from collections.abc import Callable

# Forms no rule of endings can bring home, from school grammar. Only verbs and nouns that are likely in talk.
_IRREGULAR_FORMS = """
become: became
begin: began begun
break: broke broken
bring: brought
build: built
buy: bought
catch: caught
choose: chose chosen
come: came
deal: dealt
draw: drew drawn
drink: drank drunk
drive: drove driven
eat: ate eaten
fall: fell fallen
feel: felt
fight: fought
find: found
fly: flew flown
forget: forgot forgotten
forgive: forgave forgiven
freeze: froze frozen
get: got gotten
give: gave given
go: went gone
grow: grew grown
hang: hung
hear: heard
hide: hid hidden
hold: held
keep: kept
know: knew known
leave: left
lend: lent
lose: lost
make: made
mean: meant
meet: met
pay: paid
ride: rode ridden
ring: rang rung
rise: rose risen
run: ran
say: said
see: saw seen
sell: sold
send: sent
shake: shook shaken
shoot: shot
show: shown
sing: sang sung
sit: sat
sleep: slept
speak: spoke spoken
spend: spent
stand: stood
steal: stole stolen
swear: swore sworn
swim: swam swum
take: took taken
teach: taught
tell: told
think: thought
throw: threw thrown
understand: understood
wake: woke woken
wear: wore worn
win: won
write: wrote written
child: children
man: men
woman: women
foot: feet
tooth: teeth
mouse: mice
goose: geese
wife: wives
knife: knives
shelf: shelves
half: halves
"""

_IRREGULAR = {
    form: head
    for line in _IRREGULAR_FORMS.strip().splitlines()
    for head, _, forms in [line.partition(":")]
    for form in forms.split()
}


class Stemmer:
    """The stem of an English word; loads its library on first use."""

    def __init__(self) -> None:
        self._stem: Callable[[str], str] | None = None

    def stem(self, word: str) -> str:
        """The stem of one lower-case word, irregular forms included ("went" and "going" meet in "go")."""
        if self._stem is None:
            from Stemmer import Stemmer as SnowballStemmer  # here: 4 ms, and never needed for Chinese alone

            self._stem = SnowballStemmer("english").stemWord
        return self._stem(_IRREGULAR.get(word, word))
