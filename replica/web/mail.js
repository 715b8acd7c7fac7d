/* The mailbox: what came for the reader, the newest first, with what is unread marked. */

import { get } from "./api.js";
import { button, el, keep, signOf } from "./dom.js";
import { Split } from "./split.js";
import { firstLine, pieces, plain } from "./text.js";
import { ThreadView } from "./thread.js";
import { when } from "./time.js";

const PAGE = 50;
const LONGEST = 2000;
const UNREAD = new Set(["held", "sending", "pushed", "notified"]);

export class MailView extends Split {
  constructor(app) {
    super(app, { section: "mail", title: "Mail", label: "Mailbox" });
    this.nothing = "Choose a message to read its thread.";
    this.entries = [];
    this.next = null;
    this.wanted = PAGE;
    this.unread = false;
    this.search = el("input", {
      type: "search", class: "field", placeholder: "Filter by sender or text", "aria-label": "Filter the mailbox", spellcheck: "false", autocomplete: "off",
      on: { input: () => this.draw() },
    });
    this.only = button("Unread", () => this.#toggle(), { class: "toggle", "aria-pressed": "false" });
    this.tools.append(this.search, this.only);
  }

  show([thread]) {
    document.title = "Mail · dmp";
    this.choose(thread ?? null, () => new ThreadView(this.app, thread, "#/mail"));
  }

  refresh() {
    this.view?.refresh();
    return this.load(() => this.#read());
  }

  async #toggle() {
    this.unread = !this.unread;
    this.only.setAttribute("aria-pressed", String(this.unread));
    this.wanted = PAGE;
    await this.load(() => this.#read());
  }

  async more() {
    this.wanted = Math.min(this.wanted + PAGE, LONGEST);
    await this.load(() => this.#read());
  }

  async #read() {
    const query = { order: "newest", limit: Math.min(this.wanted, 500), state: this.unread ? "notified" : null };
    let page = await get("/api/mailbox", query);
    const found = page.deliveries;
    while (page.next !== null && found.length < this.wanted) {
      page = await get("/api/mailbox", { ...query, after: page.next });
      found.push(...page.deliveries);
    }
    this.entries = found;
    this.next = page.next;
    this.draw();
  }

  draw() {
    const asked = this.search.value.trim().toLocaleLowerCase();
    const found = this.entries.filter(
      ({ message }) => asked === "" || `${message.from}\n${message.kind}\n${message.body}`.toLocaleLowerCase().includes(asked),
    );
    keep(
      this.list,
      found.map(({ delivery, message }) => ({
        key: delivery.id,
        sign: signOf([message, delivery.state, this.app.people.machines.size]),
        make: () => el("div", { role: "listitem" }, this.#row(delivery, message)),
      })),
    );
    this.older.hidden = this.next === null || this.wanted >= LONGEST;
    this.#say(found.length, asked);
    this.mark();
  }

  #say(found, asked) {
    if (asked !== "") {
      this.nobody(found, el("p", {}, "Nothing that is loaded here matches."), this.next === null ? null : el("p", { class: "muted" }, "There are older messages further down."));
    } else if (this.unread) {
      this.nobody(found, el("p", {}, "You have read everything."));
    } else {
      this.nobody(found, el("p", {}, "No mail yet."), el("p", { class: "muted" }, "What teammates, agents and sessions send you comes here by itself."));
    }
  }

  #row(delivery, message) {
    return mailRow(this.app.people, message, `#/mail/${message.thread}`, {
      id: message.thread, unread: UNREAD.has(delivery.state), answered: delivery.state === "answered",
    });
  }
}

/* A message as a line of a list. */
export function mailRow(people, message, href, { id, unread = false, answered = false, count = 0 }) {
  const asks = message.kind === "question" || message.kind === "handoff";
  const title = firstLine(message.body) || (message.choice !== undefined ? `chose ${message.choice}` : message.kind);
  return el(
    "a",
    { class: unread ? "row unread" : "row", href, "data-id": id, "aria-current": "false" },
    el("span", { class: "dot", "aria-hidden": "true" }),
    el("span", { class: "row-head" },
      unread ? el("span", { class: "only-heard" }, "Unread: ") : null,
      el("span", { class: "row-from" }, people.sender(message)),
      el("span", { class: "row-at" }, when(message.createdAt))),
    el("span", { class: "row-text" },
      message.kind === "message" ? null : el("span", { class: asks && !answered ? "badge kind attention" : "badge kind" }, pieces(message.kind)),
      message.urgent ? el("span", { class: "badge attention" }, "urgent") : null,
      el("bdi", { class: "row-line" }, plain(title)),
      count > 1 ? el("span", { class: "count", title: `${count} messages` }, String(count)) : null),
  );
}
