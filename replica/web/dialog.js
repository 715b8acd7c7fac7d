/* Dialogs, and what an action shows while it runs and when it fails. */

import { button, el, fill, unique } from "./dom.js";
import { Unreachable } from "./api.js";
import { plain } from "./text.js";

/* Opens a dialog; its value is `close`. The focus comes back to where it was. */
export function open(title, build) {
  const from = document.activeElement;
  const heading = unique("dialog");
  const dialog = el("dialog", { class: "dialog", "aria-labelledby": heading });
  const close = () => dialog.close();
  dialog.append(el("h2", { id: heading }, title), build(close));
  dialog.addEventListener("close", () => {
    dialog.remove();
    from?.focus?.();
  });
  document.body.append(dialog);
  dialog.showModal();
  return close;
}

/* What went wrong, in the place it went wrong. */
export function fault(element, error) {
  // Where nobody answers, the banner says so for all that is shown (`style.css`).
  element.toggleAttribute("data-silence", error instanceof Unreachable);
  if (error === null) {
    fill(element);
    element.hidden = true;
    return;
  }
  if (!(error instanceof Error) || error instanceof TypeError) console.error(error);
  const said = plain(error.message || String(error));
  const begun = /^(?!dmp )[a-z]+[ ,']/.test(said) ? `${said.slice(0, 1).toUpperCase()}${said.slice(1)}` : said;
  fill(element, /[.!?]$/.test(begun) ? begun : `${begun}.`);
  element.hidden = false;
}

export const faultLine = () => el("p", { class: "fault", role: "alert", hidden: true });

/* Runs an action once at a time: its button waits, and an error is shown at `place`. True where it went well. */
export async function run(control, place, action, { doing = null } = {}) {
  if (control.getAttribute("aria-busy") === "true") return false;
  const text = control.textContent;
  control.setAttribute("aria-busy", "true");
  control.disabled = true;
  if (doing !== null) control.textContent = doing;
  fault(place, null);
  try {
    await action();
    return true;
  } catch (error) {
    fault(place, error);
    place.removeAttribute("data-silence");
    return false;
  } finally {
    control.removeAttribute("aria-busy");
    control.disabled = false;
    control.textContent = text;
  }
}

/* A short word that something was done. */
export function say(text) {
  const note = el("p", { class: "toast" }, text);
  document.getElementById("notes").replaceChildren(note);
  setTimeout(() => note.remove(), 5000);
}

export const cancel = (close) => button("Cancel", close, { class: "button" });
