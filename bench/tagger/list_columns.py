"""Columns of ordinary lists: what stands at their heads, in two dozen languages, and in their cells; none is a secret.

Some headings have a word for a key, a code, a pin or a password in them, and name none.
"""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Sequence
from typing import Final

Make = Callable[[random.Random], str]

_GIVEN: Final = (
    "Ann Ben Cleo Dmitri Elif Farid Greta Hana Ines Jonas Katya Liam Maja Noor Olek Priya Quinn Rosa Sven Tomasz Uma "
    "Viktor Wanjiru Xin Yusuf Zoë Aylin Björn Chidi Delphine Emeka Fatou Giulia Hiroshi Ilse João Kwame Lucía Marek "
    "Nguyen Oksana Pedro Rasmus Soo-jin Thandi Umberto Vera Wout Ying Žofia"
)
GIVEN: Final = tuple(_GIVEN.split())
_FAMILY: Final = (
    "Miller Okafor Lindt Novák Yılmaz Haddad Bergström Tanaka García Kowalski Petrenko O'Brien Schäfer Dubois Rossi "
    "Silva Jansen Nagy Popescu Virtanen Andersen Kim Nguyen Patel Singh Mbeki Traoré Fernández Horvat Kaya Weber "
    "Lefèvre Bianchi Costa Bakker Dahl Ivanova Sato Chen Alvarez Murphy Keller Moreau Greco Ramos Visser Berg Wu"
)
FAMILY: Final = tuple(_FAMILY.split())
_PLACES: Final = (
    "Leeds Gdańsk Porto Graz Lyon Utrecht Turku Brno Izmir Osaka Accra Lima Cork Basel Bergen Gent Split Riga Sofia "
    "Malmö Cádiz Bari Tampere Kyiv Nairobi Quito Hanoi Busan Perth Quebec"
)
PLACES: Final = tuple(_PLACES.split())
_STREETS: Final = "Mill Lane|Hauptstr.|rue Pasteur|Calle Mayor|via Roma|Lindenweg|ul. Polna|Kerkstraat"
STREETS: Final = tuple(_STREETS.split("|"))
_STATES: Final = "open|done|ok|yes|no|pending|shipped|offen|erledigt|payé|sì|x|✓|–|n/a|"
STATES: Final = tuple(_STATES.split("|"))
_UNITS: Final = "kg|m|cm|€|kWh|°C|%|ml|h|min|km/h|hPa|pcs|Stk.|zł|kr"
UNITS: Final = tuple(_UNITS.split("|"))
_GOODS: Final = (
    "Hex bolt|Oak board|Paint, white|USB-C cable|Toner|Flour|Kaffee|Lampe E27|Filtre|Tornillo|"
    "Papier A4|Washer|LED strip|Olive oil|Gloves|Chaise|Schraube|Batterie AA"
)
GOODS: Final = tuple(_GOODS.split("|"))
_TEAMS: Final = "Sales|Ops|HR|Support|5b|U15|Einkauf|Finance|Vorstand|IT|Logistik|R&D|admin|viewer"
TEAMS: Final = tuple(_TEAMS.split("|"))
_REMARKS: Final = "||by the door|new|see below|bitte prüfen|à voir|ask Tom|spare|left side|2nd floor|broken"
REMARKS: Final = tuple(_REMARKS.split("|"))
_SIGNALS: Final = "GND|VCC|SDA|SCL|TX|RX|MOSI|MISO|CS|RST|3V3|5V|INT|EN"
SIGNALS: Final = tuple(_SIGNALS.split("|"))
_ACTIONS: Final = "save file|undo|find|next tab|zoom in|Zeile löschen|copier|play / pause|close|go to line"
ACTIONS: Final = tuple(_ACTIONS.split("|"))
_KEYS: Final = "Ctrl+S|Ctrl+Z|F5|Alt+Tab|Esc|⌘K|Shift+F10|g g|dd|Ctrl+Shift+P|Space|Enter"
KEYS: Final = tuple(_KEYS.split("|"))
_MUSIC: Final = "C major|A minor|F♯|Bb|e-Moll|D dur|G|Es-Dur"
MUSIC: Final = tuple(_MUSIC.split("|"))


def _digits(chance: random.Random, size: int) -> str:
    return "".join(chance.choices(string.digits, k=size))


def _hex(chance: random.Random, size: int) -> str:
    return "".join(chance.choices("0123456789abcdef", k=size))


def _name(chance: random.Random) -> str:
    first, last = chance.choice(GIVEN), chance.choice(FAMILY)
    return chance.choice((f"{first} {last}", f"{last}, {first}", first, last, f"{first[0]}. {last}"))


def _phone(chance: random.Random) -> str:
    forms = (
        "555-####", "0161 555 ####", "+49 40 ######", "0### ### ## ##", "(0##) ### ## ##", "+1 (###) 555-####",
        "06 ## ## ## ##", "0171/#######", "+48 ### ### ###", "####", "-##", "044 ### ## ##", "07### ######",
        "090-####-####",
    )  # fmt: skip
    return _filled(chance.choice(forms), chance)


def _filled(form: str, chance: random.Random) -> str:
    """A form, with a digit for each #, a capital for each @."""
    return "".join(
        chance.choice(string.digits)
        if sign == "#"
        else chance.choice(string.ascii_uppercase)
        if sign == "@"
        else sign
        for sign in form
    )


def _mail(chance: random.Random) -> str:
    first, last = chance.choice(GIVEN).lower(), chance.choice(FAMILY).lower()
    name = chance.choice(
        (
            f"{first}.{last}",
            f"{first[0]}{last}",
            f"{first}{chance.randrange(99)}",
            f"x{chance.randrange(999)}",
        )
    )
    return f"{name}@{chance.choice(('corp', 'mail', 'verein', 'school', 'studio'))}.example"


def _date(chance: random.Random) -> str:
    year, month, day = chance.randrange(1950, 2030), chance.randrange(1, 13), chance.randrange(1, 29)
    return chance.choice(
        (f"{year}-{month:02}-{day:02}", f"{day:02}.{month:02}.{year}", f"{day}.{month}.",
         f"{month}/{day}/{year % 100:02}",
         f"{day}/{month:02}/{year}", f"{year}")
    )  # fmt: skip


def _time(chance: random.Random) -> str:
    hour, minute = chance.randrange(24), chance.choice((0, 15, 30, 45, chance.randrange(60)))
    start = chance.choice(
        (
            f"{hour:02}:{minute:02}",
            f"{hour}:{minute:02}",
            f"{hour % 12 + 1}am",
            f"{hour}h{minute:02}",
            f"{hour} Uhr",
        )
    )
    return start if chance.random() < 0.6 else f"{start}–{(hour + 8) % 24:02}:00"


def _amount(chance: random.Random) -> str:
    value = chance.uniform(0, 10 ** chance.randrange(1, 6))
    shown = chance.choice((f"{value:.0f}", f"{value:.2f}", f"{value:.1f}", f"{value:.2f}".replace(".", ",")))
    return shown if chance.random() < 0.5 else f"{shown} {chance.choice(UNITS)}"


def _number(chance: random.Random) -> str:
    """A number of an order, a customer, an article, a device."""
    forms = (
        "######", "########", "@@-#####", "INV-####-###", "#####-##", "@###", "@##.##", "R-######", "DIN ###",
        "@@@####@@",
        "#/####", "VN ######", "PO#######", "SN@#@####", "##########", "K-####", "####-####", "@@####", "#######@",
    )  # fmt: skip
    return _filled(chance.choice(forms), chance)


def _machine(chance: random.Random) -> str:
    return (
        chance.choice(("srv", "web", "nas", "pi", "rk1-n", "printer-", "ap-", "db", "laptop-"))
        + f"{chance.randrange(60):02}"
    )


def _address(chance: random.Random) -> str:
    return ".".join(str(chance.randrange(1, 255)) for _ in range(4))


def _mac(chance: random.Random) -> str:
    return ":".join(_hex(chance, 2) for _ in range(6))


def _one_of(*those: str) -> Make:
    return lambda chance: chance.choice(those)


def _counted(most: int) -> Make:
    return lambda chance: str(chance.randrange(1, most))


def _street(chance: random.Random) -> str:
    return f"{chance.choice(STREETS)} {chance.randrange(1, 180)}{chance.choice(('', '', 'a', 'b'))}"


def _room(chance: random.Random) -> str:
    return _filled(chance.choice(("##", "###", "B###", "#.##", "@-##", "@#")), chance)


def _version(chance: random.Random) -> str:
    return ".".join(str(chance.randrange(30)) for _ in range(chance.randrange(2, 4)))


def _hash(chance: random.Random) -> str:
    return _hex(chance, chance.choice((7, 8, 12, 16, 40)))


def _id(chance: random.Random) -> str:
    parts = "-".join(_hex(chance, size) for size in (8, 4, 4, 4, 12))
    return chance.choice((parts, _filled("#########", chance)))


def _issue(chance: random.Random) -> str:
    return f"{chance.choice(('JIRA', 'OPS', 'WEB', 'HR', 'gh'))}-{chance.randrange(9000)}"


def _login(chance: random.Random) -> str:
    last = chance.choice((chance.choice(FAMILY).lower(), str(chance.randrange(99))))
    return f"{chance.choice(GIVEN).lower()}{chance.choice(('', '.', '_', '-'))}{last}"


def _short(chance: random.Random) -> str:
    return _filled(chance.choice(("@@", "@@@", "@@-@@", "@##")), chance)


def _page(chance: random.Random) -> str:
    site, part = chance.choice(("docs", "shop", "wiki", "club")), chance.choice(("p", "item", "page"))
    return f"https://{site}.example/{part}/{chance.randrange(9000)}"


PEOPLE: Final = (
    "Name|Nom|Nombre|Imię|Ad|氏名|Contact|Mitarbeiter|Ansprechpartner|Customer|Kunde|Student|Guest|Gast|Player|Имя"
    "|Név|Navn|Nimi|Όνομα|姓名|이름|Responsible|Wer|Qui|Chi|Kto|Owner",
    _name,
)
ITEMS: Final = (
    "Item|Artikel|Article|Producto|Produkt|Ürün|品名|What|Was|Description|Goods|Material",
    _one_of(*GOODS),
)
HOSTS: Final = ("Host|Hostname|Server|Gerät|Device|Machine|Node|Rechner", _machine)
COLUMNS: Final[Sequence[tuple[str, Make]]] = (
    PEOPLE,
    ITEMS,
    HOSTS,
    (
        "Phone|Tel.|Tel|Telefon|Téléphone|Teléfono|Mobile|Handy|電話|Телефон|Ext.|Fax|Durchwahl|Nummer|Telefoon"
        "|Puhelin|Telefone|Cell|电话|전화|Τηλέφωνο|Emergency contact",
        _phone,
    ),
    ("Email|E-Mail|Mail|Courriel|Correo|e-mail|メール|Почта|Address", _mail),
    (
        "City|Ort|Ville|Ciudad|Miasto|Şehir|Stad|Place|Where|Where from|Kaupunki|Destination|To|Ziel",
        _one_of(*PLACES),
    ),
    ("Address|Adresse|Dirección|Adres|Street|Straße|住所", _street),
    (
        "Date|Datum|Fecha|Data|Tarih|日付|Дата|When|Wann|Due|Birthday|Geburtstag|Expires|Last login"
        "|Password changed|Key issued|Päivä|Valid until|Ablauf|Letzte Prüfung",
        _date,
    ),
    (
        "Time|Uhrzeit|Heure|Hora|Godzina|Saat|時間|Shift|Schicht|Opening hours|Monday|Mo|Lunedì|Dienst|Kl."
        "|APAC timezone|Day",
        _time,
    ),
    (
        "Price|Preis|Prix|Precio|Cena|Fiyat|価格|Amount|Betrag|Total|Sum|Cost|Value|Wert|Weight|Temp|Length|Level"
        "|Score|Reading|Zählerstand|Consumption|Ergebnis|Tokens|Latency",
        _amount,
    ),
    (
        "Qty|Menge|Anzahl|Quantité|Cantidad|Ilość|Adet|数量|Count|Stock|Pcs|Seats|Nights|Players|Pages|Keys held"
        "|Passes sold|Attempts|Kpl",
        _counted(500),
    ),
    (
        "Order|Order no.|Bestellung|Commande|Pedido|Zamówienie|Invoice|Rechnung|Article|Art.-Nr.|SKU|Serial"
        "|Serial no.|Seriennr.|Part|Customer no.|Kundennr.|Member|Mitgl.-Nr.|Ticket|Ref|Booking|Reservation|Model"
        "|Policy|Inventory|Plate|Kennzeichen|Product code|Code article|Item code|Postcode|PLZ|Key no."
        "|Schlüssel Nr.|Lot|Charge|Badge UID|編號|Номер|Flight|Gate|Sicil no|Asset tag|Barcode|Licence plate|Meter",
        _number,
    ),
    (
        "Room|Raum|Salle|Sala|Pokój|Oda|部屋|Seat|Platz|Bay|Shelf|Regal|Box|Locker no.|Spind|Apartment|Berth|Desk"
        "|Etage|Kabine",
        _room,
    ),
    (
        "Status|State|État|Estado|Stan|Durum|状態|Done|Paid|Bezahlt|OK?|Pass/Fail|Password set?|2FA|Key returned"
        "|Access|Zugang|Checked",
        _one_of(*STATES),
    ),
    ("IP|IP address|Address|Gateway|DNS", _address),
    ("MAC|MAC address|Hardware address", _mac),
    ("Port|VLAN|Slot|Channel|Kanal|Exit code|HTTP code|Error code|Fehlercode", _counted(9000)),
    ("Version|Release|Firmware|Ver.", _version),
    ("Commit|SHA|Digest|Checksum|Hash|Fingerprint|Public key id|Key id", _hash),
    ("ID|Id|UUID|Run|Session|Request id", _id),
    ("Pin|GPIO|Pin no.|Pad", _counted(41)),
    ("Signal|Function|Wire|Farbe|Colour", _one_of(*SIGNALS)),
    ("Key|Keys|Shortcut|Taste|Touche|Hotkey", _one_of(*KEYS)),
    ("Action|Meaning|Bedeutung|Does|Befehl", _one_of(*ACTIONS)),
    ("Key|Tonart|Tune", _one_of(*MUSIC)),
    ("Code|Airport|Country|Currency|Lang|Sprache|Kürzel", _short),
    ("Issue|Key|Story|Vorgang|Branch", _issue),
    ("User|Login|Username|Benutzer|Nick|Account|Konto|Kullanıcı|Handle", _login),
    ("Team|Department|Abteilung|Group|Role|Rolle|Service|Klasse|Klub", _one_of(*TEAMS)),
    ("URL|Link|Page|Website", _page),
    ("Note|Notes|Bemerkung|Remarque|Notas|Uwagi|備考|Comment|Remarks", _one_of(*REMARKS)),
)
"""Headings of a column, and what its cells are made by."""
