/* Open questions and gates: what somebody waits for, each with its choices, to be decided here. */

import { get } from "./api.js";
import { answerForm } from "./answer.js";
import { fault, faultLine } from "./dialog.js";
import { el, keep, signOf } from "./dom.js";
import { messageCard } from "./message.js";
import { pieces } from "./text.js";

export class QuestionsView {
  constructor(app) {
    this.app = app;
    this.problem = faultLine();
    this.list = el("div", { class: "cards" });
    this.empty = el("div", { class: "empty", hidden: true }, el("p", {}, "Nobody waits for you."), el("p", { class: "muted" }, "Blocking questions and gates come here, and stay until they are answered."));
    this.element = el("div", { class: "page" }, el("h1", {}, "Questions"), el("p", { class: "lead" }, "Somebody waits for each of these. What you choose at a gate is done at once."), this.problem, this.list, this.empty);
  }

  show() {
    document.title = "Questions · dmp";
  }

  async refresh() {
    let found;
    try {
      found = (await get("/api/decisions/open")).decisions;
    } catch (error) {
      fault(this.problem, error);
      return;
    }
    fault(this.problem, null);
    found = [...found.filter((each) => !this.#isMine(each)), ...found.filter((each) => this.#isMine(each))];
    keep(
      this.list,
      found.map((each) => ({
        key: each.message.id,
        sign: signOf([each.message, each.gate, this.app.people.machines.size]),
        make: () => this.#card(each),
      })),
    );
    this.empty.hidden = found.length > 0;
  }

  act(name) {
    if (name !== "next" && name !== "previous" && name !== "reply") return false;
    const cards = [...this.list.children];
    if (cards.length === 0) return false;
    const at = cards.findIndex((each) => each.contains(document.activeElement));
    if (name === "reply") {
      cards[Math.max(at, 0)].querySelector("input, textarea")?.focus();
      return true;
    }
    const next = cards[Math.min(Math.max(at + (name === "next" ? 1 : -1), 0), cards.length - 1)];
    next.querySelector("article").focus();
    next.scrollIntoView({ block: "nearest" });
    return true;
  }

  /* Whether the reader asked it of others. */
  #isMine({ message }) {
    return this.app.people.isMe(message) && !message.to.includes(this.app.people.me);
  }

  #card(decision) {
    const { message, gate } = decision;
    const { people } = this.app;
    const mine = this.#isMine(decision);
    return el(
      "div",
      { class: gate === null ? "card" : "card gate" },
      gate === null ? null : el("p", { class: "gate-type" }, "Gate: ", pieces(gate)),
      messageCard(people, { message }, { answer: mine ? null : undefined, heading: 2 }),
      mine
        ? null
        : answerForm(message, () => { this.refresh(); this.app.stir(); }),
      el("p", { class: "card-foot" }, el("a", { href: `#/threads/${message.thread}` }, "Open the thread")),
    );
  }
}
