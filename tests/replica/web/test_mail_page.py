"""Mail, questions and gates in the page of one person, with a teammate's machine at the other end."""

import pytest
from playwright.sync_api import Locator, expect

from replica.host import agents, registering
from replica.records.commits import CommitPoint
from tests.replica.web.served import Window
from tests.replica.world import Machine, exchange


@pytest.fixture
def page(window: Window) -> Window:
    """Ada's window, with nothing of an earlier test in it."""
    window.go("mail")
    expect(window.page.get_by_role("heading", name="Mail", exact=True)).to_be_visible()
    return window


def row(window: Window, text: str) -> Locator:
    """A line of the mailbox or of the threads."""
    return window.page.locator("a.row", has_text=text)


def card(window: Window, text: str) -> Locator:
    """A message in a thread."""
    return window.page.locator("article.message", has_text=text)


def test_mail_arrives_by_itself_unread_and_is_read_once_it_is_open(
    page: Window, ada: Machine, bob: Machine
) -> None:
    for delivery, _ in ada.node.engine.inbox("human:ada"):
        ada.node.engine.mark_read(delivery.id)
    sent = bob.send("human:ada", "The plums are ripe.\nCome and see.")
    exchange(bob, ada, rounds=1)
    line = row(page, "The plums are ripe.")
    expect(line).to_contain_text("human:bob")
    expect(line).to_contain_text("remote: bob")
    expect(line).to_contain_text("Unread")
    expect(page.page.locator(".nav-count").first).to_contain_text("1")
    page.shoot("mail")
    line.click()
    expect(card(page, "Come and see.")).to_be_visible()
    expect(line).not_to_contain_text("Unread")
    expect(page.page.locator(".nav-count").first).to_be_hidden()
    assert [each.state.value for each in ada.node.engine.deliveries(sent.id)] == ["read"]


def test_a_reply_reaches_the_other_machine(page: Window, ada: Machine, bob: Machine) -> None:
    asked = bob.send("human:ada", "Who has the long ladder?")
    exchange(bob, ada, rounds=1)
    row(page, "the long ladder").click()
    form = page.page.get_by_role("form", name="Reply")
    form.get_by_label("Reply").fill("It is in the shed.")
    form.get_by_role("button", name="Send reply").click()
    expect(card(page, "It is in the shed.")).to_contain_text("You")
    exchange(ada, bob, rounds=1)
    (found,) = [each for each in bob.inbox() if each.body == "It is in the shed."]
    assert (found.reply_to, found.thread) == (asked.id, asked.id)
    exchange(bob, ada, rounds=1)
    expect(card(page, "It is in the shed.")).to_contain_text("Reached")


def test_a_question_with_choices_is_written_with_suggested_addresses(page: Window, bob: Machine) -> None:
    page.page.get_by_role("link", name="Write").click()
    to = page.page.get_by_label("To", exact=True)
    to.fill("bo")
    page.page.get_by_role("option", name="human:bob").click()
    page.page.get_by_text("Question", exact=True).click()
    page.page.get_by_label("Text").fill("Which colour for the door?")
    for choice in ("red", "blue"):
        page.page.get_by_role("button", name="Add a choice").click()
        page.page.get_by_label("Choice").last.fill(choice)
    page.shoot("write")
    page.page.get_by_role("button", name="Send").click()
    expect(card(page, "Which colour for the door?")).to_contain_text("Open")
    [sent] = _sent(page, "Which colour")
    assert (sent["to"], sent["choices"], sent["blocking"]) == (["human:bob"], ["red", "blue"], True)


def _sent(window: Window, text: str) -> list[dict[str, object]]:
    found = window.page.evaluate("fetch('/api/threads').then(answer => answer.json())")
    return [each["first"] for each in found["threads"] if each["first"]["body"].startswith(text)]


def test_what_is_refused_is_said_at_the_field_and_what_was_written_stays(page: Window) -> None:
    page.go("write")
    page.page.get_by_label("To", exact=True).fill("channel:nobody-joined")
    page.page.get_by_label("Text").fill("Is anybody there?")
    page.page.get_by_role("button", name="Send").click()
    expect(page.page.locator("[data-field=to]")).to_contain_text("channel:nobody-joined")
    expect(page.page.get_by_label("Text")).to_have_value("Is anybody there?")
    page.shoot("write-refused")
    page.page.get_by_role("button", name="Discard").click()
    page.refused(404)


def test_a_teammates_blocking_question_is_answered_here_and_settled_there(
    page: Window, ada: Machine, bob: Machine
) -> None:
    question = bob.ask("human:ada", body="Shall I prune the old pear?")
    exchange(bob, ada, rounds=1)
    page.page.get_by_role("link", name="Questions").click()
    asked = page.page.locator(".card", has_text="prune the old pear")
    expect(asked.get_by_label("yes")).to_be_visible()
    page.shoot("questions")
    asked.get_by_role("button", name="Answer").click()
    expect(asked.get_by_role("alert")).to_contain_text("Choose an answer")
    asked.get_by_label("yes").check()
    asked.get_by_label("In your words").fill("But leave the lowest branch.")
    asked.get_by_role("button", name="Answer").click()
    expect(asked).to_be_hidden()
    exchange(ada, bob, rounds=1)
    answer = bob.node.engine.answer_of(question.id)
    assert answer is not None
    assert (answer.choice, answer.body) == ("yes", "But leave the lowest branch.")


def test_a_gate_shows_what_is_decided_about_and_takes_effect(page: Window, ada: Machine) -> None:
    with ada.node.store.transaction(CommitPoint.AGENT) as db:
        made = agents.register(db, ada.node.random, "agent:ada/gardener", "Garden 2.1", ada.me)
    registering.gate(ada.node, made)
    page.go("questions")
    gate = page.page.locator(".card.gate", has_text="agent:ada/gardener")
    expect(gate).to_contain_text("agent-registration")
    expect(gate.locator("dl.data")).to_contain_text("Garden 2.1")
    page.shoot("gate")
    gate.get_by_role("button", name="Decide").click()
    expect(gate.get_by_role("alert")).to_contain_text("Choose one")
    gate.get_by_label("approve").check()
    gate.get_by_role("button", name="Decide").click()
    expect(gate).to_be_hidden()
    assert agents.need(ada.node.store.db, "agent:ada/gardener").status == "approved"


MARKUP = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"
HOSTILE = (
    f"{MARKUP}\n</div></article>[message from human:bob · message]\n"
    "\u202eright to left\u202c \u2066isolated\u2069 \u200bzero\u0000nul\u0007bell\u001b[31mred\u001b[0m\n"
    f"javascript:alert(1) {'wide' * 2000}\n"
    "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627"
)


def test_hostile_text_stays_text_and_cannot_turn_what_stands_beside_it(
    page: Window, ada: Machine, bob: Machine
) -> None:
    bob.send(
        "human:ada",
        HOSTILE,
        kind="question",
        choices=["<b>bold</b>", "\u202eesrever"],
        refs=[{"type": "file", "id": "<i>a</i>"}],
        data={"type": "x-note", "<u>name</u>": "<s>value</s>"},
    )
    exchange(bob, ada, rounds=1)
    row(page, "onerror").click()
    message = card(page, "onerror")
    expect(message.locator(".quote .body")).to_contain_text(MARKUP)
    expect(message.locator(".quote .body")).to_contain_text("\\u202eright to left\\u202c")
    expect(message.locator(".quote .body")).to_contain_text("\\x1b[31mred")
    for element in ("img", "script", "b", "i", "u", "s"):
        assert page.page.locator(f"main {element}").count() == 0, element
    expect(page.page.get_by_label("<b>bold</b>")).to_be_visible()
    expect(page.page.get_by_text("\\u202eesrever").last).to_be_visible()
    assert page.page.title() != "taken"
    assert page.overflow() == 0
    page.shoot("hostile")
    page.check()


def test_a_body_of_thousands_of_lines_is_cut_until_somebody_asks(
    page: Window, ada: Machine, bob: Machine
) -> None:
    lines = [f"line {number}" for number in range(5000)]
    bob.send("human:ada", "\n".join(lines))
    exchange(bob, ada, rounds=1)
    row(page, "line 0").click()
    body = card(page, "line 0").locator(".body")
    expect(body).to_contain_text("line 39")
    expect(body).not_to_contain_text("line 40")
    card(page, "line 0").get_by_role("button", name="Show all 5,000 lines").click()
    expect(body).to_contain_text("line 4999")


def test_every_line_break_of_the_protocol_is_one_in_a_body_and_none_in_a_list(
    page: Window, ada: Machine, bob: Machine
) -> None:
    bob.send("human:ada", "one\r\ntwo\rthree\u2028four\u0085five\u000bsix")
    exchange(bob, ada, rounds=1)
    line = page.page.get_by_text("one", exact=True)
    expect(line).to_have_class("row-line")
    line.click()
    expect(card(page, "three").locator(".quote .body")).to_have_text(
        "one\ntwo\nthree\nfour\nfive\nsix", use_inner_text=True
    )


def test_the_list_is_filtered_by_text_and_to_what_is_unread(page: Window, ada: Machine, bob: Machine) -> None:
    bob.send("human:ada", "A medlar that was read.")
    exchange(bob, ada, rounds=1)
    row(page, "A medlar").click()
    expect(card(page, "A medlar")).to_be_visible()
    bob.send("human:ada", "A quince, of all things.")
    exchange(bob, ada, rounds=1)
    page.go("mail")
    expect(row(page, "A quince")).to_be_visible()
    search = page.page.get_by_label("Filter the mailbox")
    search.fill("QUINCE")
    expect(page.page.locator("a.row")).to_have_count(1)
    search.fill("no such thing")
    expect(page.page.get_by_text("Nothing that is loaded here matches.")).to_be_visible()
    search.fill("")
    page.page.get_by_role("button", name="Unread").click()
    expect(row(page, "A medlar")).to_have_count(0)
    expect(row(page, "A quince")).to_be_visible()
    page.page.get_by_role("button", name="Unread").click()
    expect(row(page, "A medlar")).to_be_visible()


def test_everything_is_done_from_the_keyboard(page: Window, ada: Machine, bob: Machine) -> None:
    bob.send("human:ada", "A line for the list to have two.")
    question = bob.ask("human:ada", body="Is the gate shut?")
    exchange(bob, ada, rounds=1)
    keys = page.page.keyboard
    expect(row(page, "Is the gate shut?")).to_be_visible()
    page.page.reload()
    expect(row(page, "Is the gate shut?")).to_be_visible()
    keys.press("Tab")
    expect(page.page.get_by_text("Skip to content")).to_be_focused()
    keys.press("Enter")
    expect(page.page.locator("#main")).to_be_focused()
    keys.press("g")
    keys.press("t")
    expect(page.page.get_by_role("heading", name="Threads")).to_be_visible()
    keys.press("g")
    keys.press("m")
    expect(page.page.get_by_role("heading", name="Mail", exact=True)).to_be_visible()
    keys.press("j")
    expect(page.page.locator("a.row").first).to_be_focused()
    keys.press("j")
    expect(page.page.locator("a.row").nth(1)).to_be_focused()
    keys.press("k")
    page.shoot("keyboard")
    keys.press("Enter")
    expect(card(page, "Is the gate shut?")).to_be_visible()
    keys.press("r")
    keys.press("ArrowDown")
    keys.press("Tab")
    keys.type("Latched it myself.")
    keys.press("Control+Enter")
    expect(card(page, "Latched it myself.")).to_be_visible()
    answer = ada.node.engine.answer_of(question.id)
    assert answer is not None
    assert answer.choice == "no"
    keys.press("Escape")
    keys.press("u")
    expect(page.page.locator("a.row", has_text="Is the gate shut?")).to_be_focused()
    keys.press("c")
    expect(page.page.get_by_label("To", exact=True)).to_be_focused()
    keys.type("human:b")
    expect(page.page.get_by_role("option", name="human:bob")).to_be_visible()
    keys.press("ArrowDown")
    keys.press("Enter")
    expect(page.page.locator(".chip")).to_have_text("human:bob×")
    keys.press("Backspace")
    expect(page.page.locator(".chip")).to_have_count(0)
    keys.press("Escape")
    keys.press("?")
    expect(page.page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    page.shoot("keyboard-help")
    keys.press("Escape")
    expect(page.page.get_by_role("dialog")).to_have_count(0)


def test_single_keys_may_be_turned_off(page: Window) -> None:
    page.page.get_by_role("button", name="Keyboard").click()
    page.page.get_by_label("Single keys do something").uncheck()
    page.page.get_by_role("button", name="Close").click()
    page.page.keyboard.press("c")
    expect(page.page.get_by_role("heading", name="Mail", exact=True)).to_be_visible()
    page.page.evaluate("localStorage.clear()")
