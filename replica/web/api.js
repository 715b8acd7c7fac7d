/* Asks the host. An answer is what it says; a refusal or silence is an error with a sentence for the reader. */

const READ_MS = 30_000;
const FAR_MS = 180_000;

let csrf = null;
export const signedInWith = (token) => { csrf = token; };

/* The host refused: `field` is the path into what was sent that is at fault (section 10.2). */
export class Refused extends Error {
  constructor(status, code, message, field) {
    super(message);
    this.status = status;
    this.code = code;
    this.field = field ?? null;
  }
}

/* Nobody answered. */
export class Unreachable extends Error {}

async function ask(method, path, { body, key, far = false } = {}) {
  const headers = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (csrf !== null && method !== "GET") headers["X-CSRF-Token"] = csrf;
  if (key !== undefined) headers["Idempotency-Key"] = key;
  let response;
  let text;
  try {
    response = await fetch(path, {
      method, headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store", credentials: "same-origin", redirect: "error", referrerPolicy: "no-referrer",
      signal: AbortSignal.timeout(far ? FAR_MS : READ_MS),
    });
    text = await response.text();
  } catch (error) {
    throw new Unreachable(
      error.name === "TimeoutError"
        ? "It took too long. Look what there is before you try again."
        : "Nobody answers. Is dmp serve running?",
    );
  }
  let value = null;
  if (text !== "") {
    try {
      value = JSON.parse(text);
    } catch {
      throw new Refused(response.status, "unreadable", "The answer was not dmp's. Is this its address?", null);
    }
  }
  if (response.ok) return value;
  const said = value ?? {};
  if (response.status === 401) document.dispatchEvent(new CustomEvent("dmp:signed-out"));
  throw new Refused(response.status, said.code ?? "", said.error ?? `dmp answered ${response.status}.`, said.field);
}

const queried = (path, query) => {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
};

export const get = (path, query) => ask("GET", queried(path, query));
export const post = (path, body, options = {}) => ask("POST", path, { ...options, body });
export const remove = (path) => ask("DELETE", path);
export const part = encodeURIComponent;

/* A key for one send, so that trying again after silence sends nothing twice. */
export function freshKey() {
  return `page-${Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
