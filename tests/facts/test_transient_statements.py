"""What is not learned, sentence by sentence."""

import pytest

from scrubjay.facts.extractor import extract_facts

PASSING = """
The test passes locally but fails in CI.
I get a 403 when I call the endpoint.
My terminal is frozen.
My screen is black since this morning.
The build takes ages.
The page loads slowly on my phone.
I uploaded the file twice.
I changed line 40 and now it works.
I read the docs and they don't help.
Here's my draft, be brutal.
I like where this is going.
We need three more examples.
I have two questions.
I have a list of 40 names, sort it.
I have a spreadsheet with sales per region.
There are two errors in the output.
The answer should be 42.
The train leaves at 9 from Paddington, what time do I need to get up?
The Danube flows through ten countries.
Mount Fuji is 3,776 metres high.
Redis keeps everything in memory.
Java was released in 1995.
Cats sleep sixteen hours a day.
Bees die when they sting.
My neighbour reckons the moon landing was faked.
My teacher says passive voice is bad.
Our competitor launched a free tier, write a response.
He bought a boat.
She lives in Leeds and works for the council, is she eligible?
They moved to Spain last year.
A man buys a horse for 60 dollars and sells it for 70.
Alice has three apples and gives Bob one.
The patient is a 54 year old man with chest pain.
Our hero lives in a castle on a hill.
My character is a dwarf who hates water.
Let x be a real number and suppose we have a sequence.
We consider the case n = 3.
We use a sample of 200 students.
In this paper we propose a new method.
I was thinking of getting a dog.
I might move to Norway.
We talked about switching to Rust but no.
I used to think so too.
I hope my flight is on time.
I'm sitting in a café.
I'm on the train.
I've been waiting for an hour.
I've been trying to fix this since yesterday.
I've had this headache since lunch.
I'm in a meeting.
I ate too much.
I slept badly last night.
I just woke up.
I spilled coffee on my keyboard.
my internet is down
my phone died
I forgot my umbrella.
I saw a fox today.
I'm making soup.
I'm cooking for six tonight.
We're having pizza.
I want the second option.
I prefer the first draft.
I prefer this one.
I'd prefer a table.
Let's use a table for this.
Let's go with B.
Use my name in the greeting.
Keep the second paragraph.
Don't include the title.
no bullet points this time
No emojis in this one.
Only the last column.
To be honest I don't get it.
To fix this, add a semicolon, right?
Before we start, say hello.
When I run it, nothing happens.
If the user clicks twice, the form is sent twice.
First explain the idea, then show the code.
after that restart the server
no, the other one
No, I want the shorter one.
That's wrong, try again.
Actually never mind.
actually make it blue
no that's not what I asked
Wrong. The output is still empty.
not that one, the one above
It's slower now, not faster.
It should be funny, not mean.
I asked for five, not six.
This is for a friend, not for me.
We're not there yet.
I decided to ask you.
We agreed, so go on.
I went with your second suggestion.
I picked the wrong file, sorry.
Our team lost yesterday.
My back is killing me.
My day was awful.
I finished the first chapter, what next?
I finished the dishes.
I started a new chat because the old one was long.
I bought the wrong milk.
I have a cold.
I have an exam tomorrow.
I have 20 minutes.
I have to go.
I own the copyright, can I sue?
I run it with -v and it hangs.
I use it like this: foo(1).
We get this every time we deploy.
Every request returns a 500.
Everyone loves pizza.
All tests must pass.
the function is called twice
The variable is named x.
The file is in /tmp.
The class has two methods.
The table has 40 rows.
The error is on line 12.
the loop runs 10 times
The image is 400 px wide.
The second paragraph is too long.
The recipe needs two eggs.
The movie is about a man on Mars.
The deadline is in an hour!
The poem has 14 lines.
The code you gave me has a typo.
The second chart is missing its legend.
My function returns undefined.
My regex matches too much.
Our numbers don't add up.
I get an import error on line 3.
I have this JSON.
I have a draft here.
I have been asked to write a report.
I'm writing an essay on Kant.
I'm reading Dune.
I'm preparing a talk for tomorrow.
I want to learn Rust.
I want a short poem for a card.
I need to cancel my gym membership.
I need a name for a cat café.
We need to talk about the budget.
We want a logo.
I tried three different browsers.
I used the formula from above.
I added two tests.
I ran the script on Tuesday and it crashed.
I deleted the wrong branch.
I opened the file in Excel.
I cooked the pasta for 12 minutes.
I paid for lunch.
I watched the video twice.
I met a weird guy on the bus.
I woke up at 5.
The kids are asleep finally.
The dog is barking again.
My dog ate chocolate, is that bad?
My son is crying.
My wife is calling.
Our guests arrive in an hour.
Our meeting got moved, thank god.
The weather in Oslo is awful.
The report is due tomorrow.
The server is down.
The app crashes on start.
the db is slow today
The CI is red.
Prod is on fire.
The migration failed.
The password is wrong.
The link is dead.
The battery is at 3%.
This chapter has too many adverbs.
This repo is a mess.
This app uses too much RAM.
Postgres uses MVCC.
Kubernetes runs containers.
Shakespeare wrote 37 plays.
Marie Curie was born in Warsaw.
Berlin has 3.7 million inhabitants.
People in Norway drink a lot of coffee.
Most developers prefer tabs.
Some people like pineapple on pizza.
It always crashes here.
It never works.
I always forget the syntax.
I usually get a warning first.
When I click save nothing happens.
Every time I run it I get a different number.
Let's start.
Let's keep going.
Let's use the first one.
Let's say I have 100 euros.
Say my name is Bob.
As a lawyer, what would you do?
Answer as if you were my grandmother.
Write it in the first person: I grew up on a farm.
Turn this into a haiku: my cat sleeps all day.
Explain it like I'm five.
Pretend I own a bakery.
I'm joking, I don't have a yacht.
I own three yachts and a moon base lol
I wish we had a garden.
I would move to Spain.
If we had a dog we'd walk more.
We thought about buying a boat but didn't.
I nearly moved to Chile.
My plan was to study law, but no.
No worries.
No problem, take your time.
No, that's fine.
no i mean the other file
Actually, that's great.
Actually, can we go back to the first idea?
Sorry, my mistake.
wait, what about the images?
It's a list, not a tuple?
Make it formal, not stiff.
Use tabs, not spaces, in this file.
I said shorter.
I want a monitor with USB-C and at least 65 watts.
We want another flat with a balcony in Leipzig.
"""


@pytest.mark.parametrize("sentence", PASSING.strip().split("\n"))
def test_a_sentence_of_the_moment_is_not_learned(sentence: str) -> None:
    assert extract_facts(sentence if sentence[-1] in ".!?" else f"{sentence}.") == ()
