/* The chains: a lane for each machine, over time, and beside them whichever op is open. */

import { get } from "./api.js";
import { fault, faultLine } from "./dialog.js";
import { el, fill } from "./dom.js";
import { OpView } from "./op.js";
import { counted, words } from "./text.js";
import { when } from "./time.js";

export class ChainsView {
  constructor(app) {
    this.app = app;
    this.problem = faultLine();
    this.lead = el("p", { class: "lead" });
    this.drawing = el("div", { class: "lanes" });
    this.table = el("div", { class: "chain-table" });
    this.pane = el("div", { class: "op-pane" });
    this.element = el("div", { class: "page full chains" }, el("h1", {}, "Chains"), this.lead, this.problem,
      el("div", { class: "chain-split" }, el("div", { class: "chain-main" }, this.drawing, this.table), this.pane));
    this.op = null;
  }

  show([replica, seq]) {
    document.title = "Chains · dmp";
    const chosen = replica !== undefined && seq !== undefined;
    this.element.classList.toggle("chosen", chosen);
    this.op = chosen ? new OpView(this.app, replica, seq) : null;
    fill(this.pane, this.op?.element);
    this.op?.refresh().then(() => this.op?.heading.focus({ preventScroll: true }));
  }

  async refresh() {
    let found;
    try {
      found = (await get("/node/chains")).chains;
    } catch (error) {
      fault(this.problem, error);
      return;
    }
    fault(this.problem, null);
    const ops = found.reduce((sum, each) => sum + each.count, 0);
    fill(this.lead, found.length === 0 ? "Nothing was published here yet." : `${counted(ops, "op")} in ${counted(found.length, "chain")}, as this machine has them.`);
    this.#drawTable(found);
  }

  #drawTable(chains) {
    fill(
      this.table,
      chains.map((each) =>
        el("article", { class: "card chain", "aria-label": `Chain of ${each.replica}` },
          el("h2", {}, each.me ? "This machine" : each.handle === null ? words(each.replica) : [words(each.handle), "’s ", words(each.device ?? "machine")], " ", el("span", { class: "mono muted" }, words(each.replica))),
          el("p", { class: "card-note" }, counted(each.count, "op"), ", the last ", when(new Date(each.lastMs).toISOString()), " · ",
            el("a", { href: `#/chains/${encodeURIComponent(each.replica)}/${each.last}` }, `op ${each.last}`),
            each.standing === "revoked" ? ` · revoked after op ${each.cut}` : each.standing === "unknown" ? " · not in the team" : null),
          each.fork === null ? null : el("p", { class: "fault" }, `Forked at op ${each.fork.seq}: its key signed two histories.`),
          each.halted === null ? null : el("p", { class: "fault" }, `Goes no further here than op ${each.halted.seq}: `, words(each.halted.text)))),
    );
  }
}
