/* A thread: its messages in order, and a place to reply to the last of them that takes it. */

import { get, part, post } from "./api.js";
import { answerForm, takesAnswer } from "./answer.js";
import { fault, faultLine } from "./dialog.js";
import { button, el, fill, keep, signOf } from "./dom.js";
import { isClose, messageCard, updateReach } from "./message.js";
import { counted, firstLine, plain, words } from "./text.js";

const SHOWN = 200;
const ANSWERS = new Set(["accepted", "pending"]);

export class ThreadView {
  constructor(app, thread, back) {
    this.app = app;
    this.thread = thread;
    this.earlier = button("", () => this.#all(), { class: "more", hidden: true });
    this.list = el("div", { class: "messages" });
    this.replying = el("div", { class: "replying" });
    this.problem = faultLine();
    this.heading = el("h2", { class: "thread-title", tabindex: "-1" }, "Thread");
    this.id = el("p", { class: "thread-id mono" }, thread);
    this.element = el(
      "section",
      { class: "thread", "aria-label": "Thread" },
      el("div", { class: "thread-head" }, el("a", { class: "back", href: back }, "‹ Back"), this.heading, this.id),
      this.problem, this.earlier, this.list, this.replying,
    );
    this.shown = SHOWN;
    this.replyTo = null;
    this.fresh = true;
    this.turn = 0;
  }

  async refresh() {
    const turn = ++this.turn;
    let found;
    try {
      found = await get(`/api/threads/${part(this.thread)}`);
    } catch (error) {
      fault(this.problem, error.status === 404 ? new Error("There is no such thread here, or none of it is for you.") : error);
      return;
    }
    if (turn !== this.turn) return; // a later look has been here
    fault(this.problem, null);
    this.entries = found.messages;
    this.#draw();
    await this.#markRead();
  }

  focusReply() {
    const field = this.replying.querySelector("textarea, input");
    field?.focus();
    field?.scrollIntoView({ block: "center" });
    return field !== null && field !== undefined;
  }

  #all() {
    this.shown = Infinity;
    this.#draw();
    this.list.querySelector("article")?.focus();
  }

  #draw() {
    const { entries, app } = this;
    const first = entries[0].message;
    fill(this.heading, words(firstLine(first.body) || first.kind));
    document.title = `${plain(firstLine(first.body)).slice(0, 60) || "Thread"} · dmp`;
    const start = Math.max(0, entries.length - this.shown);
    this.earlier.hidden = start === 0;
    this.earlier.textContent = `Show ${counted(start, "earlier message")}`;
    const cards = entries.slice(start).map((entry) => {
      const { message } = entry;
      const answer = takesAnswer(message) ? this.#answerOf(message) : undefined;
      return {
        key: message.id,
        sign: signOf([message, answer?.id ?? (answer === null ? "open" : ""), app.people.machines.size]),
        make: () => messageCard(app.people, entry, { answer }),
      };
    });
    const before = this.list.lastElementChild;
    const atEnd = this.#atEnd();
    const made = keep(this.list, cards);
    made.forEach((card, at) => updateReach(app.people, card, entries[start + at]));
    this.#drawReply();
    if (this.fresh) {
      this.fresh = false;
      this.heading.focus({ preventScroll: true });
      if (made.length > 2) made.at(-1).scrollIntoView({ block: "start" });
    } else if (atEnd && before !== this.list.lastElementChild) {
      this.list.lastElementChild.scrollIntoView({ block: "nearest" });
    }
  }

  #atEnd() {
    const last = this.list.lastElementChild?.getBoundingClientRect();
    return last !== undefined && last.top < innerHeight;
  }

  #answerOf(question) {
    const replies = this.entries.map(({ message }) => message).filter((each) => each.replyTo === question.id);
    return replies.find((each) => ANSWERS.has(each.standing) || isClose(each)) ?? null;
  }

  /* One form, for the newest question of others that is open, or else the newest message. It is left alone while it
   * still fits, with what was typed in it. */
  #drawReply() {
    const messages = this.entries.map(({ message }) => message);
    const open = messages.filter((each) => takesAnswer(each) && this.#answerOf(each) === null);
    const { people, mayDecide } = this.app;
    const question = open.filter((each) => !people.isMe(each) && (each.to.includes(people.me) || mayDecide)).at(-1);
    const last = messages.filter((each) => !takesAnswer(each) && !isClose(each)).at(-1);
    const target = question ?? (last !== undefined && last.from !== people.me ? last : null) ?? messages.find((each) => each.from !== people.me) ?? null;
    const wanted = target === null ? null : `${target.id}.${question === undefined}`;
    if (wanted === this.replyTo) return;
    const typed = this.replying.querySelector("textarea")?.value ?? "";
    this.replyTo = wanted;
    if (target === null || (takesAnswer(target) && question === undefined)) {
      this.replyTo = null;
      fill(this.replying);
      return;
    }
    const form = answerForm(target, () => this.refresh(), { answering: question !== undefined });
    if (typed !== "") form.querySelector("textarea").value = typed;
    fill(this.replying, el("p", { class: "replying-to" }, question === undefined ? "Reply to " : "Answer ", words(target.from)), form);
  }

  /* What is shown to whoever it is for is read; a question stays open all the same until it is answered. */
  async #markRead() {
    if (document.hidden) return;
    const own = this.entries.flatMap(({ deliveries }) => deliveries).filter(
      (each) => each.recipient === this.app.people.me && ["held", "pushed", "notified"].includes(each.state),
    );
    for (const delivery of own.slice(0, SHOWN)) {
      try {
        await post(`/api/deliveries/${part(delivery.id)}/read`);
      } catch {
        return; // the next look tries again
      }
    }
    if (own.length > 0) this.app.stir();
  }
}
