/* One op, whole: where it stands in its chain, and what it says as far as this machine can read it. */

import { get, part } from "./api.js";
import { fault, faultLine } from "./dialog.js";
import { el, fill } from "./dom.js";
import { messageCard } from "./message.js";
import { fact } from "./team.js";
import { counted, json, pieces, words } from "./text.js";
import { when } from "./time.js";

const href = (replica, seq) => `#/chains/${part(replica)}/${seq}`;

export class OpView {
  constructor(app, replica, seq) {
    this.app = app;
    this.replica = replica;
    this.seq = seq;
    this.problem = faultLine();
    this.heading = el("h2", { tabindex: "-1" }, `Op ${seq}`);
    this.content = el("div", {});
    this.element = el("section", { class: "op", "aria-label": "Op" },
      el("div", { class: "op-head" }, this.heading, el("a", { class: "button small quiet", href: "#/chains", "aria-label": "Close" }, "Close")),
      this.problem, this.content);
  }

  async refresh() {
    let op;
    try {
      op = await get(`/node/chains/${part(this.replica)}/ops/${part(this.seq)}`);
    } catch (error) {
      fault(this.problem, error.status === 404 ? new Error("There is no such op on this machine.") : error);
      fill(this.content);
      return;
    }
    fault(this.problem, null);
    const { people } = this.app;
    const near = [op.seq > 1 ? el("a", { href: href(op.replica, op.seq - 1) }, "‹ before it") : null, op.next === null ? null : el("a", { href: href(op.replica, op.next) }, "after it ›")];
    fill(
      this.content,
      el("p", { class: "op-title" }, el("span", { class: "badge kind" }, pieces(op.type)), op.stub ? el("span", { class: "badge" }, "stub: its content was pruned") : null, " of ", people.machine(op.replica)),
      el("p", { class: "near" }, near),
      el("dl", { class: "facts" },
        fact("Clock", when(new Date(op.ms).toISOString()), " ", el("span", { class: "mono muted" }, op.hlc)),
        op.to === null ? null : fact("Sealed to", op.to.flatMap((each, at) => (at > 0 ? [", ", people.machine(each)] : [people.machine(each)]))),
        fact("Size", counted(op.size, "byte")),
        fact("Hash", el("span", { class: "mono wrap" }, op.hash)),
        fact("Op before", el("span", { class: "mono wrap" }, op.prev)),
        fact("Content", el("span", { class: "mono wrap" }, op.bodyHash))),
      op.waiting.map((each) => el("p", { class: "fault" }, "Waits here: ", words(each))),
      op.problems.map((each) => el("p", { class: "fault" }, words(each.subject), ": ", words(each.text))),
      this.#inside(op),
      op.body === null ? null : el("div", {}, el("h3", {}, "It says, in the clear"), json(op.body)),
    );
  }

  #inside({ content, stub, to }) {
    if (content === null) {
      return to === null || stub ? null : el("p", { class: "hint" }, "Sealed to others: this machine cannot read it.");
    }
    if (content.message !== null) return el("div", {}, el("h3", {}, "Inside, a message"), messageCard(this.app.people, { message: content.message }, { heading: 4 }));
    const text = content.kind === "mail" ? "Mail that is not for you to read, or that was refused here." : content.text;
    return el("p", { class: "hint" }, "Inside: ", words(text));
  }
}
