/* What a person should know, each with what to do about it. */

import { get, post } from "./api.js";
import { fault, faultLine, run } from "./dialog.js";
import { button, el, keep, signOf } from "./dom.js";
import { pieces, words } from "./text.js";
import { when } from "./time.js";

export class ProblemsView {
  constructor(app) {
    this.app = app;
    this.problem = faultLine();
    this.list = el("div", { class: "cards" });
    this.empty = el("div", { class: "empty", hidden: true }, el("p", {}, "No problems."), el("p", { class: "muted" }, "Every chain that was read here verifies, and nothing waits for you."));
    this.seen = el("input", { type: "checkbox", id: "seen-too", on: { change: () => this.refresh() } });
    this.element = el("div", { class: "page" }, el("h1", {}, "Problems"), el("label", { class: "check", for: "seen-too" }, this.seen, "Those too that somebody here has seen"), this.problem, this.list, this.empty);
  }

  show() {
    document.title = "Problems · dmp";
  }

  async refresh() {
    let found;
    try {
      found = (await get("/node/problems")).problems.filter((each) => this.seen.checked || !each.seen);
    } catch (error) {
      fault(this.problem, error);
      return;
    }
    fault(this.problem, null);
    keep(this.list, found.map((each) => ({ key: each.subject, sign: signOf([each, this.app.people.machines.size]), make: () => this.#card(each) })));
    this.empty.hidden = found.length > 0;
  }

  #card(each) {
    const problem = faultLine();
    const acknowledge = button("I have seen this", () => run(acknowledge, problem, async () => {
      await post("/node/problems/seen", { subject: each.subject });
      await this.refresh();
      this.app.stir();
    }), { class: "button small" });
    return el(
      "article",
      { class: each.seen ? "card problem seen" : "card problem", "aria-label": each.subject },
      el("h2", { class: "subject mono" }, words(each.subject)),
      el("p", { class: "card-note" },
        each.at === "" ? null : ["noted ", when(each.at)],
        each.replica === null ? null : [each.at === "" ? "" : " · ", this.app.people.machine(each.replica), each.seq === null ? null : `, op ${each.seq}`],
        each.seen ? " · seen" : null),
      el("p", { class: "problem-text", dir: "auto" }, pieces(each.text)),
      el("p", { class: "remedy" }, el("strong", {}, "To do: "), commands(each.remedy), "."),
      problem,
      el("div", { class: "actions" },
        each.mayBeSeen && !each.seen ? acknowledge : null,
        each.replica !== null && each.seq !== null ? el("a", { class: "button small", href: `#/chains/${encodeURIComponent(each.replica)}/${each.seq}` }, "Open the op") : null),
    );
  }
}

/* A remedy's words, with the commands in it set apart. */
const commands = (text) => text.split("`").map((each, at) => (at % 2 === 1 ? el("code", {}, pieces(each)) : pieces(each)));
