"""What is kept of a turn: each voice says something lasting, and that is found with its kind."""

import pytest

from scrubjay.ingest.statements.statements import statements

P, D, F, C, H = "preference", "decision", "fact", "correction", "howto"

KEPT = [
    ("I prefer tabs over spaces.", [(P, "I prefer tabs over spaces")]),
    ("pls always answer in metric units", [(P, "pls always answer in metric units")]),
    ("I can't stand coriander, so leave it out of every recipe.", [(P, "I can't stand coriander")]),
    ("From now on use British spelling.", [(P, "From now on use British spelling")]),
    ("i hate meetings before 10", [(P, "i hate meetings before 10")]),
    (
        "Could you shorten this? Btw I really dislike bullet points in mails.",
        [(P, "I really dislike bullet points in mails")],
    ),
    ("My favourite author is Ursula Le Guin.", [(P, "My favourite author is Ursula Le Guin")]),
    (
        "Don't add comments to my code unless I ask for them.",
        [(P, "Don't add comments to my code unless I ask")],
    ),
    ("Please call me Bea, nobody calls me Beatrice.", [(P, "Please call me Bea")]),
    ("I'm a big fan of slow trains, any ideas for Italy?", [(P, "I'm a big fan of slow trains")]),
    ("never force-push to my branches", [(P, "never force-push to my branches")]),
    ("I don't like spicy food but my wife does.", [(P, "I don't like spicy food")]),
    (
        "I prefer to travel with hand luggage only. What fits in 20 litres?",
        [(P, "I prefer to travel with hand luggage only")],
    ),
    ("We went with Postgres in the end.", [(D, "We went with Postgres in the end")]),
    ("ok we decided to drop support for Python 3.8", [(D, "we decided to drop support for Python 3.8")]),
    ("let's use uv from now on", [(D, "let's use uv from now on")]),
    ("I've decided to take the Lisbon job!", [(D, "I've decided to take the Lisbon job")]),
    ("After the review we agreed on trunk-based development.", [(D, "we agreed on trunk-based development")]),
    ("Decision: invoices go out on the 1st of the month.", [(D, "invoices go out on the 1st of the month")]),
    ("Yesterday we switched to Hetzner.", [(F, "we switched to Hetzner")]),
    (
        "We chose the blue tiles for the bathroom. How many boxes for 8 m2?",
        [(D, "We chose the blue tiles for the bathroom")],
    ),
    ("My sister Ana lives in Porto.", [(F, "My sister Ana lives in Porto")]),
    (
        "I'm allergic to peanuts and my son has asthma.",
        [(F, "I'm allergic to peanuts"), (F, "my son has asthma")],
    ),
    ("The staging server is on port 8443.", [(F, "The staging server is on port 8443")]),
    ("I graduated in 2016, is it too late for a PhD?", [(F, "I graduated in 2016")]),
    ("I bought a Brompton last week 😀", [(F, "I bought a Brompton last week")]),
    (
        "My daughter starts school in September, what should we buy?",
        [(F, "My daughter starts school in September")],
    ),
    (
        "I'm a nurse in a children's hospital and I work nights.",
        [(F, "I'm a nurse in a children's hospital"), (F, "I work nights")],
    ),
    ("we have two cats, Miso and Tofu", [(F, "we have two cats, Miso and Tofu")]),
    ("Since I'm vegetarian, what can I order in Lyon?", [(F, "I'm vegetarian")]),
    ("I live in Graz. Find me a dentist who is open on Saturday.", [(F, "I live in Graz")]),
    (
        "My husband was diagnosed with type 2 diabetes in March.",
        [(F, "My husband was diagnosed with type 2 diabetes in March")],
    ),
    ("Our API runs on three small VMs at Hetzner.", [(F, "Our API runs on three small VMs at Hetzner")]),
    ("I've been learning Japanese for two years.", [(F, "I've been learning Japanese for two years")]),
    ("My manager's name is Priya Raman.", [(F, "My manager's name is Priya Raman")]),
    ("I take lisinopril every morning, can I eat grapefruit?", [(F, "I take lisinopril every morning")]),
    ("my dog Biscuit is a 4 year old beagle", [(F, "my dog Biscuit is a 4 year old beagle")]),
    ("We use pnpm, not npm.", [(C, "We use pnpm, not npm")]),
    (
        "I run a small bakery in Ghent with my brother.",
        [(F, "I run a small bakery in Ghent with my brother")],
    ),
    ("Tom is my brother-in-law.", [(F, "Tom is my brother-in-law")]),
    (
        "I used to work at Siemens and now I teach maths.",
        [(F, "I used to work at Siemens"), (F, "I teach maths")],
    ),
    ("We moved to a new office in Leith in May.", [(F, "We moved to a new office in Leith in May")]),
    (
        "im 34 and have lived in oslo since 2012, recommend me a club",
        [(F, "im 34 and have lived in oslo since 2012")],
    ),
    ("My flight leaves on 12 June at 7:40.", [(F, "My flight leaves on 12 June at 7:40")]),
    ("I'm writing my thesis about peat bogs.", [(F, "I'm writing my thesis about peat bogs")]),
    ("The repo lives in ~/work/heron.", [(F, "The repo lives in ~/work/heron")]),
    ("I speak Polish and German at home.", [(F, "I speak Polish and German at home")]),
    ("I don't eat pork.", [(F, "I don't eat pork")]),
    ("We're a team of five, two of us part time.", [(F, "We're a team of five, two of us part time")]),
    ("My budget is 1500 euros a month. Plan a week of meals.", [(F, "My budget is 1500 euros a month")]),
    (
        "I volunteer at the animal shelter every Sunday.",
        [(F, "I volunteer at the animal shelter every Sunday")],
    ),
    ("Our wedding is on 14 September.", [(F, "Our wedding is on 14 September")]),
    ("No, the port is 8080.", [(C, "No, the port is 8080")]),
    ("actually my flight is on the 5th, not the 6th", [(C, "actually my flight is on the 5th, not the 6th")]),
    (
        "That's wrong, my daughter's name is spelled Maja.",
        [(C, "That's wrong, my daughter's name is spelled Maja")],
    ),
    ("nope, it's called heron-api", [(C, "nope, it's called heron-api")]),
    (
        "To deploy, run make ship and then tag the release.",
        [(H, "To deploy, run make ship and then tag the release")],
    ),
    (
        "always restart the worker after changing the schema",
        [(H, "always restart the worker after changing the schema")],
    ),
    ("Before you push, make sure the linter passes.", [(H, "Before you push, make sure the linter passes")]),
    (
        "We deploy by pushing a tag to the release branch.",
        [(H, "We deploy by pushing a tag to the release branch")],
    ),
    (
        "To get the sourdough going here, I first feed Fritz with rye flour.",
        [(H, "I first feed Fritz with rye flour")],
    ),
    ("- I'm left-handed\n- I play bass\n- find me a strap", [(F, "I'm left-handed"), (F, "I play bass")]),
    (
        "hi there so i just moved to bergen with my two kids and i work as a welder"
        " can you tell me what to do about the car",
        [(F, "i just moved to bergen with my two kids"), (F, "i work as a welder")],
    ),
    (
        "```\nI live in a fence\n```\nThe build fails with this. We use Bazel 7 on all machines.",
        [(F, "We use Bazel 7 on all machines")],
    ),
    ("Ich bin allergisch gegen Nüsse. Was kann ich backen?", [(F, "Ich bin allergisch gegen Nüsse")]),
    ("Meine Schwester wohnt in Hamburg.", [(F, "Meine Schwester wohnt in Hamburg")]),
    ("Vivo en Sevilla con mi hermana.", [(F, "Vivo en Sevilla con mi hermana")]),
    ("Je suis végétarien, tu as une idée pour ce soir ?", [(F, "Je suis végétarien")]),
    ("Moro em Braga desde 2019.", [(F, "Moro em Braga desde 2019")]),
]

NOTHING = [
    "make it shorter",
    "Thanks, that's perfect!",
    "What is the difference between a list and a tuple?",
    "Fix the failing test in test_api.py and push.",
    "I want a recipe for tonight, something with leeks.",
    "If I had a dog, I would call it Rex.",
    "You are a pirate. I am your parrot and I live on your shoulder.",
    "Write a story in which I live in Rome and have three cats.",
    "I'm so tired today.",
    "I just ran the tests and two of them fail.",
    "My friend says he lives in Oslo.",
    "We were going to use Kafka but dropped that.",
    "I'd like a table with three columns.",
    "Do I need a visa if I live in Canada?",
    "Python has a GIL and I have a question about it.",
    "I love it!",
    "I like the second version better.",
    "I have a bug in my code.",
    "I'm trying to center a div.",
    "I have no idea what this means.",
    "Imagine my wife is an astronaut. What does she eat?",
    "Suppose we use Postgres. How would sharding work?",
    "Translate this: I live in Berlin and my dog is called Bello.",
    "Proofread:\n\nDear Mr Smith,\nI have worked at Shell for ten years.\nBest regards,\nTim",
    "> I'm allergic to cats\nwhat did she mean by this",
    "2026-01-03 12:00:01 INFO we use port 8080\n2026-01-03 12:00:02 ERROR my worker is called w1\nwhat's wrong",
    "Traceback (most recent call last):\n  File \"x.py\", line 3, in my\n    we use()\nKeyError: 'my'",
    "I'm the queen of England lol",
    "My code is not working.",
    "My guess is a race condition.",
    "Can you help me with my essay?",
    "How do I tell my boss that I'm pregnant?",
    "It's raining here.",
    "I had lunch with my sister.",
    "Never mind.",
    "I always thought that was a bug.",
    "I need to go to the dentist tomorrow.",
    "Is it true that my passport is valid for ten years?",
    "Let's go with option 2.",
    "The function returns None when the list is empty.",
    "Water boils at 100 degrees.",
    "Tell me a joke about my cat.",
    "My sister might move to Porto.",
    "I wish I lived by the sea.",
    "Anna: I moved to Rome\nBob: my dog is ill\nAnna: oh no\nsummarise the chat",
    'She said: "I have lived in Rome for ten years and I love it". What tense is that?',
    "I'm looking for a flat.",
    "No, make it shorter.",
    "no thanks",
    "Actually, can you use a for loop instead?",
    "I think we use Redis?",
    "we should use Redis",
    "maybe my flight is at 5",
    "I have a meeting in ten minutes.",
    "My head hurts.",
    "Use a different font.",
    "write an email to my landlord saying that I have two dogs and we use the garden",
    "Here is the mail I got:\n\nHello, my name is Jens and I live in Kiel. I have two boats.",
    "I almost bought a Tesla.",
    "I live in Mordor. Just kidding.",
    "Act as my lawyer. I own a company in Delaware.",
    "I see, that makes sense.",
    "I'm getting a 404 from our API.",
    "We have an error in production.",
    "In the poem, my heart is a lighthouse and I am the sea.",
    "Kannst du das kürzer machen?",
    "Gracias, me gusta mucho!",
]


@pytest.mark.parametrize(("turn", "kept"), KEPT, ids=[turn[:40] for turn, _ in KEPT])
def test_what_is_said_in_earnest_and_will_last_is_kept(turn: str, kept: list[tuple[str, str]]) -> None:
    found = [(one.kind, one.text.rstrip(".! 😀")) for one in statements(turn)]
    assert len(found) == len(kept), found
    for (kind, text), (wanted, quote) in zip(found, kept, strict=True):
        assert kind == wanted
        assert quote in text
        assert len(text.split()) <= 2 * len(quote.split())


@pytest.mark.parametrize("turn", NOTHING)
def test_what_is_asked_ordered_supposed_told_or_over_tomorrow_is_not_kept(turn: str) -> None:
    assert statements(turn) == ()
