// The chains of a team over time: one lane a replica, one mark an op.
//
//   const lanes = new Lanes(element, data, {open: ({replica, seq, hash}) => …});
//   lanes.update(data)              show other data, such as what came since; where one looks stays
//   lanes.go(replica, seq)          put the cursor on an op, and show it
//   lanes.select(lane, index)       the same by the lane's place in the data and the op's place in the lane
//   lanes.fit()                     show everything
//   lanes.stop()                    let go of the element
//
// `open` is called for the op under the cursor (Enter, or a click on its mark). `hash` is there for an op that is not on
// its chain: a rival at a fork. The data is plain JSON, the same as `replica.audit.drawing` writes:
//
//   types   names of op types, such as "mail"
//   to      lists of lanes (indexes): whom ops are sealed to; the first list is empty
//   lanes   [{replica, handle, status, ops: {seq, ms, type, grade, to}}], each member of ops a column, in chain order:
//             seq, ms    differences to the one before, the first to 0; ms is the op's clock, since 1970
//             type       index into `types`
//             grade      1: the line repeats a key; 2: a stub; 4: past its replica's cut; added up
//             to         index into the lists of `to`
//   links   [{kind, from: [lane, seq], to: [lane, seq or null]}]: what an op refers to, "forward", "reply", "answer",
//           "acknowledgement", "admit", "revoke" and so on; null is the lane as such
//   forks   [{lane, seq, text, ops: [{seq, ms, type, hash}]}]: where two histories part, and the ops that claim the place
//   halts   [{lane, seq or null, kind, text}]: where and why a chain goes no further; null is its end
//   cuts    [{lane, seq}]: the last op that a revocation leaves standing
//
// Nothing in it is ever read as markup: text goes to the canvas, or into text nodes.

const BUCKET = 7; // pixels of time that one mark takes; more ops there become one bar
const MOST_LINKS = 3000; // links drawn in one frame
const TABLE_ROWS = 100;
const GRADE = { repeated: 1, stub: 2, cut: 4 };

// Okabe and Ito's colours, which people tell apart however they see colours; light, then dark.
const COLOURS = {
  key: ["#b87700", "#ffb733"],
  roster: ["#c24400", "#ff8a4c"],
  mail: ["#0060a8", "#5eb3f2"],
  state: ["#2f8fc4", "#9ad6f7"],
  task: ["#007a59", "#2fd0a2"],
  presence: ["#6f6f6f", "#a9a9a9"],
  agent: ["#a84a7e", "#eb9fca"],
  channel: ["#857900", "#f0e442"],
  memory: ["#5a4bb0", "#b3a8ff"],
  doc: ["#7a4a2b", "#d9a982"],
};
const OTHER_COLOUR = ["#3d3d3d", "#d5d5d5"];
const SHAPES = { key: "diamond", roster: "square", mail: "circle", state: "dot", task: "up", doc: "down" };

const THEME = {
  light: { line: "#b9b9b9", faint: "#e6e6e6", text: "#202020", bad: "#b00020", link: "#8a8a8a", cursor: "#000000" },
  dark: { line: "#5c5c5c", faint: "#333333", text: "#ececec", bad: "#ff6b81", link: "#8f8f8f", cursor: "#ffffff" },
};

/** The first index whose value is at least `value`, in a column that rises. */
function firstAtLeast(column, value) {
  let low = 0;
  let high = column.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (column[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A column of differences as the values they stand for. */
function summed(differences) {
  const column = new Float64Array(differences.length);
  let sum = 0;
  for (let index = 0; index < differences.length; index += 1) {
    sum += differences[index];
    column[index] = sum;
  }
  return column;
}

function made(name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

function clamp(value, low, high) {
  return Math.min(high, Math.max(low, value));
}

/** A time in the reader's own zone, to the second; finer where `fine`. */
function moment(ms, fine) {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return String(ms);
  const two = (number) => String(number).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return fine ? `${day} ${time}.${String(date.getMilliseconds()).padStart(3, "0")}` : `${day} ${time}`;
}

// Text of others must not turn the direction of what stands beside it, nor be hidden.
function shown(text) {
  return String(text).replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, "\ufffd");
}

class Lanes {
  constructor(element, data, { open = () => {} } = {}) {
    this.element = element;
    this.open = open;
    this.frameMs = 0; // what the last frame took, in milliseconds
    this.frames = 0;
    this.cursor = null; // {lane, index} of an op on its chain, or {lane, fork, rival}
    this._pointers = new Map();
    this._wanted = 0;
    this._abort = new AbortController();
    this._build();
    this._listen();
    this.update(data);
  }

  // What is shown

  update(data) {
    const first = this.data === undefined;
    const atEnd = !first && this.to >= this.last;
    const place = this.cursor && this.current();
    this.data = data;
    this.lanes = data.lanes.map((lane) => ({
      replica: lane.replica,
      name: shown(lane.handle || lane.replica),
      status: lane.status,
      seq: summed(lane.ops.seq),
      ms: summed(lane.ops.ms),
      type: Uint8Array.from(lane.ops.type),
      grade: Uint8Array.from(lane.ops.grade),
      to: Uint16Array.from(lane.ops.to),
      cut: null,
      faults: [],
      rivals: [],
    }));
    for (const { lane, seq } of data.cuts) if (this.lanes[lane]) this.lanes[lane].cut = this._time(lane, seq);
    for (const halt of data.halts) this.lanes[halt.lane]?.faults.push({ ...halt, ms: this._time(halt.lane, halt.seq) });
    for (const fork of data.forks) {
      const lane = this.lanes[fork.lane];
      if (!lane) continue;
      lane.faults.push({ ...fork, kind: "fork", ms: fork.ops[0]?.ms ?? this._time(fork.lane, fork.seq) });
      lane.rivals.push(...fork.ops);
    }
    for (const lane of this.lanes) lane.rivals.sort((one, other) => one.ms - other.ms);
    this.links = [];
    for (const link of data.links) {
      const [fromLane, fromSeq] = link.from;
      const [toLane, toSeq] = link.to;
      if (!this.lanes[fromLane] || !this.lanes[toLane]) continue;
      const from = this._time(fromLane, fromSeq);
      const to = toSeq === null ? from : this._time(toLane, toSeq);
      this.links.push({ kind: link.kind, fromLane, toLane, from, to, fromSeq, toSeq });
    }
    this._measure();
    this._count = this.lanes.reduce((sum, lane) => sum + lane.seq.length, 0);
    this._legend();
    const whole = (this.last - this.first) * 1.04 || 1000;
    if (first) this.fit();
    else if (atEnd) [this.from, this.to] = [this.last - (this.to - this.from), this.last];
    this._limit = whole * 1.25;
    this.cursor = null;
    if (place) this._find(place.replica, place.seq);
    this._resize();
  }

  fit() {
    const whole = this.last - this.first || 1000;
    this.from = this.first - whole * 0.02;
    this.to = this.last + whole * 0.02;
    this._draw();
  }

  go(replica, seq) {
    if (this._find(replica, seq)) this._reveal();
  }

  select(lane, index) {
    if (!this.lanes[lane] || !(index >= 0 && index < this.lanes[lane].seq.length)) return;
    this.cursor = { lane, index };
    this._reveal();
  }

  /** The op under the cursor, as `open` is told of it; null where there is none. */
  current() {
    const { cursor } = this;
    if (cursor === null) return null;
    const lane = this.lanes[cursor.lane];
    if (cursor.rival !== undefined) {
      const { seq, hash } = lane.rivals[cursor.rival];
      return { replica: lane.replica, seq, hash };
    }
    return { replica: lane.replica, seq: lane.seq[cursor.index] };
  }

  stop() {
    this._abort.abort();
    this._watcher.disconnect();
    cancelAnimationFrame(this._wanted);
    this.element.replaceChildren();
  }

  _find(replica, seq) {
    const lane = this.lanes.findIndex((each) => each.replica === replica);
    if (lane < 0) return false;
    const index = firstAtLeast(this.lanes[lane].seq, seq);
    if (this.lanes[lane].seq[index] !== seq) return false;
    this.cursor = { lane, index };
    return true;
  }

  /** The time of an op, or of the end of its lane. */
  _time(at, seq) {
    const lane = this.lanes[at];
    if (!lane || !lane.ms.length) return null;
    if (seq === null) return lane.ms[lane.ms.length - 1];
    return lane.ms[Math.min(firstAtLeast(lane.seq, seq), lane.ms.length - 1)];
  }

  _measure() {
    let first = Infinity;
    let last = -Infinity;
    for (const { ms, rivals } of this.lanes) {
      if (ms.length) {
        first = Math.min(first, ms[0]);
        last = Math.max(last, ms[ms.length - 1]);
      }
      for (const rival of rivals) {
        first = Math.min(first, rival.ms);
        last = Math.max(last, rival.ms);
      }
    }
    [this.first, this.last] = first > last ? [0, 1000] : [first, Math.max(last, first + 1)];
  }

  // The elements around the drawing

  _build() {
    this.element.classList.add("lanes");
    this.canvas = made("canvas", "lanes-canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-roledescription", "drawing of op chains");
    this.live = made("p", "lanes-live");
    this.live.setAttribute("aria-live", "polite");
    const tools = made("div", "lanes-tools");
    const button = (text, label, act) => {
      const each = made("button", "", text);
      each.type = "button";
      each.setAttribute("aria-label", label);
      each.addEventListener("click", act, { signal: this._abort.signal });
      tools.append(each);
    };
    button("−", "Zoom out", () => this._zoom(1.6));
    button("+", "Zoom in", () => this._zoom(1 / 1.6));
    button("All", "Show everything", () => this.fit());
    button("Next fault", "Go to the next fault", () => this._nextFault());
    this.legend = made("ul", "lanes-legend");
    this.legend.setAttribute("aria-label", "Types of ops");
    const help = made(
      "p",
      "lanes-help",
      "Drag to move, wheel or pinch to zoom, click a mark to open it. Keys: arrows walk along ops and lanes, Enter opens, " +
        "+ and − zoom, 0 shows all, F goes to the next fault.",
    );
    this.table = made("details", "lanes-table");
    this.table.append(made("summary", "", "As a table"));
    this.table.addEventListener("toggle", () => this._tabulate(), { signal: this._abort.signal });
    this.element.replaceChildren(tools, this.canvas, this.live, this.legend, help, this.table);
    this.ink = this.canvas.getContext("2d");
    this._watcher = new ResizeObserver(() => this._resize());
    this._watcher.observe(this.canvas);
  }

  _legend() {
    const items = [["a stub: its content was pruned", "stub"], ["a fault", "fault"]];
    const names = this.data.types.map((type) => [shown(type), type]);
    this.legend.replaceChildren(
      ...[...names, ...items].map(([text, type]) => {
        const item = made("li");
        const sample = made("canvas");
        [sample.width, sample.height] = [28, 28];
        item.append(sample, document.createTextNode(text));
        item._sample = [sample, type];
        return item;
      }),
    );
  }

  _drawLegend(theme, shade) {
    for (const item of this.legend.children) {
      const [sample, type] = item._sample;
      const ink = sample.getContext("2d");
      ink.clearRect(0, 0, 28, 28);
      if (type === "fault") this._cross(ink, 14, 14, 8, theme.bad, 4);
      else this._mark(ink, 14, 14, 9, type === "stub" ? "mail" : type, shade, type === "stub" ? GRADE.stub : 0);
    }
  }

  _resize() {
    const width = Math.max(this.canvas.clientWidth, 120);
    const narrow = width < 640;
    this.gutter = narrow ? 8 : 150;
    this.row = clamp(900 / Math.max(this.lanes.length, 1), narrow ? 34 : 14, narrow ? 46 : 34);
    this.room = width - this.gutter - 18; // room at the end for what stands beside the last op
    const height = Math.round(this.row * this.lanes.length + 30);
    const ratio = window.devicePixelRatio || 1;
    const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== across || this.canvas.height !== down) {
      this.canvas.style.height = `${height}px`;
      [this.canvas.width, this.canvas.height] = [across, down];
    }
    [this.width, this.height, this.ratio, this.narrow] = [width, height, ratio, narrow];
    this.canvas.setAttribute(
      "aria-label",
      `${this.lanes.length} chains with ${this._count} ops, ${this.data.forks.length} forks and ` +
        `${this.data.halts.length} other faults`,
    );
    this._draw();
  }

  // Drawing

  _draw() {
    if (this._wanted) return;
    this._wanted = requestAnimationFrame(() => {
      this._wanted = 0;
      const start = performance.now();
      this._frame();
      this.frameMs = performance.now() - start;
      this.frames += 1;
    });
  }

  _x(ms) {
    return this.gutter + ((ms - this.from) / (this.to - this.from)) * this.room;
  }

  _ms(x) {
    return this.from + ((x - this.gutter) / this.room) * (this.to - this.from);
  }

  _y(lane) {
    return lane * this.row + this.row * (this.narrow ? 0.68 : 0.5);
  }

  _isDark() {
    const [red, green, blue] = (getComputedStyle(this.element).color.match(/[\d.]+/g) || [0, 0, 0]).map(Number);
    return red * 0.3 + green * 0.6 + blue * 0.1 > 127;
  }

  _frame() {
    const { ink } = this;
    const shade = this._isDark() ? 1 : 0;
    const theme = shade ? THEME.dark : THEME.light;
    ink.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    ink.clearRect(0, 0, this.width, this.height);
    ink.font = "12px system-ui, sans-serif";
    ink.textBaseline = "middle";
    this._drawAxis(theme);
    this._drawLanes(theme);
    ink.save();
    ink.beginPath();
    ink.rect(this.gutter - 6, 0, this.width - this.gutter + 6, this.height);
    ink.clip();
    this._drawLinks(theme);
    this._drawMarks(shade);
    this._drawFaults(theme, shade);
    this._drawCursor(theme);
    ink.restore();
    if (this._shade !== shade || this._legendOf !== this.data) this._drawLegend(theme, shade);
    [this._shade, this._legendOf] = [shade, this.data];
  }

  _drawAxis(theme) {
    const { ink } = this;
    const steps = [1, 10, 100, 1000, 10e3, 60e3, 600e3, 3600e3, 6 * 3600e3, 86400e3, 7 * 86400e3, 30 * 86400e3, 365 * 86400e3];
    const room = Math.max(1, this.room / (this.narrow ? 110 : 150));
    const step = steps.find((each) => (this.to - this.from) / each <= room) ?? (this.to - this.from) / room;
    const top = this.height - 24;
    const zone = new Date(this.from).getTimezoneOffset() * 60e3;
    ink.fillStyle = theme.text;
    ink.strokeStyle = theme.faint;
    ink.beginPath();
    let free = 0;
    for (let ms = Math.ceil((this.from - zone) / step) * step + zone; ms <= this.to; ms += step) {
      const x = this._x(ms);
      ink.moveTo(x, 0);
      ink.lineTo(x, top);
      const text = step >= 86400e3 ? moment(ms).slice(0, 10) : step >= 60e3 ? moment(ms).slice(5, 16) : moment(ms, true).slice(11);
      if (x < free) continue;
      ink.fillText(text, x + 2, top + 12);
      free = x + ink.measureText(text).width + 14;
    }
    ink.stroke();
  }

  _drawLanes(theme) {
    const { ink } = this;
    ink.strokeStyle = theme.line;
    ink.beginPath();
    this.lanes.forEach((lane, at) => {
      const y = this._y(at);
      if (!lane.ms.length) return;
      const start = clamp(this._x(lane.ms[0]), this.gutter, this.width);
      const end = clamp(this._x(lane.ms[lane.ms.length - 1]), this.gutter, this.width);
      ink.moveTo(start, y);
      ink.lineTo(end, y);
    });
    ink.stroke();
    this.lanes.forEach((lane, at) => {
      const bad = lane.faults.length > 0;
      ink.fillStyle = bad ? theme.bad : theme.text;
      const text = `${bad ? "✕ " : ""}${lane.name}${lane.status === "revoked" ? " (revoked)" : ""}`;
      if (this.narrow) ink.fillText(this._fitted(text, this.width - 16), 8, at * this.row + this.row * 0.24);
      else ink.fillText(this._fitted(text, this.gutter - 18), 6, this._y(at));
    });
  }

  _fitted(text, width) {
    if (this.ink.measureText(text).width <= width) return text;
    let cut = [...text];
    while (cut.length && this.ink.measureText(`${cut.join("")}…`).width > width) cut = cut.slice(0, -1);
    return `${cut.join("")}…`;
  }

  _drawLinks(theme) {
    const { ink } = this;
    ink.strokeStyle = theme.link;
    ink.globalAlpha = 0.55;
    ink.beginPath();
    let drawn = 0;
    for (const link of this.links) {
      if (link.from === null || link.to === null) continue;
      if (Math.max(link.from, link.to) < this.from || Math.min(link.from, link.to) > this.to) continue;
      this._curve(link.fromLane, link.from, link.toLane, link.to);
      drawn += 1;
      if (drawn >= MOST_LINKS) break;
    }
    ink.stroke();
    ink.globalAlpha = 1;
  }

  _curve(fromLane, from, toLane, to) {
    const [x1, y1, x2, y2] = [this._x(from), this._y(fromLane), this._x(to), this._y(toLane)];
    const bend = fromLane === toLane ? this.row * 0.7 : 0;
    this.ink.moveTo(x1, y1);
    this.ink.bezierCurveTo(x1, (y1 + y2) / 2 - bend, x2, (y1 + y2) / 2 - bend, x2, y2);
  }

  /** Marks where there is room, and bars of their types where there is none. Bars are drawn colour by colour. */
  _drawMarks(shade) {
    const types = this.data.types.length;
    const bars = Array.from({ length: types }, () => []);
    const counts = new Uint32Array(types);
    const perMs = this.room / (this.to - this.from);
    for (let at = 0; at < this.lanes.length; at += 1) {
      const { ms, type, grade } = this.lanes[at];
      const y = this._y(at);
      let index = firstAtLeast(ms, this.from - BUCKET / perMs);
      const end = firstAtLeast(ms, this.to + BUCKET / perMs);
      while (index < end) {
        const bucket = Math.floor(((ms[index] - this.from) * perMs) / BUCKET);
        const until = this.from + ((bucket + 1) * BUCKET) / perMs;
        const first = index;
        while (index < end && ms[index] < until) index += 1;
        if (index === first) index += 1; // a bucket too narrow for numbers to tell
        const many = index - first;
        if (many === 1) {
          this._mark(this.ink, this._x(ms[first]), y, this.row < 20 ? 3.5 : 5, this.data.types[type[first]], shade, grade[first]);
          continue;
        }
        counts.fill(0);
        for (let each = first; each < index; each += 1) counts[type[each]] += 1;
        const tall = Math.min(this.row * 0.86, this.row * 0.3 + Math.log2(many) * 2.2);
        let top = y - tall / 2;
        const x = this.gutter + bucket * BUCKET;
        for (let each = 0; each < types; each += 1) {
          if (counts[each] === 0) continue;
          const part = (tall * counts[each]) / many;
          bars[each].push(x, top, part);
          top += part;
        }
      }
    }
    bars.forEach((found, type) => {
      this.ink.fillStyle = this._colour(this.data.types[type], shade);
      for (let at = 0; at < found.length; at += 3) this.ink.fillRect(found[at], found[at + 1], BUCKET - 1, found[at + 2]);
    });
  }

  _colour(type, shade) {
    return (Object.hasOwn(COLOURS, type) ? COLOURS[type] : OTHER_COLOUR)[shade];
  }

  _mark(ink, x, y, size, type, shade, grade) {
    const colour = this._colour(type, shade);
    const shape = Object.hasOwn(SHAPES, type) ? SHAPES[type] : "circle";
    ink.globalAlpha = grade & GRADE.cut ? 0.35 : 1;
    ink.beginPath();
    if (shape === "circle") ink.arc(x, y, size, 0, 2 * Math.PI);
    else if (shape === "dot") ink.arc(x, y, size * 0.66, 0, 2 * Math.PI);
    else if (shape === "square") ink.rect(x - size * 0.9, y - size * 0.9, size * 1.8, size * 1.8);
    else {
      const points = {
        diamond: [[0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]],
        up: [[0, -1.1], [1.1, 0.9], [-1.1, 0.9]],
        down: [[0, 1.1], [1.1, -0.9], [-1.1, -0.9]],
      }[shape];
      points.forEach(([across, down], at) => ink[at ? "lineTo" : "moveTo"](x + across * size, y + down * size));
      ink.closePath();
    }
    if (grade & GRADE.stub) {
      ink.strokeStyle = colour;
      ink.lineWidth = 1.6;
      ink.stroke();
      ink.lineWidth = 1;
    } else {
      ink.fillStyle = colour;
      ink.fill();
    }
    ink.globalAlpha = 1;
  }

  _cross(ink, x, y, size, colour, width) {
    ink.strokeStyle = colour;
    ink.lineWidth = width;
    ink.beginPath();
    ink.moveTo(x - size, y - size);
    ink.lineTo(x + size, y + size);
    ink.moveTo(x + size, y - size);
    ink.lineTo(x - size, y + size);
    ink.stroke();
    ink.lineWidth = 1;
  }

  _drawFaults(theme, shade) {
    const { ink } = this;
    this.lanes.forEach((lane, at) => {
      const y = this._y(at);
      if (lane.cut !== null) {
        ink.fillStyle = theme.bad;
        ink.fillRect(this._x(lane.cut) + 6, y - this.row * 0.36, 2, this.row * 0.72);
      }
      for (const fault of lane.faults) {
        const x = fault.ms === null ? this.gutter + 8 : this._x(fault.ms);
        if (fault.kind === "fork") {
          ink.strokeStyle = theme.bad;
          ink.lineWidth = 2;
          ink.beginPath();
          ink.moveTo(x - 12, y);
          ink.lineTo(x - 3, y - this.row * 0.3);
          ink.moveTo(x - 12, y);
          ink.lineTo(x - 3, y + this.row * 0.3);
          ink.stroke();
          ink.lineWidth = 1;
        } else this._cross(ink, x + 11, y, 5, theme.bad, 2.5);
      }
      lane.rivals.forEach((rival, which) => {
        const down = (which % 2 ? 1 : -1) * this.row * 0.3;
        this._mark(ink, this._x(rival.ms), y + down, 4.5, rival.type, shade, 0);
      });
    });
  }

  _drawCursor(theme) {
    if (this.cursor === null) return;
    const { ink } = this;
    const lane = this.lanes[this.cursor.lane];
    const { rival } = this.cursor;
    const ms = rival === undefined ? lane.ms[this.cursor.index] : lane.rivals[rival].ms;
    const down = rival === undefined ? 0 : (rival % 2 ? 1 : -1) * this.row * 0.3;
    const [x, y] = [this._x(ms), this._y(this.cursor.lane) + down];
    ink.strokeStyle = theme.cursor;
    ink.lineWidth = 2;
    ink.beginPath();
    ink.arc(x, y, 9, 0, 2 * Math.PI);
    ink.stroke();
    ink.setLineDash([4, 3]);
    ink.lineWidth = 1.2;
    ink.beginPath();
    for (const to of this._recipients()) this._curve(this.cursor.lane, ms, to, ms);
    const { replica, seq } = this.current();
    for (const link of this.links) {
      const here = this.lanes[link.fromLane].replica === replica && link.fromSeq === seq;
      const there = this.lanes[link.toLane].replica === replica && link.toSeq === seq;
      if ((here || there) && link.from !== null && link.to !== null) this._curve(link.fromLane, link.from, link.toLane, link.to);
    }
    ink.stroke();
    ink.setLineDash([]);
    ink.lineWidth = 1;
  }

  _recipients() {
    if (this.cursor === null || this.cursor.rival !== undefined) return [];
    const lane = this.lanes[this.cursor.lane];
    return (this.data.to[lane.to[this.cursor.index]] ?? []).filter((each) => each !== this.cursor.lane && this.lanes[each]);
  }

  // Moving about

  _zoom(by, around = (this.from + this.to) / 2) {
    const span = clamp((this.to - this.from) * by, 20, this._limit);
    const share = (around - this.from) / (this.to - this.from);
    this.from = around - span * share;
    this.to = this.from + span;
    this._hold();
  }

  _pan(ms) {
    this.from += ms;
    this.to += ms;
    this._hold();
  }

  /** Keep something in sight. */
  _hold() {
    const span = this.to - this.from;
    const start = clamp(this.from, this.first - span * 0.9, this.last - span * 0.1);
    [this.from, this.to] = [start, start + span];
    this._draw();
  }

  _reveal() {
    const lane = this.lanes[this.cursor.lane];
    const { rival, index } = this.cursor;
    const ms = rival === undefined ? lane.ms[index] : lane.rivals[rival].ms;
    const span = this.to - this.from;
    if (ms < this.from + span * 0.02 || ms > this.to - span * 0.02) this._pan(ms - span / 2 - this.from);
    this.live.textContent = this._said();
    if (this.table.open) this._tabulate();
    this._draw();
  }

  _said() {
    const lane = this.lanes[this.cursor.lane];
    if (this.cursor.rival !== undefined) {
      const rival = lane.rivals[this.cursor.rival];
      return `${lane.name}: op ${rival.seq}, ${shown(rival.type)}, ${moment(rival.ms)}: one of several that claim this place`;
    }
    const { index } = this.cursor;
    const said = [`${lane.name}: op ${lane.seq[index]}, ${shown(this.data.types[lane.type[index]])}, ${moment(lane.ms[index])}`];
    if (lane.grade[index] & GRADE.stub) said.push("a stub");
    if (lane.grade[index] & GRADE.cut) said.push("after its replica was cut off");
    if (lane.grade[index] & GRADE.repeated) said.push("its line repeats a key");
    const to = this._recipients().map((each) => this.lanes[each].name);
    if (to.length) said.push(`to ${to.join(", ")}`);
    for (const link of this.links) {
      if (link.fromLane !== this.cursor.lane || link.fromSeq !== lane.seq[index]) continue;
      said.push(`${shown(link.kind)} ${link.toSeq === null ? "" : `op ${link.toSeq} of `}${this.lanes[link.toLane].name}`);
    }
    for (const fault of lane.faults) if (fault.seq === lane.seq[index]) said.push(shown(fault.text));
    return said.join("; ");
  }

  /** The op nearest to a place on the canvas, within a few pixels; `many` tells how many share its bucket. */
  _at(x, y) {
    const lane = clamp(Math.floor(y / this.row), 0, this.lanes.length - 1);
    const { ms, rivals } = this.lanes[lane] ?? { ms: [], rivals: [] };
    const perMs = this.room / (this.to - this.from);
    let best = null;
    const consider = (at, down, cursor) => {
      const far = Math.hypot(this._x(at) - x, (this._y(lane) + down - y) / 2);
      if (far <= 10 && (best === null || far < best.far)) best = { far, cursor };
    };
    const near = firstAtLeast(ms, this._ms(x));
    for (const index of [near - 1, near]) if (index >= 0 && index < ms.length) consider(ms[index], 0, { lane, index });
    rivals.forEach((each, rival) => consider(each.ms, (rival % 2 ? 1 : -1) * this.row * 0.3, { lane, rival }));
    if (best === null) return null;
    const here = this._ms(x);
    const many = firstAtLeast(ms, here + BUCKET / perMs) - firstAtLeast(ms, here - BUCKET / perMs);
    return { cursor: best.cursor, many: best.cursor.rival === undefined ? many : 1 };
  }

  _click(x, y) {
    const found = this._at(x, y);
    if (found === null) return;
    this.cursor = found.cursor;
    if (found.many > 3 && this.to - this.from > 1000) this._zoom(1 / 6, this._ms(x));
    else this._open();
    this._reveal();
  }

  _open() {
    const current = this.current();
    if (current !== null) this.open(current);
  }

  _step(by) {
    const lane = this.lanes[this.cursor.lane];
    const index = this.cursor.rival === undefined ? this.cursor.index : firstAtLeast(lane.seq, this.current().seq) - 1;
    if (lane.seq.length) this.select(this.cursor.lane, clamp(index + by, 0, lane.seq.length - 1));
  }

  _change(by) {
    const current = this.lanes[this.cursor.lane];
    const ms = this.cursor.rival === undefined ? current.ms[this.cursor.index] : current.rivals[this.cursor.rival].ms;
    for (let at = this.cursor.lane + by; this.lanes[at]; at += by) {
      const { ms: column } = this.lanes[at];
      if (!column.length) continue;
      const index = clamp(firstAtLeast(column, ms), 0, column.length - 1);
      const before = index > 0 && ms - column[index - 1] < column[index] - ms;
      this.select(at, before ? index - 1 : index);
      return;
    }
  }

  /** Walk over the faults, and over the ops that claim one place. */
  _nextFault() {
    const stops = [];
    this.lanes.forEach((lane, at) => {
      lane.rivals.forEach((_, rival) => stops.push({ lane: at, rival }));
      for (const fault of lane.faults) {
        if (fault.kind === "fork" && lane.rivals.length) continue;
        const index = fault.seq === null ? lane.seq.length - 1 : Math.min(firstAtLeast(lane.seq, fault.seq), lane.seq.length - 1);
        if (index >= 0) stops.push({ lane: at, index });
        else this.live.textContent = shown(fault.text);
      }
    });
    if (!stops.length) {
      if (!this.live.textContent) this.live.textContent = "No faults.";
      return;
    }
    const same = (stop) => JSON.stringify(stop) === JSON.stringify(this.cursor);
    this.cursor = stops[(stops.findIndex(same) + 1) % stops.length];
    this._reveal();
    const lane = this.lanes[this.cursor.lane];
    this.live.textContent = [this._said(), ...lane.faults.map((fault) => shown(fault.text))].join(" — ");
  }

  _listen() {
    const { canvas } = this;
    const on = (name, act, options = {}) => canvas.addEventListener(name, act, { ...options, signal: this._abort.signal });
    on("keydown", (event) => this._key(event));
    on("wheel", (event) => this._wheel(event), { passive: false });
    on("pointerdown", (event) => this._down(event));
    on("pointermove", (event) => this._move(event));
    for (const name of ["pointerup", "pointercancel"]) on(name, (event) => this._up(event));
    const theme = window.matchMedia("(prefers-color-scheme: dark)");
    theme.addEventListener("change", () => this._draw(), { signal: this._abort.signal });
  }

  _key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const span = this.to - this.from;
    const acts = {
      ArrowLeft: () => this._step(-1),
      ArrowRight: () => this._step(1),
      ArrowUp: () => this._change(-1),
      ArrowDown: () => this._change(1),
      Home: () => this.select(this.cursor.lane, 0),
      End: () => this.select(this.cursor.lane, this.lanes[this.cursor.lane].seq.length - 1),
      PageUp: () => this._pan(-span * 0.8),
      PageDown: () => this._pan(span * 0.8),
      Enter: () => this._open(),
      " ": () => this._open(),
      "+": () => this._zoom(1 / 1.6, this._focus()),
      "=": () => this._zoom(1 / 1.6, this._focus()),
      "-": () => this._zoom(1.6, this._focus()),
      0: () => this.fit(),
      f: () => this._nextFault(),
      F: () => this._nextFault(),
    };
    if (!Object.hasOwn(acts, event.key)) return;
    event.preventDefault();
    if (this.cursor === null && !["+", "=", "-", "0", "f", "F", "PageUp", "PageDown"].includes(event.key)) {
      const lane = this.lanes.findIndex((each) => each.seq.length > 0);
      if (lane >= 0) this.select(lane, Math.min(firstAtLeast(this.lanes[lane].ms, this.from), this.lanes[lane].seq.length - 1));
      return;
    }
    acts[event.key]();
  }

  _focus() {
    const middle = (this.from + this.to) / 2;
    if (this.cursor === null) return middle;
    const lane = this.lanes[this.cursor.lane];
    const ms = this.cursor.rival === undefined ? lane.ms[this.cursor.index] : lane.rivals[this.cursor.rival].ms;
    return ms >= this.from && ms <= this.to ? ms : middle;
  }

  /** The wheel zooms once the drawing has the focus, or with Ctrl; else the page scrolls on under it. */
  _wheel(event) {
    const mine = event.ctrlKey || event.metaKey || document.activeElement === this.canvas;
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!mine && !sideways) return;
    event.preventDefault();
    if (sideways) this._pan((event.deltaX / this.room) * (this.to - this.from));
    else this._zoom(Math.exp(clamp(event.deltaY, -200, 200) / 300), this._ms(event.offsetX));
  }

  _down(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this._pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY, moved: this._pointers.size > 0 });
  }

  _move(event) {
    const pointer = this._pointers.get(event.pointerId);
    if (pointer === undefined) {
      this.canvas.style.cursor = this._at(event.offsetX, event.offsetY) ? "pointer" : "grab";
      return;
    }
    const across = event.offsetX - pointer.x;
    if (this._pointers.size === 1) {
      if (!pointer.moved && Math.hypot(across, event.offsetY - pointer.y) < 4) return;
      this._pan((-across / this.room) * (this.to - this.from));
    } else {
      const other = [...this._pointers.entries()].find(([id]) => id !== event.pointerId)[1];
      const before = Math.max(Math.abs(pointer.x - other.x), 10);
      this._zoom(before / Math.max(Math.abs(event.offsetX - other.x), 10), this._ms((event.offsetX + other.x) / 2));
    }
    Object.assign(pointer, { x: event.offsetX, y: event.offsetY, moved: true });
  }

  _up(event) {
    const pointer = this._pointers.get(event.pointerId);
    this._pointers.delete(event.pointerId);
    if (pointer && !pointer.moved && event.type === "pointerup") this._click(event.offsetX, event.offsetY);
  }

  // The same as a table

  _tabulate() {
    const [summary] = this.table.children;
    if (!this.table.open) {
      this.table.replaceChildren(summary);
      return;
    }
    const at = this.cursor?.lane ?? 0;
    const lane = this.lanes[at];
    if (!lane) return;
    const start = Math.floor((this.cursor?.index ?? 0) / TABLE_ROWS) * TABLE_ROWS;
    const choice = made("select");
    choice.setAttribute("aria-label", "Chain");
    this.lanes.forEach((each, index) => choice.add(new Option(`${each.name} (${each.replica})`, index, false, index === at)));
    choice.addEventListener("change", () => this.select(Number(choice.value), 0));
    const table = made("table");
    const head = table.createTHead().insertRow();
    for (const name of ["Op", "Type", "Time", "To", ""]) head.append(Object.assign(made("th", "", name), { scope: "col" }));
    const body = table.createTBody();
    for (let index = start; index < Math.min(start + TABLE_ROWS, lane.seq.length); index += 1) {
      const row = body.insertRow();
      const open = made("button", "", String(lane.seq[index]));
      open.type = "button";
      open.addEventListener("click", () => this.open({ replica: lane.replica, seq: lane.seq[index] }));
      row.insertCell().append(open);
      row.insertCell().textContent = shown(this.data.types[lane.type[index]]);
      row.insertCell().textContent = moment(lane.ms[index], true);
      row.insertCell().textContent = (this.data.to[lane.to[index]] ?? []).map((each) => this.lanes[each]?.name ?? "").join(", ");
      row.insertCell().textContent = lane.grade[index] & GRADE.stub ? "stub" : lane.grade[index] & GRADE.cut ? "past the cut" : "";
      if (index === this.cursor?.index) row.setAttribute("aria-current", "true");
    }
    const pages = made("p");
    const page = (text, to) => {
      const button = made("button", "", text);
      button.type = "button";
      button.disabled = to < 0 || to >= lane.seq.length;
      button.addEventListener("click", () => this.select(at, to));
      pages.append(button, " ");
    };
    page("Earlier", start - TABLE_ROWS);
    page("Later", start + TABLE_ROWS);
    pages.append(`${start + 1} to ${Math.min(start + TABLE_ROWS, lane.seq.length)} of ${lane.seq.length}`);
    this.table.replaceChildren(summary, choice, pages, table);
  }
}

export { Lanes };
