/* Writing a message, a question or a notice. What was begun is kept while the page is open. */

import { freshKey, get, post, Refused } from "./api.js";
import { fault, faultLine, run, say } from "./dialog.js";
import { button, el, fill, unique } from "./dom.js";
import { Recipients } from "./recipients.js";

const KINDS = [
  ["message", "Message", "Ordinary mail."],
  ["question", "Question", "Takes one answer, and is open until it has it."],
  ["notice", "Notice", "Tells something; nobody is to reply."],
];
const CHOICES = 20;

export class ComposeView {
  constructor(app) {
    this.app = app;
    this.suggestions = [];
    this.key = freshKey();
    this.to = new Recipients(() => this.suggestions, () => this.#changed());
    this.kind = "message";
    this.body = el("textarea", { class: "field", rows: 9, maxlength: 65536, id: unique("body"), dir: "auto" });
    this.blocking = el("input", { type: "checkbox", id: unique("blocking"), checked: true });
    this.urgent = el("input", { type: "checkbox", id: unique("urgent") });
    this.wake = el("input", { type: "checkbox", id: unique("wake") });
    this.choices = el("div", { class: "choice-fields" });
    this.about = el("p", { class: "hint" }, KINDS[0][2]);
    this.problem = faultLine();
    this.submit = el("button", { type: "submit", class: "button primary" }, "Send");
    this.asking = el(
      "fieldset",
      { class: "asking", hidden: true },
      el("legend", {}, "Answers to choose from (may be left out)"),
      this.choices,
      button("Add a choice", () => this.#addChoice("").focus(), { class: "button small" }),
      this.#check(this.blocking, "I wait for the answer: list it among the open questions"),
    );
    this.form = el(
      "form",
      { class: "compose", "aria-label": "Write" },
      el("div", { class: "line" }, el("label", { class: "label", for: this.to.id }, "To"), this.to.element, this.#faultAt("to")),
      el("fieldset", { class: "kinds" }, el("legend", { class: "label" }, "Kind"), this.#kinds(), this.about),
      el("div", { class: "line" }, el("label", { class: "label", for: this.body.id }, "Text"), this.body, this.#faultAt("body")),
      this.asking,
      this.#faultAt("choices"),
      el("details", { class: "more-options" }, el("summary", {}, "More"), this.#check(this.urgent, "Urgent: push it also to who gets it through a channel"), this.#check(this.wake, "Ask for a session to be started where none is live")),
      this.problem,
      el("div", { class: "actions" }, this.submit, button("Discard", () => this.#discard(), { class: "button" }), el("span", { class: "hint" }, "Ctrl+Enter sends")),
    );
    this.form.addEventListener("input", () => this.#changed());
    this.form.addEventListener("submit", (event) => { event.preventDefault(); this.#send(); });
    this.form.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        this.form.requestSubmit();
      }
    });
    this.element = el("div", { class: "page narrow" }, el("h1", {}, "Write"), this.form);
    addEventListener("beforeunload", (event) => { if (this.begun && !this.app.over) event.preventDefault(); });
  }

  get begun() {
    return this.body.value.trim() !== "" || this.to.chosen.length > 0;
  }

  show() {
    document.title = "Write · dmp";
    requestAnimationFrame(() => (this.to.chosen.length === 0 ? this.to.input : this.body).focus());
  }

  async refresh() {
    const [agents, channels, threads] = await Promise.all([
      get("/api/agents/roster").then((found) => found.agents, () => []),
      get("/api/channels").then((found) => found.channels, () => []),
      get("/api/threads", { limit: 50 }).then((found) => found.threads, () => []),
    ]);
    const found = new Map();
    const offer = (address, about) => { if (!found.has(address)) found.set(address, { address, about }); };
    const { people } = this.app;
    for (const each of people.machines.values()) {
      if (`human:${each.handle}` !== people.me) offer(`human:${each.handle}`, "in the team");
      for (const handle of each.hosts ?? []) offer(`human:${handle}`, "hosted in the team");
    }
    for (const each of channels) offer(`channel:${each.channel}`, `${each.members.length + each.implicit.length} members`);
    for (const each of agents) if (each.status === "approved") offer(each.address, each.client);
    for (const { latest } of threads) {
      for (const address of [latest.from, ...latest.to]) {
        if (address !== people.me && address !== "agent:dispatch") offer(address, "written with before");
      }
    }
    const before = JSON.stringify(this.suggestions);
    this.suggestions = [...found.values()];
    if (JSON.stringify(this.suggestions) !== before) this.to.offer();
  }

  #changed() {
    this.key = freshKey();
  }

  #check(input, text) {
    return el("label", { class: "check", for: input.id }, input, text);
  }

  #faultAt(name) {
    const line = faultLine();
    line.dataset.field = name;
    return line;
  }

  #kinds() {
    const name = unique("kind");
    return el(
      "div",
      { class: "segments" },
      KINDS.map(([kind, text, about]) => {
        const input = el("input", {
          type: "radio", name, id: unique("kind"), value: kind, checked: kind === this.kind, class: "only-heard",
          on: { change: () => { this.kind = kind; this.about.textContent = about; this.asking.hidden = kind !== "question"; } },
        });
        return [input, el("label", { for: input.id, class: "segment" }, text)];
      }),
    );
  }

  #addChoice(value) {
    const input = el("input", { type: "text", class: "field", maxlength: 200, value, "aria-label": `Choice ${this.choices.children.length + 1}`, dir: "auto" });
    const row = el("div", { class: "choice-field" }, input, button("Remove", () => { row.remove(); this.#changed(); }, { class: "button small" }));
    if (this.choices.children.length < CHOICES) this.choices.append(row);
    return input;
  }

  #input() {
    const given = { to: this.to.addresses, kind: this.kind, body: this.body.value };
    if (this.kind === "question") {
      const choices = [...this.choices.querySelectorAll("input")].map((each) => each.value.trim()).filter((each) => each !== "");
      if (choices.length > 0) given.choices = choices;
      given.blocking = this.blocking.checked;
    }
    if (this.urgent.checked) given.urgent = true;
    if (this.wake.checked) given.wake = "request";
    return given;
  }

  async #send() {
    for (const line of this.form.querySelectorAll("[data-field]")) fault(line, null);
    const given = this.#input();
    if (given.to.length === 0) {
      fault(this.#place("to"), new Error("Say who it is for."));
      this.to.input.focus();
      return;
    }
    let sent = null;
    await run(this.submit, this.problem, async () => {
      try {
        sent = await post("/api/messages", given, { key: this.key });
      } catch (error) {
        const place = error instanceof Refused && error.field !== null ? this.#place(error.field.split(/[.[]/)[0]) : null;
        if (place === null) throw error;
        const slot = /^to\[(\d+)\]/.exec(error.field);
        fault(place, new Error(slot === null ? error.message : `${given.to[Number(slot[1])]}: ${error.message}`));
        place.scrollIntoView({ block: "nearest" });
      }
    }, { doing: "Sending…" });
    if (sent === null) return;
    this.#clear();
    say(sent.downgraded ? "Sent, without its urgency: there were too many." : "Sent.");
    location.hash = `#/threads/${sent.message.thread}`;
    this.app.stir();
  }

  #place(field) {
    return this.form.querySelector(`[data-field="${CSS.escape(field)}"]`);
  }

  #discard() {
    this.#clear();
    this.to.input.focus();
  }

  #clear() {
    this.form.reset();
    this.form.querySelector("input[value=message]").dispatchEvent(new Event("change"));
    this.to.addresses = [];
    fill(this.choices);
    for (const line of this.form.querySelectorAll(".fault")) fault(line, null);
    this.#changed();
  }
}
