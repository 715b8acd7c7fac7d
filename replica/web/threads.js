/* Every thread on this machine, those with the latest messages first. */

import { get } from "./api.js";
import { el, keep, signOf } from "./dom.js";
import { mailRow } from "./mail.js";
import { Split } from "./split.js";
import { ThreadView } from "./thread.js";

const PAGE = 50;

export class ThreadsView extends Split {
  constructor(app) {
    super(app, { section: "threads", title: "Threads", label: "Threads" });
    this.nothing = "Choose a thread to read it.";
    this.found = [];
    this.next = null;
    this.pages = 1;
    this.search = el("input", {
      type: "search", class: "field", placeholder: "Filter by sender or text", "aria-label": "Filter the threads", spellcheck: "false", autocomplete: "off",
      on: { input: () => this.draw() },
    });
    this.tools.append(this.search);
  }

  show([thread]) {
    document.title = "Threads · dmp";
    this.choose(thread ?? null, () => new ThreadView(this.app, thread, "#/threads"));
  }

  refresh() {
    this.view?.refresh();
    return this.load(() => this.#read());
  }

  async more() {
    this.pages += 1;
    await this.load(() => this.#read());
  }

  async #read() {
    const found = new Map();
    let next = null;
    for (let page = 0; page < this.pages; page += 1) {
      const read = await get("/api/threads", { limit: PAGE, before: next });
      for (const each of read.threads) if (!found.has(each.thread)) found.set(each.thread, each);
      next = read.next;
      if (next === null) break;
    }
    this.found = [...found.values()];
    this.next = next;
    this.draw();
  }

  draw() {
    const asked = this.search.value.trim().toLocaleLowerCase();
    const found = this.found.filter(
      ({ first, latest }) => asked === "" || `${latest.from}\n${first?.from}\n${first?.body}\n${latest.body}`.toLocaleLowerCase().includes(asked),
    );
    keep(
      this.list,
      found.map((each) => ({
        key: each.thread,
        sign: signOf([each, this.app.people.machines.size]),
        make: () =>
          el("div", { role: "listitem" }, mailRow(this.app.people, each.latest, `#/threads/${each.thread}`, {
            id: each.thread, count: each.messages, answered: true,
          })),
      })),
    );
    this.older.hidden = this.next === null;
    this.nobody(
      found.length,
      asked === "" ? el("p", {}, "No threads yet.") : el("p", {}, "Nothing that is loaded here matches."),
      asked === "" ? el("p", { class: "muted" }, "Whatever is written on this machine or sent to it is listed here.") : null,
    );
    this.mark();
  }
}
