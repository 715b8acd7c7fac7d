/* The ops of every chain, read page by page, the newest first, as the lanes draw them. Of what grew since, only what is
 * new is read. */

import { get, part } from "./api.js";

const PAGE = 5000;
const MOST = 250_000;
const STUB = 2;
const PAST_CUT = 4;

export class ChainData {
  constructor() {
    this.chains = [];
    this.read = new Map();
    this.types = new Map();
    this.lists = new Map([["[]", 0]]);
  }

  get total() {
    return this.chains.reduce((sum, each) => sum + each.count, 0);
  }

  get held() {
    return [...this.read.values()].reduce((sum, each) => sum + each.seq.length, 0);
  }

  /* Reads what there is to read; `shown()` is called as it comes, and says whether to go on. */
  async load(shown) {
    this.chains = (await get("/node/chains")).chains;
    for (const chain of this.chains) {
      const known = this.read.get(chain.replica);
      // A chain that was taken back to an earlier op, or that lost old ones, is read anew.
      if (known !== undefined && (chain.last < known.upTo || chain.first > known.from)) this.read.delete(chain.replica);
    }
    for (const chain of this.chains) await this.#newer(chain);
    if (!shown()) return;
    let more = true;
    while (more && this.held < MOST) {
      more = false;
      for (const chain of this.chains) {
        if ((await this.#older(chain)) && this.held < MOST) {
          more = true;
          if (!shown()) return;
        }
      }
    }
  }

  async #newer(chain) {
    let known = this.read.get(chain.replica);
    if (known === undefined) {
      const from = Math.max(chain.first, chain.last - PAGE + 1);
      known = { from, upTo: from - 1, seq: [], ms: [], type: [], stub: [], to: [], links: [] };
      this.read.set(chain.replica, known);
    }
    while (known.upTo < chain.last) {
      const page = await this.#page(chain.replica, known.upTo + 1);
      this.#put(known, page, page.seqs.length, true);
      known.upTo = page.next === null ? Math.max(chain.last, page.seqs.at(-1) ?? 0) : page.next - 1;
    }
  }

  async #older(chain) {
    const known = this.read.get(chain.replica);
    if (known.from <= chain.first) return false;
    const from = Math.max(chain.first, known.from - PAGE);
    const page = await this.#page(chain.replica, from);
    const end = page.seqs.findIndex((seq) => seq >= known.from);
    this.#put(known, page, end < 0 ? page.seqs.length : end, false);
    known.from = from;
    return true;
  }

  #page(replica, from) {
    return get(`/node/chains/${part(replica)}/ops`, { from, limit: PAGE });
  }

  #put(known, page, count, after) {
    const types = page.typeNames.map((name) => numberOf(this.types, name));
    const lists = page.recipientLists.map((list) => numberOf(this.lists, JSON.stringify(list)));
    const taken = {
      seq: page.seqs.slice(0, count),
      ms: page.times.slice(0, count),
      type: page.types.slice(0, count).map((each) => types[each]),
      stub: page.stubs.slice(0, count),
      to: page.recipients.slice(0, count).map((each) => lists[each]),
      links: page.links.filter((link) => count === page.seqs.length || link.seq < page.seqs[count]),
    };
    for (const name of Object.keys(taken)) {
      known[name] = after ? known[name].concat(taken[name]) : taken[name].concat(known[name]);
    }
  }

  /* What `lanes.js` draws. */
  drawing() {
    const at = new Map(this.chains.map((chain, index) => [chain.replica, index]));
    const found = {
      types: [...this.types.keys()],
      to: [...this.lists.keys()].map((text) => JSON.parse(text).filter((each) => at.has(each)).map((each) => at.get(each))),
      lanes: [], links: [], forks: [], halts: [], cuts: [],
    };
    this.chains.forEach((chain, lane) => {
      const known = this.read.get(chain.replica) ?? { seq: [], ms: [], type: [], stub: [], to: [], links: [] };
      const cut = chain.cut ?? Infinity;
      found.lanes.push({
        replica: chain.replica,
        handle: chain.handle ?? chain.replica,
        status: chain.standing,
        ops: {
          seq: differences(known.seq),
          ms: differences(known.ms),
          type: known.type,
          grade: known.seq.map((seq, index) => (known.stub[index] ? STUB : 0) + (seq > cut ? PAST_CUT : 0)),
          to: known.to,
        },
      });
      for (const link of known.links) {
        if (at.has(link.replica)) found.links.push({ kind: link.kind, from: [lane, link.seq], to: [at.get(link.replica), link.toSeq] });
      }
      if (chain.cut !== null) found.cuts.push({ lane, seq: chain.cut });
      if (chain.fork !== null) {
        found.forks.push({ lane, seq: chain.fork.seq, text: "its key signed two histories", ops: chain.fork.rivals.map((each) => ({ ...each, ms: each.ms ?? timeAt(known, each.seq) })) });
      } else if (chain.halted !== null) {
        found.halts.push({ lane, seq: chain.halted.seq, kind: chain.halted.reason, text: chain.halted.text });
      }
    });
    return found;
  }
}

function numberOf(map, name) {
  if (!map.has(name)) map.set(name, map.size);
  return map.get(name);
}

const differences = (column) => column.map((value, index) => (index === 0 ? value : value - column[index - 1]));

function timeAt(known, seq) {
  const index = known.seq.findIndex((each) => each >= seq);
  return known.ms[index < 0 ? known.ms.length - 1 : index] ?? 0;
}
