/* One message, in a thread or on a list of questions. */

import { el, fill, signOf } from "./dom.js";
import { counted, body, json, pieces, words } from "./text.js";
import { when } from "./time.js";
import { SYSTEM } from "./people.js";

const STANDING = {
  accepted: "This is the answer.",
  pending: "The answer here, pending until the asker’s machine settles it.",
  candidate: "Another answer came first; pending until the asker’s machine settles it.",
  superseded: "Kept as a reply: another answer was accepted.",
  voided: "Set aside: only those who decide answer gates.",
};

export const isClose = (message) => message.from === SYSTEM && !message.remote && message.data?.type === "x-closed";

/* A message's card. `entry` is `{ message, deliveries, remote }` as a thread has it; `answer` what answers it, if
 * anything does, and undefined where nobody knows. */
export function messageCard(people, entry, { answer, heading = 3 } = {}) {
  const { message } = entry;
  const card = el("article", { class: people.isMe(message) ? "message mine" : "message", tabindex: "-1", "aria-label": `${message.kind} from ${message.from}` });
  card.append(
    el(
      "header",
      { class: "message-head" },
      el(`h${heading}`, { class: "sender" }, people.sender(message)),
      el("span", { class: "marks" }, marks(message, answer)),
      el("span", { class: "at" }, when(message.createdAt)),
    ),
    el("p", { class: "to" }, "to ", message.to.flatMap((address, at) => (at > 0 ? [", ", words(address)] : [words(address)]))),
  );
  // An external sender's choices and refs are its text as much as its body is (section 6.8).
  const quote = el("div", { class: "quote" }, message.body === "" ? null : body(message.body));
  const inside = message.external ? quote : el("div", { class: "beside" });
  if (message.choice !== undefined) inside.append(el("p", { class: "chose" }, "chose ", el("strong", {}, words(message.choice))));
  if (message.choices?.length > 0 && answer !== undefined) {
    inside.append(el("ul", { class: "offered", "aria-label": "Choices" }, message.choices.map((each) => el("li", {}, words(each)))));
  }
  if (message.refs.length > 0) inside.append(refs(message.refs));
  card.append(quote);
  if (inside !== quote && inside.childNodes.length > 0) card.append(inside);
  if (message.data !== undefined) card.append(data(message.data));
  if (message.standing !== null && STANDING[message.standing] !== undefined) {
    card.append(el("p", { class: "standing" }, STANDING[message.standing]));
  }
  if (answer === null) card.append(el("p", { class: "standing open" }, !message.blocking ? "Open: no answer yet." : people.isMe(message) ? "Open: you wait for an answer." : "Open: somebody waits for an answer."));
  card.append(el("div", { class: "reached" }));
  updateReach(people, card, entry);
  return card;
}

/* Shows anew how far a message got, where that changed; the rest of its card stays as it is, long texts unfolded too. */
export function updateReach(people, card, entry) {
  const slot = card.querySelector(":scope > .reached");
  const sign = signOf([entry.deliveries, entry.remote, people.machines.size]);
  if (slot.dataset.sign === sign) return;
  slot.dataset.sign = sign;
  const found = reach(people, entry);
  if (found !== null && slot.querySelector("details")?.open) found.open = true;
  fill(slot, found);
}

function marks(message, answer) {
  const found = [];
  if (message.kind !== "message") found.push(el("span", { class: "badge kind" }, pieces(message.kind)));
  if (message.blocking && answer === null) found.push(el("span", { class: "badge attention" }, "waiting"));
  if (message.urgent) found.push(el("span", { class: "badge attention" }, "urgent"));
  if (isClose(message)) found.push(el("span", { class: "badge" }, "closed"));
  return found;
}

const refs = (list) =>
  el(
    "ul",
    { class: "refs", "aria-label": "About" },
    list.map((each) => el("li", {}, el("span", { class: "ref-type" }, pieces(each.type)), " ", words(each.id, "mono"), each.at ? [" at ", words(each.at, "mono")] : null)),
  );

/* What a message says to programs. A decision goes by it and not by the words above it, so it is always there to see. */
export function data(value) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return el("div", { class: "data" }, json(value));
  const row = ([name, each]) =>
    el("div", { class: "datum" }, el("dt", {}, pieces(name)), el("dd", {}, typeof each === "string" ? body(each) : json(each)));
  const list = el("dl", { class: "data" }, Object.entries(value).map(row));
  return typeof value.type === "string" && !value.type.startsWith("x-")
    ? list
    : el("details", {}, el("summary", {}, "Data for programs"), list);
}

const STATES = {
  held: "waits in the mailbox", sending: "being handed over", pushed: "handed to the session", notified: "delivered, not read",
  read: "read", answered: "answered",
};

/* How far a message got: here, and as its other homes reported. */
function reach(people, { message, deliveries, remote }) {
  if (!people.isMe(message) && (remote ?? []).length === 0 && (deliveries ?? []).every((each) => each.recipient === people.me)) return null;
  const lines = [
    ...(deliveries ?? []).map((each) => el("li", {}, words(each.recipient), ": ", STATES[each.state] ?? each.state, " on this machine")),
    ...(remote ?? []).map((row) => remoteLine(people, row)),
  ];
  if (lines.length === 0) return null;
  const refused = (remote ?? []).some((row) => row.state === "refused");
  return el(
    "details",
    { class: "reach", open: refused },
    el("summary", {}, refused ? "Refused by a recipient" : `Reached: ${summary(deliveries ?? [], remote ?? [])}`),
    el("ul", {}, lines),
  );
}

function summary(deliveries, remote) {
  const all = [...deliveries, ...remote];
  const on = all.filter((each) => each.state === "forwarded").length;
  const read = all.filter((each) => each.state === "read" || each.state === "answered").length;
  const parts = [];
  if (read > 0) parts.push(`read by ${read} of ${all.length}`);
  if (on > 0) parts.push(`${on} on the way`);
  return parts.length > 0 ? parts.join(", ") : counted(all.length, "recipient");
}

function remoteLine(people, row) {
  const homes = row.homes.flatMap((home, at) => (at > 0 ? [", ", people.machine(home)] : [people.machine(home)]));
  const said = row.state === "forwarded" ? ["sent to ", homes, "; no word from there yet"] : row.state === "refused" ? "refused" : [STATES[row.state] ?? row.state, " on ", homes];
  const refusals = Object.entries(row.refused).map(([home, reason]) => el("span", { class: "refusal" }, "; ", people.machine(home), " refused: “", words(reason), "”"));
  return el("li", {}, words(row.recipient), ": ", said, refusals);
}
