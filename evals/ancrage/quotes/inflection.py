"""Whether two words are forms of one, and which words only stand for others."""

import re
import unicodedata
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_WORD = re.compile(r"[^\W\d_]+")

_STANDS_FOR_OTHERS = (
    # English: pronouns, determiners, be, have, do, will, what joins, nouns that name nothing
    "i me my mine myself you your yours yourself he him his himself she her hers herself it its"
    " itself we us our ours ourselves they them their theirs themselves one ones this that these"
    " those who whom whose which what the a an am is are was were be been being have has had having"
    " do does did doing done will would s m re ve d ll t to of at in on for by as and or but that"
    " so there here now then today yesterday tomorrow thing things stuff somebody someone something"
    " guy guys person people"
    # French: the same
    " je j moi tu te toi il elle nous vous ils elles se soi lui leur leurs eux y en le la les l un"
    " une des du de ce c cet cette ces ça ca cela ceci celui celle ceux celles mon ma mes ton ta"
    " tes son sa ses notre nos votre vos mien mienne miens miennes tien sien sienne nôtre vôtre qui"
    " que qu quoi dont où lequel laquelle lesquels lesquelles on suis es est sommes êtes sont étais"
    " était étions étiez étaient fus fut furent serai seras sera serons serez seront serais serait"
    " serions seriez seraient sois soit soient été étant être ai as avons avez ont avais avait"
    " avions aviez avaient eu eut aurai auras aura aurons aurez auront aurais aurait aurions auriez"
    " auraient aie ait aient ayant avoir à au aux dans par pour et ou mais donc là ici hier demain"
    " maintenant aujourd hui truc trucs chose choses machin quelqu"
)
_FREE = frozenset(_STANDS_FOR_OTHERS.split())
_IRREGULAR = (
    "go goes went gone going,say says said saying,make makes made making,know knew known,take took"
    " taken taking,see saw seen,come came coming,get got gotten gets getting,give gave given giving"
    ",find found,think thought,tell told,feel felt,leave left leaving,keep kept,begin began begun"
    ",write wrote written writing,stand stood,hear heard,mean meant,meet met,pay paid,run ran,buy"
    " bought,spend spent,lose lost losing,send sent,build built,fall fell fallen,lead led"
    ",understand understood,speak spoke spoken,sell sold,teach taught,catch caught,choose chose"
    " chosen,drive drove driven,eat ate eaten,fly flew flown,forget forgot forgotten,grow grew"
    " grown,hold held,ride rode ridden,sit sat,sleep slept,wear wore worn,win won,break broke"
    " broken,bring brought,wake woke woken,drink drank drunk,deal dealt,throw threw thrown,draw"
    " drew drawn,become became,show shown,rise rose risen,fight fought,hide hid hidden,steal stole"
    " stolen,swim swam swum,sing sang sung,stick stuck,strike struck,shut shutting,can could,may"
    " might,shall should"
    ",vais vas va allons allez vont allais allait allions alliez allaient irai iras ira irons irez"
    " iront irais irait iraient aller allé allée allés"
    ",peux peut pouvons pouvez peuvent pouvais pouvait pouvaient pourrai pourra pourront pourrais"
    " pourrait pourraient pouvoir pu puisse puissent"
    ",veux veut voulons voulez veulent voulais voulait voulaient voudrais voudrait voudraient"
    " voudra vouloir voulu veuille"
    ",dois doit devons devez doivent devais devait devaient devrai devra devrais devrait devraient"
    " devoir dû doive"
    ",sais sait savons savez savent savais savait savaient saurai saura saurais saurait savoir su"
    " sache"
    ",fais fait faisons faites font faisais faisait faisaient ferai fera feront ferais ferait"
    " feraient faire fasse faite faits"
    ",dis dit disons dites disent disais disait disaient dirai dira dirais dirait dire"
    ",vois voit voyons voyez voient voyais voyait voyaient verrai verra verrais verrait voir vu vue"
    ",viens vient venons venez viennent venais venait venaient viendrai viendra viendrais viendrait"
    " venir venu venue"
    ",tiens tient tenons tenez tiennent tenais tenait tenaient tiendra tenir tenu"
    ",prends prend prenons prenez prennent prenais prenait prenaient prendre pris prise"
    ",comprends comprend comprenons comprenez comprennent comprenais comprenait comprendre compris"
    ",apprends apprend apprenons apprenez apprennent apprenais apprenait apprendre appris"
    ",mets met mettons mettez mettent mettais mettait mettaient mettre mis mise"
    ",crois croit croyons croyez croient croyais croyait croyaient croire cru"
    ",reçois reçoit recevons recevez reçoivent recevais recevait recevoir reçu reçue"
    ",bois boit buvons buvez boivent buvais buvait boire bu,lis lit lisons lisez lisent lisais"
    " lisait lire lu,vis vit vivons vivez vivent vivais vivait vivre vécu,connais connaît connait"
    " connaissons connaissez connaissent connaissais connaissait connaître connu,faut fallait"
    " faudra faudrait fallu falloir,plaît plait plaisent plaisait plaire plu,ouvre ouvrir ouvert"
    " ouverte,offre offrir offert,appelle appelles appellent appelait appelais appeler appelé"
)
_LEMMA = {
    form: number for number, verb in enumerate(_IRREGULAR.split(",")) for form in verb.split()
}
_FRENCH_PERSON = re.compile(r"[stdx]+\Z")
_TYPO = 6
"""Letters from which two words that differ by one are a word and its misspelling."""


def tokens(text: str) -> list[str]:
    """The words of ``text`` in lower case."""
    return [word.lower() for word in _WORD.findall(text)]


def stands_for_others(word: str) -> bool:
    """Whether a word, in lower case, is a pronoun, determiner, auxiliary or joint: closed classes
    of French and English, which a bracket may resolve."""
    return word in _FREE


@lru_cache(maxsize=4096)
def same_word(one: str, other: str) -> bool:
    """Whether two words in lower case are forms of one: by Snowball's stems (Porter 2001) in
    French or in English, as forms of an irregular verb, or as one misspelt."""
    if one in _LEMMA and _LEMMA[one] == _LEMMA.get(other):
        return True
    one, other = _plain(one), _plain(other)
    if one == other or any(stem(one) == stem(other) for stem in _stemmers()):
        return True
    person = _FRENCH_PERSON.sub("", one)
    if len(person) >= 3 and person == _FRENCH_PERSON.sub("", other):
        return True
    from rapidfuzz.distance import OSA

    ends = (one[0], one[-1]) == (other[0], other[-1])
    return ends and min(len(one), len(other)) >= _TYPO and OSA.distance(one, other) <= 1


def _plain(word: str) -> str:
    return "".join(
        letter for letter in unicodedata.normalize("NFD", word) if not unicodedata.combining(letter)
    )


@cache
def _stemmers() -> "tuple[Callable[[str], str], ...]":
    from snowballstemmer import stemmer

    return tuple(stemmer(language).stemWord for language in ("french", "english"))
