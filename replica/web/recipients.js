/* A field for addresses: what is typed becomes an address of a list, with suggestions that the keyboard reaches
 * (the combobox pattern of WAI-ARIA). */

import { button, el, fill, unique } from "./dom.js";
import { plain, words } from "./text.js";

const MOST = 8;
const FORMS = "human:bob, task:…, channel:…";

export class Recipients {
  #suggestions;
  #at = -1;

  /* `suggestions()` gives `[{ address, about }]`. */
  constructor(suggestions, changed) {
    this.#suggestions = suggestions;
    this.changed = changed;
    this.chosen = [];
    this.id = unique("to");
    const listId = unique("suggestions");
    this.options = el("ul", { class: "options", role: "listbox", id: listId, "aria-label": "Suggestions", hidden: true });
    this.input = el("input", {
      type: "text", id: this.id, class: "bare", role: "combobox", autocomplete: "off", autocapitalize: "none", spellcheck: "false",
      "aria-autocomplete": "list", "aria-controls": listId, "aria-expanded": "false", maxlength: 256, placeholder: FORMS,
      on: {
        input: () => this.#suggest(),
        focus: () => this.#suggest(),
        blur: () => { this.#take(); this.#hide(); },
        keydown: (event) => this.#key(event),
      },
    });
    this.chips = el("span", { class: "chips" });
    this.element = el("div", { class: "field tokens", on: { click: (event) => { if (event.target === this.element) this.input.focus(); } } }, this.chips, this.input, this.options);
  }

  get addresses() {
    this.#take();
    return [...this.chosen];
  }

  set addresses(list) {
    this.chosen = [...list];
    this.#draw();
  }

  add(address) {
    const text = address.trim().replace(/,$/, "");
    if (text !== "" && !this.chosen.includes(text)) this.chosen.push(text);
    this.input.value = "";
    this.#draw();
    this.changed();
  }

  /* There are other suggestions now: they are shown to whoever is typing, and has not begun to choose. */
  offer() {
    if (document.activeElement === this.input && this.#at < 0) this.#suggest();
  }

  #take() {
    if (this.input.value.trim() !== "") this.add(this.input.value);
  }

  #drop(address) {
    this.chosen = this.chosen.filter((each) => each !== address);
    this.#draw();
    this.input.focus();
    this.changed();
  }

  #draw() {
    this.input.placeholder = this.chosen.length === 0 ? FORMS : "";
    fill(
      this.chips,
      this.chosen.map((each) => el("span", { class: "chip" }, words(each), button("×", () => this.#drop(each), { class: "chip-off", "aria-label": `Remove ${plain(each)}` }))),
    );
  }

  #suggest() {
    const typed = this.input.value.trim().toLowerCase();
    const rank = ({ address }) => (address.startsWith(typed) || address.split(":")[1].startsWith(typed) ? 0 : 1);
    const found = this.#suggestions()
      .filter(({ address, about }) => !this.chosen.includes(address) && (address.toLowerCase().includes(typed) || about.toLowerCase().includes(typed)))
      .sort((one, other) => rank(one) - rank(other))
      .slice(0, MOST);
    this.#at = -1;
    fill(
      this.options,
      found.map(({ address, about }) =>
        el(
          "li",
          { role: "option", id: unique("option"), "aria-selected": "false", class: "option", on: { pointerdown: (event) => { event.preventDefault(); this.add(address); this.#suggest(); } } },
          words(address), about === "" ? null : el("span", { class: "muted" }, words(about)),
        ),
      ),
    );
    this.options.dataset.addresses = JSON.stringify(found.map((each) => each.address));
    this.options.hidden = found.length === 0;
    this.input.setAttribute("aria-expanded", String(found.length > 0));
    this.input.removeAttribute("aria-activedescendant");
  }

  #hide() {
    this.options.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
  }

  #move(by) {
    const items = [...this.options.children];
    if (items.length === 0) return;
    this.#at = (this.#at + by + items.length + (this.#at < 0 && by < 0 ? 1 : 0)) % items.length;
    items.forEach((each, at) => each.setAttribute("aria-selected", String(at === this.#at)));
    this.input.setAttribute("aria-activedescendant", items[this.#at].id);
    items[this.#at].scrollIntoView({ block: "nearest" });
  }

  #key(event) {
    const { key } = event;
    const open = !this.options.hidden;
    if (key === "ArrowDown" || key === "ArrowUp") {
      event.preventDefault();
      if (!open) this.#suggest();
      this.#move(key === "ArrowDown" ? 1 : -1);
    } else if ((key === "Enter" || key === "," || key === " " || key === "Tab") && (this.#at >= 0 || this.input.value.trim() !== "")) {
      if (event.ctrlKey || event.metaKey) return;
      if (key !== "Tab") event.preventDefault();
      const offered = JSON.parse(this.options.dataset.addresses ?? "[]");
      this.add(open && this.#at >= 0 ? offered[this.#at] : this.input.value);
      this.#hide();
    } else if (key === "Backspace" && this.input.value === "" && this.chosen.length > 0) {
      this.#drop(this.chosen.at(-1));
    } else if (key === "Escape" && open) {
      event.preventDefault();
      this.#hide();
    }
  }
}
