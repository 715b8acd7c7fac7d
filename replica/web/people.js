/* Who is who: senders and machines in words, told apart by where their words come from (section C.6). */

import { el } from "./dom.js";
import { words } from "./text.js";

export const SYSTEM = "agent:dispatch";

/* What is known of the team and of whoever reads. */
export class People {
  constructor(session) {
    this.session = session;
    this.machines = new Map();
  }

  /* Takes in a team as the host says it; null where there is none. */
  learn(team) {
    this.machines = new Map((team?.members ?? []).map((each) => [each.replica, each]));
  }

  get me() {
    return this.session.address;
  }

  isMe(message) {
    return message.from === this.me;
  }

  /* A machine, as its person and what it calls itself. */
  machine(replica) {
    if (replica === this.session.replica) return el("span", { class: "machine", title: replica }, "this machine");
    const known = this.machines.get(replica);
    if (known === undefined) return words(replica, "machine mono");
    return el("span", { class: "machine", title: replica }, words(known.handle), "’s ", words(known.device ?? replica));
  }

  /* Who sent a message, as a list of nodes: a person, a program, this host itself, or somebody from elsewhere. */
  sender(message) {
    const found = [];
    if (message.from === SYSTEM && !message.remote) {
      found.push(el("span", { class: "from system", title: message.from }, "dmp on this machine"));
    } else if (this.isMe(message) && !message.remote) {
      found.push(el("span", { class: "from", title: message.from }, "You"));
    } else {
      found.push(words(message.from, "from"));
    }
    if (message.external) found.push(el("span", { class: "badge outside", title: "from outside the team" }, "external"));
    else if (message.remote) {
      const origin = this.machines.get(message.origin);
      found.push(
        el(
          "span",
          { class: "badge", title: `from another machine: ${message.origin}` },
          "remote: ",
          words(origin === undefined ? message.origin : origin.handle),
        ),
      );
    }
    return found;
  }
}
