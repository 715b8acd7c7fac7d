/* The chains: a lane for each machine, over time, and beside them whichever op is open. */

import { ChainData } from "./chain-data.js";
import { fault, faultLine } from "./dialog.js";
import { el, fill, keep, signOf } from "./dom.js";
import { Lanes } from "./lanes.js";
import { OpView } from "./op.js";
import { counted, words } from "./text.js";
import { when } from "./time.js";

export class ChainsView {
  constructor(app) {
    this.app = app;
    this.data = new ChainData();
    this.problem = faultLine();
    this.lead = el("p", { class: "lead", role: "status" });
    this.drawing = el("section", { class: "card drawing", "aria-label": "Lanes over time", hidden: true });
    this.table = el("div", { class: "chain-table" });
    this.pane = el("div", { class: "op-pane" });
    this.element = el("div", { class: "page full chains" }, el("h1", {}, "Chains"), this.lead, this.problem,
      el("div", { class: "chain-split" }, el("div", { class: "chain-main" }, this.drawing, this.table), this.pane));
    this.lanes = null;
    this.op = null;
    this.shown = false;
    this.loading = null;
  }

  show([replica, seq]) {
    document.title = "Chains · dmp";
    this.shown = true;
    const chosen = replica !== undefined && seq !== undefined;
    this.element.classList.toggle("chosen", chosen);
    this.op = chosen ? new OpView(this.app, replica, seq) : null;
    this.at = chosen ? [replica, Number(seq)] : null;
    fill(this.pane, this.op?.element);
    this.#point();
    const op = this.op;
    op?.refresh().then(() => {
      if (this.op !== op || this.drawing.contains(document.activeElement)) return;
      op.heading.focus({ preventScroll: true });
      if (op.element.getBoundingClientRect().top > innerHeight * 0.7) op.element.scrollIntoView({ block: "start" });
    });
  }

  hide() {
    this.shown = false;
  }

  refresh() {
    this.loading ??= this.#load().finally(() => { this.loading = null; });
    return this.loading;
  }

  async #load() {
    try {
      await this.data.load(() => {
        this.#draw();
        return this.shown;
      });
      this.#draw();
      fault(this.problem, null);
    } catch (error) {
      fault(this.problem, error);
    }
  }

  #draw() {
    const { chains, total, held } = this.data;
    fill(
      this.lead,
      chains.length === 0 ? "Nothing was published here yet." : `${counted(total, "op")} in ${counted(chains.length, "chain")}, as this machine has them.`,
      held < total ? ` The newest ${held.toLocaleString()} are drawn.` : null,
    );
    const sign = signOf([chains, held]);
    if (sign === this.drawn) return;
    this.drawn = sign;
    this.drawing.hidden = chains.length === 0;
    if (chains.length > 0) {
      const drawing = this.data.drawing();
      if (this.lanes === null) this.lanes = new Lanes(this.drawing, drawing, { open: (op) => this.#open(op) });
      else this.#redraw(drawing);
      this.#point();
    }
    this.#drawTable(chains);
  }

  /* Where everything was in sight, everything is again. */
  #redraw(drawing) {
    const { from, to, first, last } = this.lanes;
    this.lanes.update(drawing);
    if (from <= first && to >= last) this.lanes.fit();
  }

  #open({ replica, seq }) {
    location.hash = `#/chains/${encodeURIComponent(replica)}/${seq}`;
  }

  /* The drawing's cursor is on the op that is open. */
  #point() {
    const now = this.lanes?.current() ?? null;
    if (this.lanes === null || this.at === null || (now !== null && now.replica === this.at[0] && now.seq === this.at[1])) return;
    this.lanes.go(...this.at);
  }

  #drawTable(chains) {
    keep(
      this.table,
      chains.map((each) => ({ key: each.replica, sign: signOf(each), make: () => this.#card(each) })),
    );
  }

  #card(each) {
    const at = (seq) => `#/chains/${encodeURIComponent(each.replica)}/${seq}`;
    return el(
      "article",
      { class: "card chain", "aria-label": `Chain of ${each.replica}` },
      el("h2", {}, each.me ? "This machine" : each.handle === null ? words(each.replica) : [words(each.handle), "’s ", words(each.device ?? "machine")], " ", el("span", { class: "mono muted plain-weight" }, words(each.replica))),
      el("p", { class: "card-note" }, counted(each.count, "op"), "; the last is ", el("a", { href: at(each.last) }, `op ${each.last}`), ", ", when(new Date(each.lastMs).toISOString()),
        each.standing === "revoked" ? ` · revoked after op ${each.cut}` : each.standing === "unknown" ? " · not in the team" : null),
      each.fork === null ? null : el("p", { class: "fault" }, `Forked at op ${each.fork.seq}: its key signed two histories. `, each.fork.rivals.map((rival) => ["Op ", String(rival.seq), ", ", words(rival.type), ": ", el("span", { class: "mono" }, rival.hash.slice(0, 16)), "… "])),
      each.halted === null || each.fork !== null ? null : el("p", { class: "fault" }, `Goes no further here than op ${each.halted.seq}: `, words(each.halted.text)),
    );
  }
}
