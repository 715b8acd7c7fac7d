/* Times in the reader's zone: short where they stand, exact under the pointer, and right after midnight too, since days
 * are counted by the calendar and every one of them is looked at again as time goes on. */

import { el } from "./dom.js";

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const weekday = new Intl.DateTimeFormat(undefined, { weekday: "short", hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const year = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const exact = new Intl.DateTimeFormat(undefined, {
  weekday: "long", day: "numeric", month: "long", year: "numeric",
  hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short",
});

/* The number of a day in the reader's calendar: it does not matter that some have 23 or 25 hours. */
const dayOf = (date) => Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / 86_400_000;

export function shortly(date, now = new Date()) {
  const seconds = (now - date) / 1000;
  const days = dayOf(now) - dayOf(date);
  if (seconds >= -5 && seconds < 60) return "just now";
  if (seconds >= 60 && seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (days === 0) return clock.format(date);
  if (days === 1) return `yesterday, ${clock.format(date)}`;
  if (days > 1 && days < 7) return weekday.format(date);
  return now.getFullYear() === date.getFullYear() && days > 0 ? day.format(date) : year.format(date);
}

export function when(timestamp) {
  const date = new Date(timestamp);
  if (Number.isNaN(date.getTime())) return el("span", {}, "at an unknown time");
  return el(
    "time",
    { datetime: timestamp, title: `${exact.format(date)} (${timestamp})` },
    shortly(date),
  );
}

export function again(root = document, now = new Date()) {
  for (const element of root.querySelectorAll("time[datetime]")) {
    const text = shortly(new Date(element.dateTime), now);
    if (element.textContent !== text) element.textContent = text;
  }
}

/* Looks again as each minute begins, midnight's first one too, and when the page comes back into sight. */
export function keepRight() {
  const next = () => setTimeout(() => { again(); next(); }, 60_050 - (Date.now() % 60_000));
  next();
  document.addEventListener("visibilitychange", () => { if (!document.hidden) again(); });
}
