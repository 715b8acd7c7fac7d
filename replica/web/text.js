/* Other people's text, made safe to look at: it cannot turn the direction of writing, hide anything, or pass for a line
 * of this page's own. What would act or not be seen is written out, as the commands of `dmp` do it. */

import { el } from "./dom.js";

const BREAKS = /\r\n|[\n\r\u000b\u000c\u0085\u2028\u2029]/g;
const HIDDEN = /(?:(?![\u200c\u200d\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}])+/gu;

const LINES = 40;
const CHARACTERS = 6000;
const PREVIEW = 80;

const written = (run) =>
  Array.from(run, (char) => {
    const point = char.codePointAt(0).toString(16);
    return point.length <= 2 ? `\\x${point.padStart(2, "0")}` : `\\u${point.padStart(4, "0")}`;
  }).join("");

/* A text as nodes; what is hidden in it stands out. */
export function pieces(text) {
  const found = [];
  let at = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (match.index > at) found.push(text.slice(at, match.index));
    found.push(el("span", { class: "hidden-char", title: "a character that is not shown" }, written(match[0])));
    at = match.index + match[0].length;
  }
  if (at < text.length) found.push(text.slice(at));
  return found;
}

/* A text of one line, set apart from what stands around it. */
export const words = (text, kind = "") => el("bdi", { class: kind }, pieces(String(text).replace(BREAKS, " ")));

/* A text of one line with nothing hidden, for titles and labels that take no elements. */
export const plain = (text) => String(text).replace(BREAKS, " ").replace(HIDDEN, written);

export function firstLine(body) {
  const [line] = body.split(BREAKS).map((each) => each.trim()).filter((each) => each !== "");
  const characters = Array.from(line ?? "");
  return characters.length > PREVIEW * 2 ? `${characters.slice(0, PREVIEW * 2 - 1).join("")}…` : (line ?? "");
}

export const counted = (count, thing) => `${count.toLocaleString()} ${thing}${count === 1 ? "" : "s"}`;

/* A body: every line of it behind a bar, which nothing in it can step out of. A long one is cut until somebody asks. */
export function body(text) {
  const lines = text.split(BREAKS);
  const block = el("div", { class: "body", dir: "auto" });
  const whole = lines.join("\n");
  const cut = lines.slice(0, LINES).join("\n").slice(0, CHARACTERS);
  if (cut.length === whole.length) {
    block.append(...pieces(whole));
    return block;
  }
  block.append(...pieces(cut.replace(/[\ud800-\udbff]$/, "")));
  const more = el(
    "button",
    {
      type: "button",
      class: "more",
      on: {
        click: () => {
          block.replaceChildren(...pieces(whole));
          more.remove();
          block.tabIndex = -1;
          block.focus({ preventScroll: true });
        },
      },
    },
    lines.length > LINES ? `Show all ${counted(lines.length, "line")}` : "Show all of it",
  );
  return el("div", { class: "long" }, block, more);
}

/* A JSON value, for reading. */
export const json = (value) => el("pre", { class: "json", dir: "ltr" }, pieces(JSON.stringify(value, null, 2).replace(BREAKS, "\n")));
