"""Secrets told by what they belong to: settings and devices, users and things, questions, wallets; in many languages.

Each example is told by one rule or one kind of candidate, and fails when that is off; what stays is near to it.
"""

import re

import pytest

from scrubjay.ingest.scrub import scrub

MARKED = re.compile("⟦([^⟧]+)⟧")
GONE = (
    # Languages: a word for a password, and what people put behind it.
    "Heslo na wifi v chatě je ⟦brambory-s-tvarohem⟧.",
    "A wifi jelszava ⟦langos-tejfollel⟧.",
    "kata sandi awal: ⟦Rambutan-Manis-4⟧. Mohon segera diganti.",
    "bruger \"formand\", adgangskode ⟦Fjerbold.Hal2⟧",
    "usuari 46929439K, contrasenya ⟦Castellers#3de9⟧.",
    "סיסמת הוויי-פיי במשרד: ⟦Halva4Pistachio⟧, הרשת נקראת Tamar.",
    "รหัสไวไฟร้าน: ⟦somtam-thai-99⟧ ชื่อ Baan_Suan",
    "كلمة السر حق الواي فاي: ⟦Qahwa.Hel.9⟧",
    "ऑफिस के वाईफाई का पासवर्ड ⟦MasalaChai@65⟧ है",
    "Ο κωδικός του wifi είναι ⟦thalassa2019mple⟧",
    "käyttäjätunnus: anna\nsalasana: ⟦Revontuli_77⟧",
    "мережа Sonyashnyk, пароль ⟦varenyky_z_vyshneyu⟧.",
    # Asked for, and told in the next turn.
    "Tom: pw for the shared drive?\nInes: ⟦marmalade⟧\nTom: ta",
    "रवि: नेटफ्लिक्स का पासवर्ड भेज दो\nसीमा: ⟦GolGappa@99⟧",
    "— скинь пароль от почты отдела\n— ⟦Осень-Скрепка-19⟧\n— с большой буквы?",
    # Settings: words to the end of the line, connections, lists of names and values.
    "mqtt_user: zigbee\nmqtt_password: ⟦squirrel parade 1⟧\nlatitude: 51.4",
    "ssid=Barnhouse\nwpa_passphrase=⟦seven swans a swimming⟧\nchannel=6",
    "user = \"billing\"\npass = \"⟦Apricot stone jam⟧\"",
    "network={\n    ssid=\"Casa Ruiz\"\n    psk=\"⟦lagartija verde⟧\"\n}",
    "Server=tcp:sql1.example;User ID=app;Password=⟦Larch Tree Lane⟧;Encrypt=True",
    "Server=10.1.1.2;UID=rep;PWD={⟦Tulip;Field⟧};TrustServerCertificate=yes",
    "#define WIFI_PASS \"⟦mothswelcome⟧\"",
    "{\"k\": \"wifi password\", \"v\": \"⟦coo coo ca choo⟧\"}",
    "A temporary password is generated for root@localhost: ⟦k;Wp2aZ9>x⟧",
    # Devices.
    ": PSK \"⟦a fine day for sailing⟧\"\nanna : EAP \"⟦Spinnaker.9⟧\"",
    "hostname sw1\n!\nsnmp-server community ⟦bluewhale⟧ RW",
    "hostname sw1\n!\n ppp chap password 0 ⟦fibreToTheShed⟧",
    "hostname sw1\ntacacs-server key ⟦T4c0-w1th-Guac⟧",
    "set snmp community ⟦lookbutdonttouch⟧ authorization read-only",
    "snmpwalk -v3 -u monitor -a SHA -A ⟦hedgehogs-sleep⟧ 10.0.0.2",
    "QR: WIFI:T:WPA;S:Attic_Guest;P:⟦dormer-window-9⟧;;",
    "network_key: ⟦[13, 77, 201, 5, 94, 33, 180, 240, 9, 61, 112, 48, 230, 17, 88, 154]⟧",
    # Users and things.
    "The calendar: sign in as frontdesk with ⟦croissant-o-clock⟧ please",
    "The account is greta.house@example.org with ⟦Teacosy-44⟧.",
    "Weboberfläche admin und ⟦initpass-0815⟧.",
    "Proxmox root → ⟦Heron.At.Dusk⟧",
    "logs in with the user \"bench\" and ⟦glue-gun-glue⟧, all lower case",
    "- Netflix: ⟦SofaSpuds2020⟧\n- Boiler: Worcester 30i",
    "parents@home.example\n⟦SofaSpuds2020⟧\n",
    "## Wi-Fi\nUpstairs: Heron_Up, ⟦glassslipper9⟧\nGarden: no signal",
    "Changed the admin pass on the NAS to ⟦NewBarn2025!⟧ today",
    # Questions and words told to a voice.
    "security questions\n- first pet: ⟦Sergeant Biscuits⟧\n- street you grew up on: ⟦Quarry Hollow⟧",
    "the secret answer (favourite teacher) is ⟦Mr Pumblechook⟧.",
    "telephone banking: memorable word ⟦periwinkle⟧, they ask for two letters",
    # Numbers.
    "telephone PIN ⟦61 80 27⟧. Sort code 20-45-77",
    "Die PIN fürs Onlinebanking ist ⟦Moewe73⟧, für beide.",
    "Kirjaston kortti, tunnusluku ⟦5583⟧.",
    "Papa : carte bleue code ⟦6627⟧, coffre n° 214",
    "usuario 2281X, clave de acceso ⟦190354⟧",
    # Wallets.
    "a wallet (Ledger)\n⟦orbit velvet cousin hammer lizard peasant twelve oyster glide walnut drama siren⟧\nat 1",
    "accounts: [\"⟦0x89b8c42fac95309f9991b5e0de54fe2560a5e8a4bb6f87e9b4f4dedb354e74da⟧\"]",
    # Keys and sessions.
    "active_record_encryption:\n  primary_key: ⟦cJLfcdJJCBiA8CN1PBq6QUEzmZXaBA3t⟧",
    "config/master.key\n⟦71fa3565a35804b41234008064c806ca⟧",
    "proxy_set_header X-Internal-Auth \"⟦bEAogbj5fi6h3H26KYyxWj9SxFdyhyQO⟧\";",
    "s.cookies.set(\"li_at\", \"⟦AQEDAHJlGbSNgR4gYM1e5r8Li8YE5plbQA8j⟧\", domain=\".x.example\")",
    "{\"cookies\": [{\"name\": \"sid\", \"value\": \"⟦HZp9Nc2CHBe_mtfAokP8kuDMfqKihCAASY8g⟧\"}]}",
    "imapsync --user1 jo --password1 ⟦Thimble.Green7⟧ --host2 b.example",
    "fetch(\"https://api.example.org/forecast?units=metric&appid=⟦2ce43ae28ff78c6746b1b9a0a5ba9344⟧\")",
    "https://x.example/auth/magic?email=kofi%40example.com&t=⟦9466256e6d92423220905b4cacdb50c9503fcdbf⟧",
    "calls ⟦https://prod-37.westeurope.logic.azure.com:443/workflows/d6e935400461/triggers/manual/paths/invoke"
    "?sv=1.0&sig=6_JtXViQL6Tk4DERBaWRws9jMrt61DOIYUM356L9bW6⟧ now",
    "new PDO('mysql:host=localhost;dbname=shop', 'shop', '⟦Fennel_Soup9⟧');",
)  # fmt: skip
STAYS = (
    "Personlig passord har jeg i hodet. Kundenummer 82115261, målepunkt-id 7070575.",
    "Passwörter werden weder per E-Mail noch im Chat verschickt.",
    "Cara ganti kata sandi: buka portal, klik \"Lupa kata sandi\".",
    "Das Passwort in POSTGRES_PASSWORD wird nur beim ersten Anlegen übernommen.",
    "Server | Zugang\n--- | ---\nbirke | noch nicht eingerichtet",
    "La clave catastral de la parcela: 1597113VK41066A.",
    "uid: f576de35-6dde-4a63-abcb-09fde73f0a2e",
    "annotations:\n  checksum/secret: 27890518366c80e862d32e284225c81b98830cbed96635d89e20070cdd17c2aa",
    "docsearch({apiKey: \"217bf61a1204f6ce9ed66953e1c4d061\"}) // search-only",
    "reset_password: d-afa84fbeb35792b6e2c73e9d263017d3",
    "login_password: Enter your password\nuser: Your name",
    "reset_password: Send me a link\nforgot_password: Did you forget it",
    "Tom: did you change the password?\nInes: yesterday",
    "password: must be at least twelve characters",
    "Server=myServerAddress;Database=myDataBase;User Id=myUsername;Password=myPassword;",
    "{\"k\": \"password\", \"v\": \"Your password\"}",
    "hostname sw1\nenable secret 9 $9$0QYxLTPX57Jtrf$CYQ\nsnmp-server location Attic rack 2",
    "snmp-server community public RO",
    "weights: [13, 77, 201, 5, 94, 33, 180, 240, 9, 61, 112, 48, 230, 17, 88, 154]",
    "users and thumbs-down signals, the user interface with the back-end",
    "SubElement(root, 'manifest:file-entry')",
    "- Laptop: ThinkPad T14s\n- Router: FritzBox7590\n- NAS: DS923+",
    "Wi-Fi: Kyoto-Machiya",
    "Security questions are asked when somebody calls. My first pet: a cat.\n\nFirst school: Oakfield",
    "Which first school did you go to? Mine was Oakfield.",
    "Gate 4471, bike shed 0338, the code of the door is 2580.",
    "Código postal 28013, code postal 44000",
    "resembled\nledger\nreese\npictured\ndistract\nfixing\nfiddle\ngiggled\nburger\nheirs\nhairy\nmutter\nbeam\nchoir\n",
    "tx 0x89b8c42fac95309f9991b5e0de54fe2560a5e8a4bb6f87e9b4f4dedb354e74da was mined",
    "users:\n  primary_key: cJLfcdJJCBiA8CN1PBq6QUEzmZXaBA3t",
    "{\"name\": \"locale\", \"value\": \"en-GB-oxendict-0123456789\"}",
    "https://www.chromatic.com/library?appId=5f0f381c0e50750022dc6bf7",
    "https://prod.example.org/workflows/d6e935400461ac3adff299d7deecd445/runs",
)  # fmt: skip


@pytest.mark.parametrize("marked", GONE)
def test_a_secret_goes_and_what_stands_beside_it_stays(marked: str) -> None:
    secrets = MARKED.findall(marked)
    text = marked.replace("⟦", "").replace("⟧", "")
    got = scrub(text).text
    assert [secret for secret in secrets if secret in got] == []
    assert got.count("[secret:") == len(secrets)


@pytest.mark.usefixtures("rules_alone")
@pytest.mark.parametrize("text", STAYS)
def test_what_only_looks_like_that_stays(text: str) -> None:
    assert scrub(text).text == text


def test_what_was_found_goes_wherever_it_stands_again() -> None:
    text = "DB_PASSWORD=Wobbly-Ladder-7\n\nasked again, typed Wobbly-Ladder-7 and was in"
    assert "Wobbly" not in scrub(text).text


def test_a_name_that_stands_everywhere_is_none() -> None:
    text = "password: asn1-Spec\n" + "the asn1-Spec is read\n" * 6
    assert scrub(text).text.count("asn1-Spec") >= 6
