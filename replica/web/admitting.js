/* Letting a machine in, and putting one out: both stand for good, so neither is one click away. */

import { post } from "./api.js";
import { cancel, faultLine, open, run, say } from "./dialog.js";
import { el, fill, unique } from "./dom.js";
import { compare, grouped } from "./fingerprints.js";
import { plain, words } from "./text.js";

const SAID = {
  empty: ["", "Type what its owner reads out to you. Both must be the same."],
  "so-far": ["", "The same so far."],
  matches: ["good", "They match. If it was its owner who read it out, you may admit the machine."],
  differs: ["bad", "They differ. Do not admit this machine: ask its owner to read it once more, and if it still differs, somebody else’s key is in the way."],
};

/* Admits a waiting machine once its owner's word and its key are the same. The key it claims is not shown here, so that
 * what is typed can only come from elsewhere. */
export function admit(claim, done) {
  open("Admit a machine", (close) => {
    const typed = el("input", {
      type: "text", class: "field mono fingerprint-field", id: unique("fingerprint"), autocomplete: "off", autocapitalize: "characters", spellcheck: "false",
      maxlength: 60, placeholder: "XXXX-XXXX-XXXX-XXXX-XXXX-XXXX", "aria-describedby": "compared",
    });
    const compared = el("p", { class: "compared", id: "compared", role: "status" }, SAID.empty[1]);
    const asked = el("input", { type: "checkbox", id: unique("asked") });
    const role = el("select", { class: "field", id: unique("role") }, el("option", { value: "member" }, "member"), el("option", { value: "admin" }, "admin: may let in and put out others"));
    const problem = faultLine();
    const submit = el("button", { type: "submit", class: "button primary", disabled: true }, "Admit");
    const look = () => {
      const found = compare(typed.value, claim.fingerprint);
      const [kind, text] = SAID[found];
      compared.className = `compared ${kind}`;
      fill(compared, text);
      submit.disabled = !(found === "matches" && asked.checked);
    };
    const form = el(
      "form",
      { on: { input: look, change: look } },
      el("p", {}, "A machine that calls itself ", words(claim.device), " asks to be let in as a machine of ", el("strong", {}, words(claim.handle)), ". Both are only its own words; its fingerprint is what tells."),
      el("p", {}, "Have ", words(claim.handle), " read out, by voice or in person, what ", el("code", {}, "dmp team fingerprint"), " shows there."),
      el("label", { class: "label", for: typed.id }, "The fingerprint, as its owner reads it"),
      typed, compared,
      el("label", { class: "check", for: asked.id }, asked, el("span", {}, "I heard it from ", words(claim.handle), ", and not from a message in this mailbox")),
      el("label", { class: "label", for: role.id }, "It becomes"),
      role, problem,
      el("div", { class: "actions" }, submit, cancel(close)),
    );
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (submit.disabled) return;
      const went = await run(submit, problem, () =>
        post(`/node/team/admit`, { replica: claim.replica, fingerprint: grouped(typed.value), role: role.value }, { far: true }), { doing: "Admitting…" });
      if (went) {
        close();
        say(`${plain(claim.handle)}’s machine is admitted.`);
        done();
      }
    });
    return form;
  });
}

/* Puts a machine out of the team. */
export function revoke(member, mine, done) {
  open("Revoke a machine", (close) => {
    const reason = el("input", { type: "text", class: "field", id: unique("reason"), maxlength: 500, required: true, autocomplete: "off", dir: "auto", placeholder: "laptop lost" });
    const sure = el("input", { type: "checkbox", id: unique("sure") });
    const problem = faultLine();
    const submit = el("button", { type: "submit", class: "button danger", disabled: true }, "Revoke");
    const form = el(
      "form",
      { on: { input: () => { submit.disabled = !(sure.checked && reason.value.trim() !== ""); } } },
      el("p", {}, el("strong", {}, words(member.handle), "’s ", words(member.device ?? "machine")), " ", el("span", { class: "mono muted" }, words(member.replica))),
      mine ? el("p", { class: "fault" }, "This is the machine that you look at now. It takes part in the team no more after this.") : null,
      el("ul", { class: "plain-list" },
        el("li", {}, "Nothing more is sealed to it, and nothing that it says from here on counts."),
        el("li", {}, "It keeps what it has received. Take away its access to the repository too."),
        el("li", {}, "It never comes back under this name; its owner joins with a new one.")),
      el("label", { class: "label", for: reason.id }, "Why? The whole team can read it"),
      reason,
      el("label", { class: "check", for: sure.id }, sure, "I mean this machine, and know that this cannot be undone"),
      problem,
      el("div", { class: "actions" }, submit, cancel(close)),
    );
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (submit.disabled) return;
      const went = await run(submit, problem, () =>
        post(`/node/team/revoke`, { replica: member.replica, reason: reason.value.trim() }, { far: true }), { doing: "Revoking…" });
      if (went) {
        close();
        say("Revoked.");
        done();
      }
    });
    return form;
  });
}
