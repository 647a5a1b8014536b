"""What is kept, sentence by sentence: each says something lasting in another way."""

import pytest

from scrubjay.ingest.statements.statements import statements

FACT = """
Our daughter Mira has coeliac disease.
Granddad turned 90 in April.
I'm a widower.
I coach the under-12s on Wednesdays.
I've got a bad back.
I've got ADHD so keep it short.
Our boiler is a Vaillant from 2009.
My landlord is called Mr Petrescu.
I inherited my grandmother's piano.
we got a puppy last month
My son's nut allergy is severe.
The client is based in Nairobi and pays in dollars.
Our main branch is called trunk.
CI takes about 40 minutes.
Everything is deployed with Nomad.
The design system is in packages/ui.
All our dates are stored in UTC.
Our customers are mostly dentists.
the shop opens at 7 on weekdays
Our choir has 32 members.
I write my papers in LaTeX.
We only ship on Tuesdays.
I switched from Vim to Helix.
I finished my PhD in 2019.
I quit smoking two years ago.
We broke up in March.
My dad had a stroke in 2020.
My mother-in-law moved in with us.
we're getting married in June
I start at Siemens on 1 March.
I'm moving to Bologna in the autumn.
My knee surgery is on the 14th.
I handed in my thesis.
I was born in Aleppo and grew up in Malmö.
My name is Oyelaran but everyone calls me Oye.
I go by Sam.
My pronouns are they/them.
I wear hearing aids.
I'm a night owl.
I can't eat dairy.
I'm on blood thinners.
I drive a 2014 Skoda.
We don't have a car.
We have no dishwasher.
I have type 1 diabetes.
I train for the Berlin marathon.
My French is about B1.
I'm the treasurer of our allotment club.
There are six of us in the team.
We are four people in the household.
Our budget for the kitchen is 12k.
I only read on a Kindle.
I'm not a morning person.
I never fly.
I avoid gluten.
I can't work with music on.
I always book aisle seats.
I'm happiest with window seats.
I turned down the Berlin offer.
We've ditched Jenkins for GitHub Actions.
I signed up for the October half marathon.
You have the wrong year, we got married in 2011.
That's the old address, we moved to 12 Quay Street.
hm no, my budget was 800 not 8000
We test migrations on a copy of production first.
I teach year 4 in a village school, twenty-six of them.
My better half works offshore, two weeks on, two off.
I've been sober for six years.
I've had a pacemaker since 2018.
The cat is fourteen and on thyroid tablets.
My bank is N26.
We live on the fourth floor with no lift.
Mum turned eighty last week.
The car's a 2009 Fiesta with 140k on the clock.
My visa runs out in November.
I do shift work at a bakery.
I work part time, Mondays to Wednesdays.
my thesis supervisor is Prof. Adeyemi
I'm in my second year of law.
My mother tongue is Tamil.
We homeschool our three.
the twins are seven
Our landlord lives downstairs.
I've a dairy allergy.
I lost my hearing in the left ear when I was a child.
I'm retired from the railways.
The company was founded in 1987 by my aunt.
Our fiscal year ends in June.
Our prices include VAT.
We're a nonprofit, twelve staff.
We sell mostly on Etsy.
The API is versioned in the URL.
Our monolith is on Java 17.
Logs are kept for 30 days.
The prod database is about 400 GB.
We have two environments, dev and live.
The build runs on a Mac mini under my desk.
the frontend talks to the backend over gRPC
Secrets live in Vault.
The mobile team sits in Kraków.
I maintain a library called tinyfetch.
I'm the only developer.
I paid 640 for the bike in 2021.
My half marathon PB is 1:52.
I broke my wrist in February.
We adopted a greyhound from Spain.
I've just become a grandfather!
I moved here from Chile eight years ago.
She's my stepdaughter, she came to us at nine.
My allotment is number 17, heavy clay.
I keep kosher.
I don't drink.
We don't do presents at Christmas.
I'm scared of flying.
I can't eat anything with sesame.
I'm terrible with names.
Just the code, I never read the explanation.
I only buy second-hand.
My ideal holiday has no wifi.
my surname is Nguyễn, you left off the accents
We water the tomatoes from below, never on the leaves.
Before closing up we count the till twice.
My stepson comes to us every second weekend.
I've two cats and a lodger.
We rent a shop on Marsh Lane.
My business partner Ines does the books.
Our sourdough starter is called Clint.
I left nursing in 2021 to paint full time.
My A1c was 6.9 last month.
I've got an apprenticeship at Bosch.
Our van has no heating.
My gran can't do stairs any more.
We lost our house in the flood.
My brother in law runs a vineyard near Graz.
We only have an induction hob.
I'm saving for a deposit.
I ride a Triumph Bonneville.
My driving test is on the 22nd.
Our package is called heliograph on PyPI.
The CRM is Pipedrive.
We host everything in Frankfurt for legal reasons.
Our nightly job starts at 02:15.
The old cluster was switched off in May.
We're a two person team.
I maintain the billing service.
My editor is Zed.
My laptop runs Fedora 41.
I've moved to the platform team.
Ours is a Django shop.
I work with under-fives.
I'm a carer for my mum.
I'm half Danish.
I am 72 and live alone.
My marathon time is 3:58.
My wife and I keep separate accounts.
We celebrate Orthodox Christmas.
I react badly to penicillin.
My skin is very sensitive.
I'm not keen on musicals.
I always write dates as day month year.
In my emails I never use exclamation marks.
My rule is one notebook per project.
I take my tea with oat milk.
We're moving the launch to 3 June.
I've booked the ferry for the 11th.
I've enrolled our son in the Waldorf school.
we cancelled the Netflix subscription
Nah, we fly from Luton.
For hotfixes we branch off the last tag.
We always proof the dough overnight in the fridge.
We never deploy on a Friday.
The dog gets half a tablet in the morning and half at night.
Before a gig I tune down half a step.
"""
DECISION = """
we keep bees, four hives at the bottom of the garden
We've settled on Tuesdays for the standup.
We're going with the smaller venue.
we're not renewing the lease
I've chosen the dark oak for the floor
The board voted to close the Leeds branch.
We picked Svelte over React.
It's decided: we're having the party at home.
I accepted the offer from Spotify.
I'm dropping chemistry.
we agreed that nobody merges on Fridays
I said yes to the flat in Leith.
Postgres it is then.
Legal forbids us to store IP addresses.
we're calling him Otto
I'm keeping the old kitchen after all.
So Lisbon it is, we've paid the deposit.
We decided against a pool.
I've made up my mind, I'm taking the year off.
Management has signed off on the move to Azure.
We'll standardise on pytest.
we are retiring the v1 endpoints in March
I'd like all prices without VAT from now on.
We said no to the second round.
We have decided we will not extend the trial.
I'm giving up the allotment.
We chose Trondheim for the offsite.
So we're not doing microservices.
"""
PREFERENCE = """
I prefer being called Dr. Lindqvist.
I like my coffee black.
Black coffee only, never with milk.
No jargon please, in any answer.
short answers always, please
Keep replies under five lines from now on.
I'd rather get the bad news first, always.
Explanations first, code second, that's how I like it.
I hate it when variable names are abbreviated.
I find dark themes hard to read.
Emojis drive me up the wall.
Mushrooms are not my thing.
tabs over spaces, always
Don't use semicolons in our TypeScript.
I want commit messages in English.
Use the Oxford comma in everything you write for me.
I swear by cast iron.
First soak the beans overnight, then cook them without salt, that's how my gran does it.
run the linter before every commit, always
please no small talk at the top of your replies
I like numbers up front.
Spaces, not tabs, everywhere.
I prefer trains to planes even when they take longer.
Window seat, always.
I like being told when I'm wrong.
Don't sugarcoat things for me, ever.
Never plug the kiln in with the kettle on, it trips the lot.
I can't stand people being late.
Write to me in Dutch, always.
Please stop ending every answer with a question.
don't ever call me dear
Give me options in a table whenever there's more than two.
I want you to push back when I'm wrong.
I prefer walking holidays.
"""
CORRECTION = """
no, she's my aunt, not my mother
Wrong, I have three kids.
Sorry, I meant Thursday.
I'm not in Austria, I'm in Australia.
No I said 45 minutes, not 15.
the file is called conf.toml, not config.toml
Correction: the deadline is the 21st.
Not Monday, Tuesday.
Actually we use MariaDB.
The function takes three arguments, not two.
We're on Python 3.12 now, not 3.10.
Our users are nurses, not engineers.
nope, two r's: Harriett
Hang on, that's my brother's birthday, mine is in May.
it's litres, not gallons
That's not our repo, ours is under acme-labs.
wrong dog, Pixie is the small one
The lease is monthly, not yearly.
I answer to Nic, not Nicola.
No wait, the wedding is in Ghent.
I'm 43, not 34.
It's my mother who is Greek, not my father.
It's pronounced Shuh-vawn.
Sorry, wrong number, the order is 88213.
The invoice goes to the Bremen office, not Hamburg.
"""
HOWTO = """
To restart the camera, hold the button for ten seconds.
if the till freezes, unplug it and wait a minute
when you add a table, also add it to the backup list
Releases are cut from main on Thursdays.
The bread goes in at 230 and down to 200 after ten minutes.
every PR needs two approvals
Never merge without a green build.
Make sure to back up the wiki before an upgrade.
To log in to the box you go through the bastion.
Invoices get sent on the last Friday of the month.
Anything over 500 euros has to be signed by Marta.
When you cite, use APA 7.
Always show me the diff before you write the file.
We've agreed to meet every second Tuesday.
To open the gate you press star and then 4.
When the alarm goes off, ring Stan first and the police second.
Deploys: merge to main, wait for green, press promote.
You need to be on the VPN before you can reach staging.
To reset the router hold the pin in for 30 seconds.
if you change the schema you have to bump the version in meta.json
The staging db gets wiped on Sundays.
If the pump loses prime you close the red valve and fill the strainer.
You have to run make gen after touching the proto.
Expenses are filed in Spendesk by the 5th.
To get a parking permit you email Dolores.
"""


@pytest.mark.parametrize(
    "sentence",
    [line for said in (FACT, DECISION, PREFERENCE, CORRECTION, HOWTO) for line in said.strip().split("\n")],
)
def test_a_sentence_that_will_matter_in_a_month_is_kept(sentence: str) -> None:
    ended = sentence if sentence[-1] in ".!" else f"{sentence}."
    assert statements(f"{ended} Can you help?")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("fact", FACT),
        ("decision", DECISION),
        ("preference", PREFERENCE),
        ("correction", CORRECTION),
        ("howto", HOWTO),
    ],
)
def test_most_are_kept_as_what_they_are(kind: str, said: str) -> None:
    found = [statements(line) for line in said.strip().split("\n")]
    assert sum(kind == one.kind for kept in found for one in kept) >= 0.9 * len(found)
