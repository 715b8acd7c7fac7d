"""Settlement away from the settler, which alone is believed (section F.6)."""

from vectors.authoring.federation.author import START_MS
from vectors.authoring.federation.settle_parts import A1, A2, BEE, CLOSE, Q, answer, asked_by_ada, case, done
from vectors.authoring.federation.teams import ADA, BOB, CY, Team, refusal, settle, target
from vectors.authoring.host_steps import SYSTEM, close, delivery, reply
from vectors.authoring.host_steps import refused as fails
from vectors.authoring.kit import Json


def elsewhere() -> list[Json]:
    pending, arrived = asked_by_ada()
    here, came = asked_by_ada()
    answer(here, CY, 2, asker="human:ada")
    second, known = asked_by_ada()
    answer(second, CY, 2, asker="human:ada")
    one = second.sync()
    answer(second, CY, 3, "no", asker="human:ada")
    named, heard = asked_by_ada()
    answer(named, CY, 2, asker="human:ada")
    before = named.sync()
    named.ada.state([named.bob, named.cy], settle(Q, A1))
    swapped, told = asked_by_ada()
    answer(swapped, CY, 2, asker="human:ada")
    answer(swapped, CY, 3, "no", asker="human:ada")
    both = swapped.sync()
    swapped.ada.state([swapped.bob, swapped.cy], settle(Q, A2))
    early, first = asked_by_ada()
    early.ada.state([early.bob, early.cy], settle(Q, A1))
    waits = early.sync()
    answer(early, CY, 2, asker="human:ada")
    late, asked = asked_by_ada()
    late.ada.state([late.bob, late.cy], settle(Q, A1))
    answer(late, CY, 3, "no", asker="human:ada")
    answer(late, CY, 2, asker="human:ada")
    lied, question = asked_by_ada()
    answer(lied, CY, 2, asker="human:ada")
    answer(lied, CY, 3, "no", asker="human:ada")
    lied.cy.state([lied.bob, lied.ada], settle(Q, A2))
    newer, start = asked_by_ada()
    answer(newer, CY, 2, asker="human:ada")
    answer(newer, CY, 3, "no", asker="human:ada")
    newer.ada.state([newer.bob, newer.cy], settle(Q, A1))
    once = newer.sync()
    newer.ada.state([newer.bob, newer.cy], settle(Q, A2))
    never, begun = asked_by_ada()
    answer(never, CY, 2, asker="human:ada")
    never.cy.mail(
        [never.bob, never.ada],
        never.cy.message(3, "human:ada", replyTo=Q, thread=Q),
        [target("human:ada", never.ada)],
    )
    never.ada.state([never.bob, never.cy], settle(Q, A2))
    none, opened = asked_by_ada()
    none.cy.mail(
        [none.bob, none.ada],
        none.cy.message(3, "human:ada", replyTo=Q, thread=Q),
        [target("human:ada", none.ada)],
    )
    none.ada.state([none.bob, none.cy], settle(Q, A2))
    return [
        case(
            "answered-here-and-pending",
            "An answer given here to another replica's question is the answer here, and goes to its origin",
            pending,
            arrived,
            done(reply(BEE, Q, "Yes.", choice="yes")),
            (pending.sync()[0], {"ok": True, "result": {"settled": []}}),
            messages=[{"id": "$s2", "kind": "answer"}],
            deliveries=[delivery(Q, "human:bob", "answered")],
            remote=[
                {"message": "$s2", "recipient": "human:ada", "homes": [ADA], "state": "forwarded"},
            ],
        ),
        case(
            "the-first-answer-seen-is-pending",
            "Away from the settler the first answer seen is the answer",
            here,
            came,
            here.sync(settled=[]),
            messages=[{"id": A1, "kind": "answer"}],
            deliveries=[delivery(Q, "human:bob", "answered")],
        ),
        case(
            "later-ones-are-candidates",
            "Away from the settler a later answer is kept as a reply",
            second,
            known,
            one,
            second.sync(refused=[]),
            messages=[{"id": A1, "kind": "answer"}, {"id": A2, "kind": "message"}],
        ),
        case(
            "settled-as-seen",
            "A settlement of the answer that was seen first changes nothing",
            named,
            heard,
            before,
            named.sync(),
            messages=[{"id": A1, "kind": "answer"}],
            deliveries=[delivery(Q, "human:bob", "answered")],
        ),
        case(
            "settled-otherwise",
            "A settlement makes the accepted answer the answer, and every other a reply",
            swapped,
            told,
            both,
            swapped.sync(),
            messages=[{"id": A1, "kind": "message"}, {"id": A2, "kind": "answer"}],
            deliveries=[delivery(Q, "human:bob", "answered")],
        ),
        case(
            "settled-before-the-answer",
            "A settlement that comes before its answer waits for it",
            early,
            first,
            waits,
            early.sync(),
            messages=[{"id": A1, "kind": "answer"}],
            deliveries=[delivery(Q, "human:bob", "answered")],
        ),
        case(
            "another-answer-after-the-settlement",
            "An answer that a settlement does not name is a reply, also before the one that it names",
            late,
            asked,
            late.sync(),
            messages=[{"id": A2, "kind": "message"}, {"id": A1, "kind": "answer"}],
        ),
        case(
            "only-the-settler-is-believed",
            "A settlement by a replica that did not ask the question is refused",
            lied,
            question,
            lied.sync(),
            messages=[{"id": A1, "kind": "answer"}, {"id": A2, "kind": "message"}],
        ),
        case(
            "the-latest-settlement-counts",
            "A later settlement by the settler takes the place of an earlier one",
            newer,
            start,
            once,
            newer.sync(),
            messages=[{"id": A1, "kind": "message"}, {"id": A2, "kind": "answer"}],
        ),
        case(
            "settled-by-what-is-no-answer",
            "A settlement that names a reply which never was an answer changes nothing",
            never,
            begun,
            never.sync(),
            messages=[{"id": A1, "kind": "answer"}, {"id": A2, "kind": "message"}],
        ),
        case(
            "an-answer-after-a-settlement-by-what-is-none",
            "A question whose settlement names what is no answer is still open here",
            none,
            opened,
            none.sync(),
            done(reply(BEE, Q, "I say yes.", choice="yes")),
            messages=[{"id": "$s3", "kind": "answer"}],
        ),
        *before_the_question(),
    ]


def before_the_question() -> list[Json]:
    def ahead() -> tuple[Team, Json]:
        team = Team(BOB).begin()
        asked: Json = {"kind": "question", "choices": ["yes", "no"], "blocking": True}
        return team, team.ada.message(1, ["human:bob", "human:cy"], **asked)

    def ask(team: Team, question: Json) -> None:
        team.ada.mail([team.bob, team.cy], question)

    seen, question = ahead()
    answer(seen, CY, 2, asker="human:ada")
    answer(seen, CY, 3, "no", asker="human:ada")
    first = seen.sync()
    ask(seen, question)
    wrong, asked = ahead()
    answer(wrong, CY, 2, "maybe", asker="human:ada")
    answer(wrong, CY, 3, "no", asker="human:ada")
    before = wrong.sync()
    ask(wrong, asked)
    outsider = Team(BOB).begin()
    narrow = outsider.ada.message(1, "human:bob", kind="question", choices=["yes", "no"])
    answer(outsider, CY, 2, asker="human:ada")
    kept = outsider.sync()
    outsider.ada.mail([outsider.bob, outsider.cy], narrow)
    settled, one = ahead()
    settled.ada.state([settled.bob], settle(Q, A2))
    answer(settled, CY, 2, asker="human:ada")
    answer(settled, CY, 3, "no", asker="human:ada")
    early = settled.sync()
    ask(settled, one)
    lied, other = ahead()
    answer(lied, CY, 2, asker="human:ada")
    answer(lied, CY, 3, "no", asker="human:ada")
    lied.cy.state([lied.bob], settle(Q, A2))
    heard = lied.sync()
    ask(lied, other)
    closed, last = ahead()
    closed.ada.state([closed.bob], settle(Q, CLOSE, "Not needed."))
    shut = closed.sync()
    ask(closed, last)
    answered: Json = {"deliveries": [delivery(Q, "human:bob", "answered")]}
    return [
        case(
            "answers-before-their-question",
            "Of the answers seen before their question the first one stays the answer, and the rest are replies",
            seen,
            first,
            seen.sync(),
            messages=[{"id": A1, "kind": "answer"}, {"id": A2, "kind": "message"}],
            **answered,
        ),
        case(
            "answers-are-checked-against-their-question",
            "An answer seen before its question is checked when that arrives, and the first that passes is the answer",
            wrong,
            before,
            wrong.sync(),
            messages=[{"id": A1, "kind": "message"}, {"id": A2, "kind": "answer"}],
            **answered,
        ),
        case(
            "an-answer-by-nobody-in-the-question",
            "An answer seen before its question by who takes no part in it is no answer",
            outsider,
            kept,
            outsider.sync(),
            messages=[{"id": A1, "kind": "message"}, {"id": Q}],
            deliveries=[delivery(Q, "human:bob", "notified")],
        ),
        case(
            "settled-before-the-question",
            "A settlement that comes before its question is applied when that arrives",
            settled,
            early,
            settled.sync(),
            messages=[{"id": A1, "kind": "message"}, {"id": A2, "kind": "answer"}],
            **answered,
        ),
        case(
            "settled-early-by-another",
            "A settlement that came before its question counts only when the question is its publisher's",
            lied,
            heard,
            lied.sync(),
            messages=[{"id": A1, "kind": "answer"}, {"id": A2, "kind": "message"}],
            **answered,
        ),
        case(
            "closed-before-the-question",
            "A close that comes before its question is applied when that arrives",
            closed,
            shut,
            closed.sync(),
            messages=[{"id": Q}, {"id": CLOSE, "kind": "answer", "from": SYSTEM}],
            **answered,
        ),
    ]


def closes() -> list[Json]:
    shut, asked = asked_by_ada()
    shut.ada.state([shut.bob, shut.cy], settle(Q, CLOSE, "Not needed."))
    over, question = asked_by_ada()
    answer(over, CY, 2, asker="human:ada")
    over.ada.state([over.bob, over.cy], settle(Q, CLOSE, "Not needed."))
    after, heard = asked_by_ada()
    after.ada.state([after.bob, after.cy], settle(Q, CLOSE, "Not needed."))
    closed = after.sync()
    answer(after, CY, 2, asker="human:ada")
    lied, known = asked_by_ada()
    lied.cy.state([lied.bob, lied.ada], settle(Q, CLOSE, "Not needed."))
    mine, came = asked_by_ada()
    gone, there = asked_by_ada()
    gone.ada.state([gone.bob, gone.cy], settle(Q, CLOSE, "Not needed."))
    return [
        case(
            "a-close-elsewhere",
            "A settlement with a reason writes the close here, of the id that it names",
            shut,
            asked,
            shut.sync(),
            messages=[
                {
                    "id": CLOSE,
                    "thread": Q,
                    "replyTo": Q,
                    "from": SYSTEM,
                    "to": ["human:ada"],
                    "kind": "answer",
                    "body": "Closed: Not needed.",
                    "data": {"type": "x-closed", "reason": "Not needed."},
                }
            ],
            deliveries=[delivery(Q, "human:bob", "answered")],
        ),
        case(
            "a-close-over-a-pending-answer",
            "A close makes an answer that was pending here a reply",
            over,
            question,
            over.sync(),
            messages=[{"id": A1, "kind": "message"}, {"id": CLOSE, "kind": "answer"}],
        ),
        case(
            "an-answer-after-a-close-elsewhere",
            "An answer that comes after the close is a reply",
            after,
            heard,
            closed,
            after.sync(refused=[]),
            messages=[{"id": CLOSE, "kind": "answer"}, {"id": A1, "kind": "message"}],
        ),
        case(
            "nobody-else-closes",
            "A close by a replica that did not ask the question is refused",
            lied,
            known,
            lied.sync(),
            deliveries=[delivery(Q, "human:bob", "notified")],
            noOtherMessages=True,
        ),
        case(
            "only-the-settler-closes",
            "A question of another replica cannot be closed here",
            mine,
            came,
            fails(close(Q, "Not needed."), "forbidden", "replyTo"),
            deliveries=[delivery(Q, "human:bob", "notified")],
        ),
        case(
            "answered-after-a-close",
            "A question that was closed takes no answer here",
            gone,
            there,
            gone.sync(),
            fails(reply(BEE, Q, "Yes.", choice="yes"), "conflict", "replyTo"),
        ),
    ]


def refusals() -> list[Json]:
    """Bob's answer to Ada's question, which is pending here, is refused elsewhere."""
    question = {
        "id": Q,
        "from": "human:ada",
        "to": ["human:bob", "human:cy"],
        "kind": "question",
        "body": "Ship it?",
        "choices": ["yes", "no"],
        "hlc": f"{START_MS}.0000.{ADA}",
        "origin": ADA,
    }
    said = {
        "id": A1,
        "thread": Q,
        "replyTo": Q,
        "from": "human:bob",
        "to": ["human:ada"],
        "kind": "answer",
        "body": "Yes.",
        "choice": "yes",
        "hlc": f"{START_MS}.0001.{BOB}",
    }

    def refused_by(name: str) -> Team:
        team = Team(BOB).begin(
            store={
                "messages": [question, said],
                "deliveries": [
                    {"id": "d-asked", "message": Q, "recipient": "human:bob", "state": "answered"}
                ],
            },
            remote=[
                {"message": Q, "recipient": "human:cy", "via": "direct", "homes": [CY], "state": "notified"},
                {
                    "message": A1,
                    "recipient": "human:ada",
                    "via": "direct",
                    "homes": [ADA, CY],
                    "state": "forwarded",
                },
            ],
        )
        team.mates[name].state(team.bob, refusal(A1))
        return team

    settler, other, again = refused_by(ADA), refused_by(CY), refused_by(ADA)
    return [
        case(
            "an-answer-the-settler-refused",
            "A local answer that the settler refused becomes a reply, and the question's deliveries are open again",
            settler,
            settler.sync(),
            messages=[{"id": A1, "kind": "message"}],
            deliveries=[delivery(Q, "human:bob", "notified")],
        ),
        case(
            "an-answer-another-refused",
            "A local answer that some other home refused stays the answer",
            other,
            other.sync(),
            messages=[{"id": A1, "kind": "answer"}],
            deliveries=[delivery(Q, "human:bob", "answered")],
        ),
        case(
            "answered-again-after-a-refusal",
            "A question whose answer here the settler refused may be answered again",
            again,
            again.sync(),
            done(reply(BEE, Q, "No, then.", choice="no")),
            messages=[{"id": A1, "kind": "message"}, {"id": "$s2", "kind": "answer"}],
            deliveries=[delivery(Q, "human:bob", "answered")],
        ),
    ]


VECTORS = [*elsewhere(), *closes(), *refusals()]
