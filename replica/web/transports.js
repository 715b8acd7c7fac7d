/* Where this machine meets its team, and how each place fared last. */

import { get } from "./api.js";
import { fault, faultLine } from "./dialog.js";
import { el, keep, signOf } from "./dom.js";
import { fact } from "./team.js";
import { counted, words } from "./text.js";
import { when } from "./time.js";

export class TransportsView {
  constructor(app) {
    this.app = app;
    this.problem = faultLine();
    this.list = el("div", { class: "cards" });
    this.absent = el("p", { class: "hint", hidden: true });
    this.signing = faultLine();
    this.empty = el("div", { class: "empty", hidden: true }, el("p", {}, "This machine meets its team nowhere yet."));
    this.element = el("div", { class: "page" }, el("h1", {}, "Transports"), el("p", { class: "lead" }, "The places over which mail goes. What is not there yet goes out with the next sync."), this.problem, this.signing, this.list, this.absent, this.empty);
  }

  show() {
    document.title = "Transports · dmp";
  }

  async refresh() {
    let found;
    try {
      found = await get("/node/transports");
    } catch (error) {
      fault(this.problem, error);
      return;
    }
    fault(this.problem, null);
    fault(this.signing, found.stopped !== null ? new Error("This machine signs nothing any more, so nothing of it goes out. Problems says why.")
      : found.paused !== null ? new Error("This machine signs nothing until you say that it may. Problems says why.") : null);
    keep(this.list, found.transports.map((each) => ({ key: `${each.address} ${each.branch}`, sign: signOf(each), make: () => this.#card(each) })));
    this.empty.hidden = found.transports.length > 0;
    this.absent.hidden = found.absent.length === 0;
    this.absent.textContent = `Not seen on the main transport since this machine came there: ${found.absent.join(", ")}.`;
  }

  #card(each) {
    const [kind, state] =
      each.reachable === null ? ["", "not tried yet"] : each.reachable ? ["good", "reached"] : ["bad", "not reached"];
    return el(
      "article",
      { class: "card transport", "aria-label": `Transport ${each.address}` },
      el("div", { class: "card-head" }, el("h2", { class: "address mono" }, words(each.address)), el("span", { class: `state ${kind}` }, state)),
      el(
        "dl",
        { class: "facts" },
        fact("Use", each.use),
        each.address.startsWith("dir:") ? null : fact("Branch", words(each.branch, "mono")),
        fact("Last reached", each.seenAt === null ? "never" : when(each.seenAt)),
        each.waiting === null ? null : fact("Not there yet", each.waiting === 0 ? "nothing" : counted(each.waiting, "op")),
      ),
      each.error === null ? null : el("p", { class: "fault" }, "Failed ", each.failedAt === null ? null : [when(each.failedAt), ": "], words(each.error)),
    );
  }
}
