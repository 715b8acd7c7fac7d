/* Builds elements. Whatever text comes in becomes text: nothing in this page reads markup, so none can be smuggled in.
 *
 *   el("p", { class: "note" }, "From ", address)
 *
 * Attributes are of the few that cannot do anything by themselves, and links lead nowhere but into this page. */

const ATTRIBUTES = new Set([
  "class", "id", "type", "name", "value", "for", "role", "tabindex", "title", "dir", "lang", "placeholder", "rows",
  "maxlength", "autocomplete", "autocapitalize", "spellcheck", "datetime", "hidden", "disabled", "required", "checked",
  "open", "selected", "inputmode", "scope", "enterkeyhint", "multiple", "readonly", "colspan",
]);

export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    } else if (name === "href") {
      if (!/^#\//.test(value)) throw new TypeError("a link leads into this page");
      made.setAttribute("href", value);
    } else if (!(ATTRIBUTES.has(name) || /^(aria|data)-[a-z-]+$/.test(name))) {
      throw new TypeError(`no attribute ${name} here`);
    } else if (value === true) {
      made.setAttribute(name, "");
    } else if (value !== false && value !== null && value !== undefined) {
      made.setAttribute(name, String(value));
    }
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export const button = (text, act, attributes = {}) =>
  el("button", { type: "button", ...attributes, on: { click: act } }, text);

export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

let last = 0;
export const unique = (prefix) => `${prefix}-${++last}`;

/* Makes a list's elements those of `entries`, each `{ key, sign, make }`: what has the same key and sign stays as it
 * is, with whatever a person is typing there. */
export function keep(list, entries) {
  const known = new Map([...list.children].map((child) => [child.dataset.key, child]));
  const held = document.activeElement;
  const focused = list.contains(held) ? held.closest("[data-key]")?.dataset.key : null;
  const wanted = entries.map(({ key, sign, make }) => {
    const old = known.get(key);
    if (old !== undefined && old.dataset.sign === sign) return old;
    const made = make();
    made.dataset.key = key;
    made.dataset.sign = sign;
    return made;
  });
  const stay = new Set(wanted);
  for (const child of [...list.children]) if (!stay.has(child)) child.remove();
  wanted.forEach((child, at) => {
    if (list.children[at] !== child) list.insertBefore(child, list.children[at] ?? null);
  });
  if (focused && !list.contains(document.activeElement)) {
    const again = wanted.find((child) => child.dataset.key === focused);
    (again?.matches("a,button,[tabindex]") ? again : again?.querySelector("a,button,[tabindex]"))?.focus({ preventScroll: true });
  }
  return wanted;
}

/* A short text that tells whether something changed. */
export function signOf(value) {
  const text = JSON.stringify(value);
  let hash = 5381;
  for (let at = 0; at < text.length; at += 1) hash = (Math.imul(hash, 33) ^ text.charCodeAt(at)) >>> 0;
  return `${text.length}.${hash}`;
}
