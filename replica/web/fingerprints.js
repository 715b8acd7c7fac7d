/* Fingerprints: six groups of four, as they are shown and as people read them out. */

const LENGTH = 24;
const MISREAD = { O: "0", I: "1", L: "1" };

/* What somebody typed, without what is only for the eye: in either case, with dashes or without. */
const compact = (text) =>
  Array.from(text.toUpperCase().replace(/[\s\-–—.,]/g, ""), (char) => MISREAD[char] ?? char).join("");

/* How far a typed fingerprint goes along with the right one. */
export function compare(typed, right) {
  const said = compact(typed);
  const wanted = compact(right);
  if (said === "") return "empty";
  if (!wanted.startsWith(said.slice(0, LENGTH))) return "differs";
  if (said.length > LENGTH) return "differs";
  return said.length === LENGTH ? "matches" : "so-far";
}

export const grouped = (text) => compact(text).match(/.{1,4}/g)?.join("-") ?? "";
