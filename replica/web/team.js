/* The team: people and their machines, and who waits at the door. */

import { get } from "./api.js";
import { admit, revoke } from "./admitting.js";
import { fault, faultLine } from "./dialog.js";
import { button, el, fill, keep, signOf } from "./dom.js";
import { counted, words } from "./text.js";
import { when } from "./time.js";

export class TeamView {
  constructor(app) {
    this.app = app;
    this.problem = faultLine();
    this.title = el("h1", {}, "Team");
    this.lead = el("p", { class: "lead" });
    this.waiting = el("section", { class: "waiting", "aria-label": "Waiting to be admitted", hidden: true });
    this.claims = el("div", { class: "cards" });
    this.waiting.append(el("h2", {}, "Waiting to be admitted"), this.claims);
    this.members = el("div", { class: "cards grid" });
    this.revoked = el("section", { "aria-label": "Revoked machines", hidden: true });
    this.element = el("div", { class: "page" }, this.title, this.lead, this.problem, this.waiting, this.members, this.revoked);
  }

  show() {
    document.title = "Team · dmp";
  }

  async refresh() {
    let found;
    try {
      found = await get("/node/team");
    } catch (error) {
      fault(this.problem, error);
      return;
    }
    fault(this.problem, null);
    const { team, pending, me } = found;
    this.app.people.learn(team);
    if (team === null) {
      fill(this.lead, "This machine is in no team yet. In a terminal, ", el("code", {}, "dmp team found"), " founds one, and ", el("code", {}, "dmp join"), " joins one. Its fingerprint is ", fingerprint(me.fingerprint), ".");
      return;
    }
    fill(this.title, words(team.name));
    fill(
      this.lead,
      counted(team.members.length, "machine"), " of ", team.people.length === 1 ? "1 person" : `${team.people.length} people`,
      team.syncedAt === null ? "; not synced yet" : ["; synced ", when(team.syncedAt)],
    );
    this.waiting.hidden = pending.length === 0;
    const admin = team.members.find((each) => each.replica === this.app.session.replica)?.role === "admin";
    keep(this.claims, pending.map((each) => ({ key: `${each.replica} ${each.fingerprint}`, sign: signOf([each, admin]), make: () => this.#claim(each, admin) })));
    keep(this.members, team.members.map((each) => ({ key: each.replica, sign: signOf([each, admin, team.founder]), make: () => this.#member(each, admin, team.founder) })));
    this.revoked.hidden = team.revoked.length === 0;
    if (team.revoked.length > 0) {
      fill(this.revoked, el("h2", {}, "Revoked"), el("ul", { class: "plain-list" }, team.revoked.map((each) =>
        el("li", {}, words(each.handle ?? each.replica), " ", words(each.replica, "mono muted"), " by ", this.app.people.machine(each.by), ": “", words(each.reason), "”"))));
    }
  }

  #claim(claim, admin) {
    return el(
      "article",
      { class: "card pending", "aria-label": `A machine of ${claim.handle} waits` },
      el("h3", {}, words(claim.handle), el("span", { class: "muted" }, " on "), words(claim.device)),
      el("p", { class: "mono muted" }, words(claim.replica)),
      fingerprint(claim.fingerprint),
      el("p", { class: "hint" }, claim.by === null ? "Nobody invited it. Handle and device are what it says of itself." : ["Invited by ", words(claim.by), ", whose machine admits it by itself when it syncs."]),
      admin
        ? el("div", { class: "actions" }, button("Compare and admit…", () => admit(claim, () => this.#again()), { class: "button primary" }))
        : el("p", { class: "hint" }, "An admin admits it, once its owner has read out the fingerprint."),
    );
  }

  #member(member, admin, founder) {
    const mine = member.replica === this.app.session.replica;
    const badges = [
      mine ? "this machine" : null,
      member.observer ? "observer: reads all mail" : member.role === "admin" ? `admin ${member.rank + 1}` : null,
      member.replica === founder ? "founder" : null,
      member.recovered ? "let itself in by the recovery code" : null,
    ];
    return el(
      "article",
      { class: mine ? "card member mine" : "card member", "aria-label": `${member.handle}, ${member.device ?? member.replica}` },
      el("h3", {}, words(member.handle), el("span", { class: "muted" }, " on "), words(member.device ?? "a machine")),
      el("p", { class: "marks" }, badges.filter((each) => each !== null).map((each) => el("span", { class: "badge" }, each))),
      el(
        "dl",
        { class: "facts" },
        fact("Replica", words(member.replica, "mono")),
        fact("Fingerprint", fingerprint(member.fingerprint)),
        member.hosts.length > 0 ? fact("Stands in for", member.hosts.flatMap((each, at) => (at > 0 ? [", ", words(each)] : [words(each)]))) : null,
        fact("Last heard", mine ? "this is it" : member.lastHeard === null ? "never" : when(member.lastHeard)),
      ),
      admin ? el("div", { class: "actions end" }, button("Revoke…", () => revoke(member, mine, () => this.#again()), { class: "button small quiet" })) : null,
    );
  }

  async #again() {
    await this.refresh();
    this.app.stir();
  }
}

export const fact = (name, ...value) => el("div", { class: "fact" }, el("dt", {}, name), el("dd", {}, value));

const fingerprint = (text) => el("span", { class: "fingerprint mono", role: "text" }, String(text).split("-").map((group) => el("span", {}, group)).flatMap((group, at) => (at > 0 ? ["-", group] : [group])));
