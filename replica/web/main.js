/* The page: who is signed in, which section is shown, and what is new. */

import { get, remove, signedInWith, Unreachable } from "./api.js";
import { open as openDialog } from "./dialog.js";
import { button, el, fill } from "./dom.js";
import * as keys from "./keys.js";
import { Live } from "./live.js";
import { People } from "./people.js";
import { signIn } from "./signin.js";
import { words } from "./text.js";
import { keepRight } from "./time.js";

import { ChainsView } from "./chains.js";
import { ComposeView } from "./compose.js";
import { MailView } from "./mail.js";
import { ProblemsView } from "./problems.js";
import { QuestionsView } from "./questions.js";
import { TeamView } from "./team.js";
import { ThreadsView } from "./threads.js";
import { TransportsView } from "./transports.js";

const SIGN_IN = "dmp web";
const SETTLE_MS = 150;
const APART_MS = 1000;
const COUNTED = 100;

const SECTIONS = [
  ["mail", "Mail", MailView],
  ["questions", "Questions", QuestionsView],
  ["threads", "Threads", ThreadsView],
  ["team", "Team", TeamView],
  ["transports", "Transports", TransportsView],
  ["problems", "Problems", ProblemsView],
  ["chains", "Chains", ChainsView],
  ["write", "Write", ComposeView],
];

const byId = (id) => document.getElementById(id);
const main = byId("main");

class App {
  constructor(session) {
    this.session = session;
    this.people = new People(session);
    this.views = new Map();
    this.view = null;
    this.live = new Live();
    this.links = new Map();
    this.timer = null;
    this.last = 0;
    this.over = false;
  }

  /* Whether who is signed in decides (section 9.2). */
  get mayDecide() {
    return this.session.tier !== "request";
  }

  async start() {
    byId("top").hidden = byId("nav").hidden = false;
    this.#drawFrame();
    this.live.addEventListener("open", () => { this.#reach(true); this.stir(); });
    this.live.addEventListener("closed", () => { this.#reach(false); this.#stillSignedIn(); });
    this.live.addEventListener("event", () => this.stir());
    this.live.start();
    await this.#learn();
    this.route();
    this.#count();
  }

  stop() {
    this.over = true;
    this.live.stop();
    clearTimeout(this.timer);
    byId("top").hidden = byId("nav").hidden = true;
  }

  /* Something may have changed: what is shown is read again, soon and not too often. */
  stir() {
    if (this.timer !== null) return;
    const wait = Math.max(SETTLE_MS, this.last + APART_MS - Date.now());
    this.timer = setTimeout(async () => {
      this.last = Date.now();
      await Promise.allSettled([this.#learn(), this.#count()]);
      await this.view?.refresh();
      this.timer = null;
    }, wait);
  }

  route() {
    const [section, ...rest] = location.hash.replace(/^#\/?/, "").split("/").map((each) => decode(each));
    const found = SECTIONS.find(([name]) => name === section);
    if (found === undefined) {
      location.replace("#/mail");
      return;
    }
    const [name, , View] = found;
    if (!this.views.has(name)) this.views.set(name, new View(this));
    const view = this.views.get(name);
    const another = view !== this.view;
    if (another) {
      this.view?.hide?.();
      this.view = view;
      fill(main, view.element);
      scrollTo(0, 0);
      this.menu(false);
    }
    for (const [each, link] of this.links) link.setAttribute("aria-current", each === name ? "page" : "false");
    view.show(rest);
    if (another) view.refresh();
  }

  act(name) {
    if (name.startsWith("go:")) location.hash = `#/${name.slice(3)}`;
    else if (name === "write") location.hash = "#/write";
    else if (name === "help") help();
    else return this.view?.act?.(name) ?? false;
    return true;
  }

  #drawFrame() {
    const links = SECTIONS.filter(([name]) => name !== "write").map(([name, text]) => {
      const count = el("span", { class: "nav-count", hidden: true });
      const link = el("a", { href: `#/${name}`, class: "nav-link", on: { click: () => this.menu(false) } }, text, count);
      this.links.set(name, link);
      return el("li", {}, link);
    });
    fill(
      byId("nav"),
      el("ul", {}, links),
      el("div", { class: "nav-foot" },
        button("Keyboard", help, { class: "plain" }),
        button("Sign out", () => this.#signOut(), { class: "plain" })),
    );
    fill(byId("who"), el("strong", {}, words(this.session.handle)), el("span", { class: "muted mono" }, words(this.session.replica)));
    byId("menu").onclick = () => this.menu(byId("menu").getAttribute("aria-expanded") !== "true");
    this.#reach(null);
  }

  menu(open) {
    byId("menu").setAttribute("aria-expanded", String(open));
    byId("nav").classList.toggle("open", open);
  }

  async #learn() {
    try {
      this.people.learn((await get("/node/team")).team);
    } catch {
      /* machines are then called by their ids */
    }
  }

  async #count() {
    const [mail, decisions, problems] = await Promise.allSettled([
      get("/api/mailbox", { state: "notified", limit: COUNTED, order: "newest" }),
      get("/api/decisions/open"),
      get("/node/problems"),
    ]);
    if (mail.status === "fulfilled") this.#badge("mail", mail.value.deliveries.length, "unread", mail.value.next !== null);
    if (decisions.status === "fulfilled") {
      const others = decisions.value.decisions.filter(({ message }) => !(message.from === this.people.me && !message.to.includes(this.people.me)));
      this.#badge("questions", others.length, "open");
    }
    if (problems.status === "fulfilled") this.#badge("problems", problems.value.problems.filter((each) => !each.seen).length, "to see");
  }

  #badge(name, count, what, more = false) {
    const badge = this.links.get(name).querySelector(".nav-count");
    badge.hidden = count === 0;
    fill(badge, more ? `${count}+` : String(count), el("span", { class: "only-heard" }, ` ${what}`));
  }

  #reach(reached) {
    const live = byId("live");
    live.className = reached === null ? "live" : reached ? "live good" : "live bad";
    live.textContent = reached === null ? "Connecting" : reached ? "Live" : "Offline";
    live.title = reached === false ? "This page cannot reach dmp. It tries again by itself." : "";
    byId("offline")?.remove();
    if (reached === false) {
      main.before(el("p", { class: "banner", id: "offline", role: "alert" },
        "This page cannot reach ", el("code", {}, "dmp"), ", and shows what it knew. Is ", el("code", {}, "dmp serve"), " running? It tries again by itself."));
    }
  }

  async #stillSignedIn() {
    try {
      await get("/node/session");
    } catch {
      /* a 401 tells everybody by itself; anything else is tried again */
    }
  }

  async #signOut() {
    try {
      await remove("/api/session");
    } catch {
      /* the cookie may be gone already */
    }
    leave("You are signed out.");
  }
}

const decode = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

function help() {
  openDialog("Keyboard", (close) => {
    const on = el("input", { type: "checkbox", id: "keys-on", checked: keys.enabled(), on: { change: (event) => keys.enable(event.target.checked) } });
    return el(
      "div",
      {},
      el("dl", { class: "keys" }, keys.KEYS.map(([key, text]) => el("div", {}, el("dt", {}, el("kbd", {}, key)), el("dd", {}, text)))),
      el("label", { class: "check", for: "keys-on" }, on, "Single keys do something"),
      el("div", { class: "actions" }, button("Close", close, { class: "button primary" })),
    );
  });
}

let app = null;

function leave(reason) {
  app?.stop();
  app = null;
  byId("offline")?.remove();
  document.querySelector("dialog[open]")?.close();
  document.title = "Sign in · dmp";
  const shown = signIn(SIGN_IN, reason, begin);
  fill(main, shown);
  shown.querySelector("h1").focus();
}

async function begin() {
  let session;
  try {
    session = await get("/node/session");
  } catch (error) {
    if (error.status === 401) leave(null);
    else if (error.status === 403) leave(error.message);
    else silent(error);
    return;
  }
  signedInWith(session.csrf);
  fill(main);
  app = new App(session);
  await app.start();
}

function silent(error) {
  document.title = "dmp";
  fill(main, el("div", { class: "signin" },
    el("h1", { tabindex: "-1" }, error instanceof Unreachable ? "dmp does not answer" : "Something went wrong"),
    el("p", { class: "fault", role: "alert" }, error.message),
    el("p", {}, "Start it with ", el("code", {}, "dmp serve"), " on this machine, then try again."),
    button("Try again", begin, { class: "button primary" })));
}

document.addEventListener("dmp:signed-out", () => {
  if (app !== null) leave("This browser is signed in no more.");
});
addEventListener("hashchange", () => app?.route());
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && byId("nav").classList.contains("open")) {
    app?.menu(false);
    byId("menu").focus();
  }
});
main.addEventListener("pointerdown", () => app?.menu(false));
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
keys.listen((name) => app?.act(name) ?? false);
keepRight();
begin();
