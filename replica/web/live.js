/* The socket that says that something is new. It is opened again when it breaks, sooner when somebody looks. After each
 * opening everything is read anew, since what was missed is not told. */

const FIRST_MS = 500;
const LONGEST_MS = 15_000;
const ENDED = 4401;

export class Live extends EventTarget {
  #socket = null;
  #timer = null;
  #wait = FIRST_MS;
  #stopped = true;

  start() {
    this.#stopped = false;
    addEventListener("online", this.#hurry);
    document.addEventListener("visibilitychange", this.#hurry);
    this.#open();
  }

  stop() {
    this.#stopped = true;
    removeEventListener("online", this.#hurry);
    document.removeEventListener("visibilitychange", this.#hurry);
    clearTimeout(this.#timer);
    this.#socket?.close();
    this.#socket = null;
  }

  #tell(type, detail = null) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  #open() {
    clearTimeout(this.#timer);
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/ws`);
    this.#socket = socket;
    socket.addEventListener("open", () => {
      this.#wait = FIRST_MS;
      this.#tell("open");
    });
    socket.addEventListener("message", ({ data }) => {
      let event;
      try {
        event = JSON.parse(data);
      } catch {
        return;
      }
      this.#tell("event", event);
    });
    socket.addEventListener("close", ({ code }) => {
      if (this.#socket !== socket || this.#stopped) return;
      this.#socket = null;
      if (code === ENDED) {
        document.dispatchEvent(new CustomEvent("dmp:signed-out"));
        return;
      }
      const wait = this.#wait * (0.75 + Math.random() / 2);
      this.#wait = Math.min(this.#wait * 2, LONGEST_MS);
      this.#timer = setTimeout(() => this.#open(), wait);
      this.#tell("closed");
    });
  }

  /* Somebody looks, or the network is back: no need to wait for the next try. */
  #hurry = () => {
    if (document.hidden || this.#stopped || this.#socket !== null) return;
    this.#wait = FIRST_MS;
    this.#open();
  };
}
