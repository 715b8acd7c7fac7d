/* Single keys, for whoever wants them: they do nothing while somebody types, and may be turned off. */

const KEPT = "dmp.keys";

const sections = { m: "mail", q: "questions", t: "threads", p: "team", w: "transports", x: "problems", h: "chains" };

export const KEYS = [
  ["g then m, q, t", "Go to mail, questions, threads"],
  ["g then p, w, x, h", "Go to the team, transports, problems, chains"],
  ["j  k", "Next, previous in a list"],
  ["Enter", "Open what is marked"],
  ["u", "Back to the list"],
  ["c", "Write a message"],
  ["r", "Reply, or answer"],
  ["/", "Filter the list"],
  ["Esc", "Leave a field or a dialog"],
  ["?", "This list"],
];

export const enabled = () => {
  try {
    return localStorage.getItem(KEPT) !== "off";
  } catch {
    return true;
  }
};

export function enable(on) {
  try {
    localStorage.setItem(KEPT, on ? "on" : "off");
  } catch {
    /* the browser keeps nothing; then they stay on */
  }
}

const types = (element) =>
  element instanceof HTMLElement &&
  (element.isContentEditable || element.matches("textarea, select, input:not([type=checkbox], [type=radio])"));

/* Calls `act(name)` for each key that means something: `go:mail`, `next`, `previous`, `back`, and so on. */
export function listen(act) {
  const names = { j: "next", k: "previous", u: "back", c: "write", r: "reply", "/": "filter", "?": "help" };
  let going = 0;
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (document.querySelector("dialog[open]")) return;
    if (event.key === "Escape") {
      if (types(event.target)) event.target.blur();
      return;
    }
    if (types(event.target) || !enabled()) return;
    const asked = Date.now() - going < 1500 ? sections[event.key] : undefined;
    going = event.key === "g" ? Date.now() : 0;
    const name = asked === undefined ? names[event.key] : `go:${asked}`;
    if (name !== undefined && act(name)) event.preventDefault();
  });
}

/* Moves the focus along the links of a list; true where there was somewhere to go. */
export function step(list, by) {
  const links = [...list.querySelectorAll("a.row")];
  if (links.length === 0) return false;
  const marked = links.indexOf(document.activeElement);
  const chosen = marked >= 0 ? marked : links.findIndex((each) => each.getAttribute("aria-current") === "true");
  const at = chosen < 0 ? (by > 0 ? 0 : links.length - 1) : Math.min(Math.max(chosen + by, 0), links.length - 1);
  links[at].focus();
  links[at].scrollIntoView({ block: "nearest" });
  return true;
}
