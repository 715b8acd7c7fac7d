"""Settlement at the settler: the replica that a question was asked on (section F.6)."""

from vectors.authoring.federation.settle_parts import A1, A2, Q, answer, asked_here, case, done
from vectors.authoring.federation.teams import ADA, CY, settle
from vectors.authoring.host_steps import close, delivery, reply, who
from vectors.authoring.host_steps import refused as fails
from vectors.authoring.kit import Json


def at_the_settler() -> list[Json]:
    first = asked_here()
    answer(first, ADA, 2)
    answer(first, CY, 3, "no")
    local = asked_here(to=("human:ada", "human:lee"))
    answer(local, ADA, 2)
    twice = asked_here(to=("human:ada", "human:lee"))
    answer(twice, ADA, 2)
    wrong = asked_here()
    answer(wrong, ADA, 2, "maybe")
    answer(wrong, CY, 3, "no")
    stranger = asked_here(to=("human:ada",))
    answer(stranger, CY, 2)
    answer(stranger, ADA, 3)
    handoff = asked_here("handoff")
    answer(handoff, CY, 2)
    again = asked_here()
    answer(again, ADA, 2)
    before = again.sync(settled=[{"to": [ADA, CY], "question": Q, "answer": A1}])
    answer(again, CY, 3, "no")
    closed = asked_here(to=("human:ada", "human:cy", "human:lee"))
    shut = asked_here()
    answer(shut, ADA, 2)
    other = asked_here()
    other.ada.state([other.bob, other.cy], settle(Q, A1))
    answer(other, ADA, 2)
    answer(other, CY, 3, "no")
    return [
        case(
            "the-first-answer-is-the-answer",
            "At the settler the first answer it applies is the answer, and a later one is kept as a reply",
            first,
            first.sync(settled=[{"to": [ADA, CY], "question": Q, "answer": A1}], refused=[]),
            messages=[
                {"id": A1, "kind": "answer", "origin": ADA, "choice": "yes"},
                {"id": A2, "kind": "message", "origin": CY, "choice": "no"},
            ],
        ),
        case(
            "a-later-answer-settles-nothing-again",
            "An answer that comes after the settlement is kept as a reply, and the settlement stands",
            again,
            before,
            again.sync(settled=[], refused=[]),
            messages=[{"id": A1, "kind": "answer"}, {"id": A2, "kind": "message"}],
        ),
        case(
            "a-local-answer-settles",
            "An answer given at the settler settles the question, and remote ones after it are replies",
            local,
            done(reply(who("human:lee"), Q, "I say no.", choice="no")),
            local.sync(refused=[]),
            messages=[{"id": Q}, {"id": "$s1", "kind": "answer"}, {"id": A1, "kind": "message"}],
            deliveries=[delivery(Q, "human:lee", "answered")],
        ),
        case(
            "a-later-local-answer-conflicts",
            "An answer given at the settler after another was applied is refused",
            twice,
            twice.sync(settled=[{"to": [ADA, CY], "question": Q, "answer": A1}]),
            fails(reply(who("human:lee"), Q, "I say no.", choice="no"), "conflict", "replyTo"),
            messages=[{"id": A1, "kind": "answer"}],
            deliveries=[delivery(Q, "human:lee", "answered")],
        ),
        case(
            "an-answer-that-is-refused-settles-nothing",
            "An answer that fails validation is refused, and the next one settles",
            wrong,
            wrong.sync(
                refused=[{"to": [ADA], "message": A1, "code": "invalid"}],
                settled=[{"to": [ADA, CY], "question": Q, "answer": A2}],
            ),
            messages=[{"id": A2, "kind": "answer"}],
        ),
        case(
            "an-answer-of-nobody-in-it-settles-nothing",
            "Who takes no part in a question cannot answer it",
            stranger,
            stranger.sync(
                refused=[{"to": [CY], "message": A1, "code": "not-found"}],
                settled=[{"to": [ADA, CY], "question": Q, "answer": A2}],
            ),
            messages=[{"id": A2, "kind": "answer"}],
        ),
        case(
            "a-handoff-is-settled-too",
            "A handoff takes one answer as a question does",
            handoff,
            handoff.sync(settled=[{"to": [ADA, CY], "question": Q, "answer": A1}]),
            messages=[{"id": A1, "kind": "answer"}],
        ),
        case(
            "a-close-is-published",
            "A close by the settler is published as a settlement with its reason, and never as mail",
            closed,
            done(close(Q, "Not needed.")),
            closed.sync(
                mail=[],
                settled=[{"to": [ADA, CY], "question": Q, "answer": "$s1", "closed": "Not needed."}],
            ),
            messages=[{"id": Q}, {"id": "$s1", "kind": "answer", "body": "Closed: Not needed."}],
            deliveries=[delivery(Q, "human:lee", "answered")],
        ),
        case(
            "an-answer-after-a-close",
            "An answer that comes after the close is kept as a reply",
            shut,
            done(close(Q, "Not needed.")),
            shut.sync(refused=[]),
            messages=[{"id": "$s1", "kind": "answer"}, {"id": A1, "kind": "message"}],
        ),
        case(
            "nobody-settles-for-the-settler",
            "A settlement by another replica of a question asked here is not believed",
            other,
            other.sync(settled=[{"to": [ADA, CY], "question": Q, "answer": A1}]),
            messages=[{"id": A1, "kind": "answer"}, {"id": A2, "kind": "message"}],
        ),
        *told_of(),
    ]


def told_of() -> list[Json]:
    team = asked_here(to=("human:ada",))
    mate = team.ada
    mate.mail(
        [team.bob, team.cy],
        mate.message(
            2, ["human:bob", "human:cy"], kind="answer", replyTo=Q, thread=Q, choice="yes", body="Yes."
        ),
    )
    return [
        case(
            "everyone-in-it-is-told",
            "A settlement goes to the homes of every participant of the question and of the answer",
            team,
            team.sync(settled=[{"to": [ADA, CY], "question": Q, "answer": A1}]),
            messages=[{"id": A1, "kind": "answer"}],
        )
    ]


VECTORS = [*at_the_settler()]
