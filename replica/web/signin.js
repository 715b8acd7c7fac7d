/* What is shown to nobody in particular: how to sign in. */

import { post } from "./api.js";
import { faultLine, run } from "./dialog.js";
import { el, unique } from "./dom.js";

/* The code in what somebody pasted: the link as it was printed, or the code alone. */
function codeIn(text) {
  const found = /[?&]code=([^&\s]+)/.exec(text);
  return found === null ? text.trim() : decodeURIComponent(found[1]);
}

export function signIn(command, reason, done) {
  const field = el("input", { type: "password", class: "field", id: unique("code"), autocomplete: "off", required: true, spellcheck: "false", autocapitalize: "none" });
  const problem = faultLine();
  const submit = el("button", { type: "submit", class: "button primary" }, "Sign in");
  const form = el(
    "form",
    { class: "signin-form", "aria-label": "Sign in" },
    el("label", { class: "label", for: field.id }, "Or paste the link, or your token"),
    el("div", { class: "inline" }, field, submit),
    problem,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run(submit, problem, async () => {
      try {
        await post("/api/session", { token: codeIn(field.value) });
      } catch (error) {
        if (error.status !== 401) throw error;
        throw new Error(`This was used already, is too old, or never was good. ${command} prints another link.`);
      }
      await done();
    }, { doing: "Signing in…" });
  });
  return el(
    "div",
    { class: "signin" },
    el("h1", { tabindex: "-1" }, "Sign in"),
    reason === null ? null : el("p", { class: "fault", role: "alert" }, reason),
    el("p", {}, "This page belongs to whoever runs this machine. In a terminal there, run"),
    el("pre", { class: "command" }, command),
    el("p", {}, "and open the link that it prints. It works once, within ten minutes; this browser then stays signed in for thirty days."),
    form,
  );
}
