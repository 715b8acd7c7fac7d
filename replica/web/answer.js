/* Answering a question, deciding a gate, replying: one form for each message that takes one. */

import { freshKey, part, post } from "./api.js";
import { faultLine, run, say } from "./dialog.js";
import { el, unique } from "./dom.js";
import { pieces } from "./text.js";

export const takesAnswer = (message) => message.kind === "question" || message.kind === "handoff";

const hasGateData = ({ data }) =>
  data !== null && typeof data === "object" && !Array.isArray(data) && typeof data.type === "string" && !data.type.startsWith("x-");

/* Whether only a choice answers it (section 4.7): a handoff, and what asks for a decision. */
const mustChoose = (message) => (message.choices?.length ?? 0) > 0 && (message.kind === "handoff" || hasGateData(message));

/* The form that answers or replies to a message; `done(sent)` is told when it went. */
export function answerForm(message, done, { answering = takesAnswer(message) } = {}) {
  const choices = answering ? (message.choices ?? []) : [];
  const gate = answering && hasGateData(message);
  const need = answering && mustChoose(message);
  const name = unique("choice");
  const text = el("textarea", {
    rows: choices.length > 0 ? 2 : 4, maxlength: 65536, id: unique("text"), class: "field", dir: "auto", "data-reply": "",
  });
  const radios = choices.map((choice) => {
    const input = el("input", { type: "radio", name, value: choice, id: unique("radio") });
    return el("label", { class: "choice", for: input.id }, input, el("bdi", {}, pieces(choice)));
  });
  const problem = faultLine();
  const verb = gate ? "Decide" : answering ? "Answer" : "Send reply";
  const submit = el("button", { type: "submit", class: "button primary" }, verb);
  let key = freshKey();
  const form = el(
    "form",
    { class: "answer", "aria-label": gate ? "Decide" : answering ? "Answer" : "Reply" },
    radios.length > 0 ? el("fieldset", { class: "choices" }, el("legend", {}, need ? "Your choice" : "A choice, if one fits"), radios) : null,
    el("label", { class: "label", for: text.id }, radios.length > 0 ? "In your words (may be left out)" : answering ? "Your answer" : "Reply"),
    text,
    problem,
    el("div", { class: "actions" }, submit, el("span", { class: "hint" }, "Ctrl+Enter sends")),
  );
  const chosen = () => form.querySelector(`input[name="${name}"]:checked`)?.value;
  form.addEventListener("input", () => { key = freshKey(); });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run(submit, problem, async () => {
      const choice = chosen();
      if (need && choice === undefined) throw new Error("Choose one of the answers first.");
      if (choice === undefined && text.value.trim() === "") throw new Error(radios.length > 0 ? "Choose an answer, or write one." : "Write something first.");
      const sent = await post(
        `/api/messages/${part(message.id)}/reply`,
        choice === undefined ? { body: text.value } : { body: text.value, choice },
        { key },
      );
      key = freshKey();
      form.reset();
      say(gate ? "Decided." : answering ? "Answered." : "Sent.");
      done(sent);
    });
  });
  return form;
}
