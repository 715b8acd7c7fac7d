/* A list, and beside it what is chosen in it; on a narrow screen one or the other. */

import { button, el, fill } from "./dom.js";
import { fault, faultLine } from "./dialog.js";
import { step } from "./keys.js";

export class Split {
  constructor(app, { section, title, label }) {
    this.app = app;
    this.section = section;
    this.label = label;
    this.problem = faultLine();
    this.list = el("div", { class: "rows", role: "list", "aria-label": label });
    this.empty = el("div", { class: "empty", hidden: true });
    this.older = button("Show older", () => this.more(), { class: "more", hidden: true });
    this.tools = el("div", { class: "tools" });
    this.detail = el("div", { class: "detail" });
    this.element = el(
      "div",
      { class: "split" },
      el("section", { class: "master", "aria-label": label }, el("div", { class: "master-head" }, el("h1", {}, title), this.tools), this.problem, this.list, this.empty, this.older),
      this.detail,
    );
    this.view = null;
    this.chosen = null;
  }

  /* Shows what is chosen; `make()` is called where that is another one than before. */
  choose(id, make) {
    if (id === this.chosen && id !== null) return;
    this.chosen = id;
    this.element.classList.toggle("chosen", id !== null);
    this.view = id === null ? null : make();
    fill(this.detail, this.view === null ? el("p", { class: "nothing" }, this.nothing ?? "Choose something in the list.") : this.view.element);
    this.mark();
    this.view?.refresh();
  }

  mark() {
    for (const link of this.list.querySelectorAll("a.row")) {
      link.setAttribute("aria-current", String(link.dataset.id === this.chosen));
    }
  }

  async load(work) {
    try {
      await work();
      fault(this.problem, null);
    } catch (error) {
      fault(this.problem, error);
    }
    this.mark();
  }

  nobody(found, ...said) {
    this.empty.hidden = found > 0;
    if (found === 0) fill(this.empty, said);
  }

  act(name) {
    if (name === "next" || name === "previous") return step(this.list, name === "next" ? 1 : -1);
    if (name === "reply") return this.view?.focusReply?.() ?? false;
    if (name === "filter") {
      const field = this.tools.querySelector("input[type=search]");
      field?.focus();
      return field !== null;
    }
    if (name === "back" && this.chosen !== null) {
      const was = this.chosen;
      location.hash = `#/${this.section}`;
      requestAnimationFrame(() => [...this.list.querySelectorAll("a.row")].find((each) => each.dataset.id === was)?.focus());
      return true;
    }
    return false;
  }
}
