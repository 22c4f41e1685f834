"""English words brought to their stem: the one door to PyStemmer, loaded at the first word."""

from __future__ import annotations

from collections.abc import Callable

from pipimem.text.patterns import Pattern

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
beat: beaten
bend: bent
bite: bit bitten
bleed: bled
blow: blew blown
breed: bred
burn: burnt
cling: clung
creep: crept
dig: dug
dream: dreamt
feed: fed
flee: fled
forbid: forbade forbidden
foresee: foresaw foreseen
lay: laid
lean: leant
learn: learnt
light: lit
mislead: misled
misunderstand: misunderstood
mow: mown
overcome: overcame
oversleep: overslept
overtake: overtook overtaken
prove: proven
rebuild: rebuilt
redo: redid redone
resell: resold
retake: retook retaken
rewrite: rewrote rewritten
seek: sought
sew: sewn
shine: shone
shrink: shrank shrunk
slide: slid
sow: sown
speed: sped
spell: spelt
spill: spilt
spin: spun
spoil: spoilt
spring: sprang sprung
stick: stuck
sting: stung
strike: struck stricken
swell: swollen
sweep: swept
swing: swung
tear: tore torn
undergo: underwent undergone
undo: undid undone
uphold: upheld
weave: wove woven
weep: wept
withdraw: withdrew withdrawn
cheap: cheaper cheapest
clean: cleaner cleanest
close: closer closest
early: earlier earliest
easy: easier easiest
fast: faster fastest
hard: harder hardest
heavy: heavier heaviest
high: higher highest
large: larger largest
low: lower lowest
old: older oldest elder eldest
quick: quicker quickest
simple: simpler simplest
slow: slower slowest
small: smaller smallest
strong: stronger strongest
tall: taller tallest
warm: warmer warmest
weak: weaker weakest
young: younger youngest
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
loaf: loaves
thief: thieves
wolf: wolves
scarf: scarves
calf: calves
criterion: criteria
phenomenon: phenomena
crisis: crises
diagnosis: diagnoses
index: indices
matrix: matrices
vertex: vertices
appendix: appendices
"""

_IRREGULAR = {
    form: head
    for line in _IRREGULAR_FORMS.strip().splitlines()
    for head, _, forms in [line.partition(":")]
    for form in forms.split()
}

# What the rules of endings would throw together with another word: "important" with "import", "training" with "train".
# The first stands for all of its line.
_APART_FORMS = """
accountant accountants, accounting, animal animals, animation animations, building buildings, business businesses
chilly, customs, doctorate doctoral, effective, elevator elevators, excellent, experiment experiments, fry fries fried
important importance, informal, internal internally, international, marketing, meeting meetings, memorial, musical musicals
nationality, objective objectives, optional, organ organs, parking, personality, physical, physics, position positions
practical, presentation presentations, production, productive productivity, promotion promotions, provider providers
publication publications, responsible responsibility responsibilities, responsive, restful, settings
specification specifications, staging, stocking stockings, tired, training trainings trained, trainer trainers
university universities, useful, wedding weddings, computer computers, general, generation, organic
"""

_APART = {
    form: forms.split()[0]
    for line in _APART_FORMS.strip().splitlines()
    for forms in line.split(", ")
    for form in forms.split()
}
# British: American, where no rule of endings tells; both forms of an entry's words come out as one.
_SPELT_FORMS = """
colour:color flavour:flavor favour:favor favourite:favorite neighbour:neighbor behaviour:behavior humour:humor
honour:honor labour:labor harbour:harbor rumour:rumor vapour:vapor odour:odor armour:armor tumour:tumor
endeavour:endeavor savour:savor neighbourhood:neighborhood colourful:colorful centre:center metre:meter
litre:liter theatre:theater fibre:fiber kilometre:kilometer centimetre:centimeter millimetre:millimeter
grey:gray cheque:check programme:program licence:license defence:defense offence:offense catalogue:catalog
dialogue:dialog analogue:analog analyse:analyze paralyse:paralyze jewellery:jewelry pyjamas:pajamas
yoghurt:yogurt moustache:mustache plough:plow sceptical:skeptical enrol:enroll enrolment:enrollment
fulfil:fulfill instalment:installment skilful:skillful practise:practice storey:story tyre:tire
aeroplane:airplane aluminium:aluminum anaemia:anemia anaesthesia:anesthesia diarrhoea:diarrhea
oestrogen:estrogen paediatric:pediatric orthopaedic:orthopedic manoeuvre:maneuver mould:mold draught:draft
ageing:aging judgement:judgment acknowledgement:acknowledgment artefact:artifact counsellor:counselor
counselling:counseling travelling:traveling traveller:traveler modelling:modeling labelling:labeling cosy:cozy
maths:math mum:mom mummy:mommy
"""
_SPELT = dict(pair.split(":") for pair in _SPELT_FORMS.split())
# "organise" is "organize"; not so where -ise belongs to the word.
_ISE = Pattern(r"([a-z]{4,})is(e[drs]?|ers|ing|ations?)")
_KEEPS_S_FORMS = """
prom exerc surpr likew otherw franch enterpr prem expert comprom disgu superv parad merchand advert improv
telev appra parap prec conc rev adv dev
"""
_KEEPS_S = frozenset(_KEEPS_S_FORMS.split())


class Stemmer:
    """The stem of an English word; loads its library on first use."""

    def __init__(self) -> None:
        self._stem: Callable[[str], str] | None = None

    def stem(self, word: str) -> str:
        """The stem of one lower-case word, irregular forms included ("went" and "going" meet in "go")."""
        if self._stem is None:
            from Stemmer import (
                Stemmer as SnowballStemmer,
            )  # here: 4 ms, and never needed for Chinese alone

            self._stem = SnowballStemmer("english").stemWord
        return _APART.get(word) or self._stem(_IRREGULAR.get(word) or _american(word))


def _american(word: str) -> str:
    plain = word.removesuffix("s")
    if (spelt := _SPELT.get(word) or _SPELT.get(plain)) is not None:
        return spelt
    if "is" in word and (found := _ISE().fullmatch(word)) and found[1] not in _KEEPS_S:
        return f"{found[1]}iz{found[2]}"
    return word
