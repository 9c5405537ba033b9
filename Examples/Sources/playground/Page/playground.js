"use strict";

// One page of plain JavaScript: what has happened (World, Row), how it is drawn, how it is asked
// for, and the lists with their undo. Everything that is kept has a bound.

const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

function make(name, attributes = {}, ...children) {
  const element = ["svg", "g", "rect", "text", "line", "path", "circle"].includes(name)
    ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function say(words, isAlarm = false) {
  setText(byId("status"), words);
  byId("status").classList.toggle("alarm", isAlarm);
}

// ---- What has happened

/** Operations that a row remembers after their end. */
const MEMORY = 60;
const LANES = 6;
/** The time that a lane stays empty after an operation, for its sign. */
const GAP = 300;
/** After so much time in which nothing has happened the next keystroke begins a new picture. */
const PAUSE = 1500;

class Row {
  constructor(number, info) {
    this.number = number;
    this.info = info;
    this.clear();
  }

  clear() {
    this.ops = new Map();
    this.lanes = Array(LANES).fill(null);
    this.live = 0;
    this.skipped = 0;
    this.counts = { succeeded: 0, failed: 0, superseded: 0, dropped: 0, cancelled: 0 };
    this.screen = { state: "empty", key: 0, text: "" };
    this.view?.clear();
    this.isDirty = true;
  }

  /** Something happened to the operation of a keystroke. */
  hear(time, key, word, text) {
    this.isDirty = true;
    if (word === "skipped") { this.skipped += 1; return; }
    if (word === "executed") { this.execute(time, key, text); return; }
    const op = this.ops.get(key);
    if (!op) return;
    op.isDirty = true;
    switch (word) {
      case "waiting": op.hasWaited = true; break;
      case "running": op.run = time; break;
      case "ended": op.end = time; this.live -= 1; break;
      case "shown": case "stale": case "alert": this.show(op, word); break;
      default:
        op.fate = word;
        op.done = time;
        this.counts[word] += 1;
        if (word === "superseded") op.superseder = this.newest;
    }
  }

  execute(time, key, text) {
    // The text of a short bar, or of one that was dropped and has no bar, needs room too.
    const end = (op) => Math.max(op.end, op.at + GAP * (op.fate === "dropped" ? 1.5 : 0.8));
    const lane = this.lanes.findIndex((last) => !last || end(last) + GAP <= time);
    const op = {
      key, text, lane, at: time, run: null, done: null, end: Infinity, fate: null,
      superseder: null, isStale: false, isDirty: true,
    };
    if (lane >= 0) this.lanes[lane] = op;
    this.ops.set(key, op);
    this.newest = key;
    this.live += 1;
    for (const [key, op] of this.ops) {
      if (this.ops.size - this.live <= MEMORY) break;
      if (op.end < Infinity) this.forget(key, op);
    }
  }

  forget(key, op) {
    this.ops.delete(key);
    op.group?.remove();
    op.group = null;
  }

  show(op, word) {
    op.isStale = word === "stale";
    this.screen = { state: word === "shown" ? "fresh" : word, key: op.key, text: op.text };
  }

  get isBusy() { return this.live > 0; }

  /** In words, for those who do not see the bars. */
  summary() {
    const parts = Object.entries(this.counts).filter(([, count]) => count > 0)
      .map(([word, count]) => `${count} ${word}`);
    const ops = [...this.ops.values()].filter((op) => op.fate === null);
    const running = ops.filter((op) => op.run !== null).length;
    if (running) parts.unshift(`${running} running`);
    if (ops.length - running) parts.unshift(`${ops.length - running} waiting`);
    if (this.skipped) parts.push(`${this.skipped} left out, as too many are in flight`);
    return parts.join(", ") || "nothing yet";
  }
}

const world = {
  rows: [],
  keys: 0,
  text: "",
  begin: 0,
  last: -Infinity,
  offset: -Infinity,

  get isBusy() { return this.rows.some((row) => row.isBusy); },

  /** The time of the server. It stands still while nothing is in flight. */
  get now() {
    const now = performance.now() + this.offset;
    return this.isBusy ? Math.max(now, this.last) : Math.min(now, Math.max(this.last, this.begin));
  },

  hear(events) {
    if (events.length) {
      this.offset = Math.max(this.offset, events[events.length - 1][0] - performance.now());
    }
    for (const [time, row, key, word, text] of events) {
      if (row >= 0) {
        this.rows[row]?.hear(time, key, word, this.text);
      } else {
        if (!this.isBusy && time - this.last > PAUSE) this.restart(time);
        if (draw.said) { say(""); draw.said = 0; }
        this.text = text;
        this.keys += 1;
        this.newest = key;
      }
      this.last = Math.max(this.last, time);
    }
    if (events.length) draw.soon();
  },

  restart(time) {
    this.begin = time;
    this.keys = 0;
    for (const row of this.rows) row.clear();
  },
};

// ---- How it is drawn

const PITCH = 20;
const BAR = 15;

class RowView {
  constructor(row) {
    this.row = row;
    const { info, number } = row;
    this.svg = make("svg", { role: "img", width: "100%", height: "142" });
    this.grid = make("g");
    this.bars = make("g");
    this.svg.append(this.grid, this.bars);
    this.timeline = make("div", { class: "timeline" }, this.svg);
    this.name = make("h2", { class: "name", id: `name-${number}` }, info.name);
    this.use = make("span", { class: "use" }, info.use);
    this.answer = make("bdi", { class: "answer" });
    this.state = make("p", { class: "state" });
    this.counts = make("p", { class: "counts" });
    this.screen = make("div", { class: "screen", role: "group", "aria-label": "The screen" },
      this.answer, this.state, this.counts);
    const button = (words, action) => {
      return make("button", { onclick: action, "aria-describedby": this.name.id }, words);
    };
    this.element = make("article", { class: "row", "aria-labelledby": this.name.id },
      make("header", {}, this.name, this.use,
        button("Copy as SVG", () => copy(rowPicture(this.row), "The picture")),
        button("Copy as code", () => copy(this.row.info.code, this.row.info.code))),
      make("div", { class: "body" }, this.timeline, this.screen));
    this.width = 0;
    this.isResized = true;
  }

  /** The time that is seen at once, in milliseconds: less of it where there is less room. */
  get span() { return Math.min(3200, Math.max(2000, 8 * this.width)); }

  clear() {
    this.bars.replaceChildren();
  }

  resize(width) {
    this.width = width;
    this.isResized = true;
    draw.soon();
  }

  draw(now) {
    const { row } = this;
    if (!row.isDirty && !row.isBusy && !this.isResized) return;
    const scale = this.width / this.span;
    const scroll = Math.max(0, now + 150 - world.begin - this.span);
    const left = world.begin + scroll;
    this.bars.setAttribute("transform", `translate(${(-scroll * scale).toFixed(1)} 0)`);
    for (const [key, op] of row.ops) {
      if (op.lane < 0) continue;
      if (op.end + GAP < left) { row.forget(key, op); continue; }
      if (op.isDirty || op.fate === null || op.end === Infinity || this.isResized) {
        this.drawOperation(op, now, scale);
        op.isDirty = op.end === Infinity;
      }
    }
    this.drawGrid(scroll, scale);
    this.drawScreen();
    row.isDirty = false;
    this.isResized = false;
  }

  drawOperation(op, now, scale) {
    if (!op.group) this.addOperation(op);
    const x = (time) => (time - world.begin) * scale;
    const { waiting, running, unwinding, label, mark } = op.parts;
    const fate = op.isStale ? "stale" : op.fate ?? (op.run === null ? "waiting" : "running");
    op.group.dataset.fate = fate;
    const done = op.done ?? now;
    const place = (rect, from, to) => {
      rect.setAttribute("x", x(from).toFixed(1));
      rect.setAttribute("width", Math.max(0, x(to) - x(from)).toFixed(1));
    };
    place(waiting, op.at, op.run ?? done);
    if (op.run !== null) place(running, op.run, done);
    if (op.run !== null && op.done !== null) place(unwinding, done, Math.min(op.end, now));
    label.setAttribute("x", (x(op.at) + (op.fate === "dropped" ? 14 : 5)).toFixed(1));
    if (op.fate && mark.dataset.fate !== fate) {
      mark.dataset.fate = fate;
      mark.replaceChildren(...markParts(op.fate));
      if (op.isStale) mark.append(make("text", { class: "word", x: 10, y: 4 }, "stale"));
    }
    if (op.fate) {
      const end = op.fate === "succeeded" || op.fate === "failed" ? done : Math.min(op.end, now);
      // Behind the bar, and behind the text that a short bar does not hold.
      const place = op.fate === "dropped"
        ? x(end) + 4 : Math.max(x(end) + 9, x(op.at) + 14 + 7.3 * label.textContent.length);
      mark.setAttribute("transform",
        `translate(${place.toFixed(1)} ${op.lane * PITCH + PITCH / 2})`);
    }
  }

  addOperation(op) {
    const y = op.lane * PITCH + (PITCH - BAR) / 2;
    const rect = (name, inset) => make("rect", {
      class: name, x: 0, width: 0, y: y + inset, height: BAR - 2 * inset, rx: 3,
    });
    op.parts = {
      waiting: rect("waiting", 0), running: rect("running", 0), unwinding: rect("unwinding", 3),
      label: make("text", { y: y + BAR - 3.5 }, shortened(op.text, 6)), mark: make("g"),
    };
    op.group = make("g", { class: "op", "data-key": op.key, "data-text": op.text },
      ...Object.values(op.parts));
    this.bars.append(op.group);
  }

  drawGrid(scroll, scale) {
    const first = Math.ceil(scroll / 1000);
    const state = `${first} ${Math.round(scroll * scale)} ${this.width}`;
    if (state === this.gridState) return;
    this.gridState = state;
    const lines = [];
    for (let second = first; second * 1000 <= scroll + this.span; second += 1) {
      const x = ((second * 1000 - scroll) * scale).toFixed(1);
      lines.push(make("line", { class: "grid", x1: x, x2: x, y1: 0, y2: LANES * PITCH + 4 }));
      lines.push(make("text", { class: "tick", x, y: LANES * PITCH + 18 }, `${second} s`));
    }
    this.grid.replaceChildren(...lines);
  }

  drawScreen() {
    const { screen } = this.row;
    const state = screen.state === "fresh" && screen.key !== world.newest ? "behind" : screen.state;
    const words = {
      empty: "shows nothing yet", fresh: "up to date", behind: "behind what is typed",
      stale: "stale: an older answer came last", alert: "an error: the server is busy",
    };
    if (this.screen.dataset.state !== state) this.screen.dataset.state = state;
    setText(this.answer, screen.text || "\u00a0");
    setText(this.state, words[state]);
    const summary = this.row.summary();
    setText(this.counts, summary);
    if (this.svg.getAttribute("aria-label") !== summary) this.svg.setAttribute("aria-label", summary);
  }
}

/** The end of a text, which tells it from the one before. */
function shortened(text, count) {
  return text.length > count ? `…${text.slice(1 - count)}` : text;
}

/** The sign of an outcome, in shapes that need no colour. */
function markParts(fate) {
  const path = (d, name) => make("path", { d, class: name });
  switch (fate) {
    case "succeeded":
      return [make("circle", { r: 6, class: "ring good" }), path("M-3 0l2 3l4-6", "mark good")];
    case "failed": return [path("M0-6.5l7 12h-14z", "ring bad"), path("M0-3v4m0 1.5v1.5", "mark bad")];
    case "dropped": return [path("M-3-7h6v6h4l-7 8l-7-8h4z", "ring gone")];
    case "superseded":
      return [make("circle", { r: 6, class: "ring gone" }), path("M-2.5-2.5l5 5m0-5l-5 5", "mark gone")];
    default: return [path("M-6-6h12v12h-12z", "ring gone"), path("M-2-2h4v4h-4z", "mark gone")];
  }
}

const draw = {
  isComing: false,
  /** The time of the last event, as it was when something was said of it. */
  said: 0,

  soon() {
    if (this.isComing) return;
    this.isComing = true;
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const later = () => requestAnimationFrame(() => this.now());
    if (isCalm) setTimeout(later, 200); else later();
  },

  now() {
    this.isComing = false;
    replay.advance();
    const now = world.now;
    for (const row of world.rows) row.view?.draw(now);
    if (world.isBusy || replay.isPlaying) { this.soon(); return; }
    // Events that are on their way here may change it.
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.end(), 400);
  },

  /** Says once, when everything has come to rest, what there is to see. */
  end() {
    if (!byId("undo").hidden) return;
    if (world.isBusy || world.keys === 0 || this.said === world.last) return;
    this.said = world.last;
    const stale = world.rows.filter((row) => row.screen.state === "stale");
    const names = stale.map((row) => row.info.name).join(", ");
    say(stale.length
      ? `All queues are idle. A stale answer stays on the screen under ${names}.`
      : "All queues are idle. No screen shows a stale answer.");
  },
};

const sizes = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) {
    world.rows.find((row) => row.view.timeline === target)?.view.resize(contentRect.width);
  }
});

function addRows(infos) {
  sizes.disconnect();
  world.rows = infos.map((info, number) => new Row(number, info));
  for (const row of world.rows) row.view = new RowView(row);
  byId("rows").replaceChildren(...world.rows.map((row) => row.view.element));
  for (const row of world.rows) sizes.observe(row.view.timeline);
  draw.soon();
}

// ---- What is copied

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  page.copied = text;
  say(`Copied: ${what}`);
}

const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

/** A picture that grows by one element at a time, in the look of those in the documentation. */
class Picture {
  constructor(title) {
    this.title = title;
    this.elements = [];
  }

  add(shape, style, content) {
    const name = shape.split(" ", 1)[0];
    const end = content === undefined ? "/>" : `>${escaped(content)}</${name}>`;
    this.elements.push(`<${shape}${style ? ` class="${style}"` : ""}${end}`);
  }

  text(text, x, y, style) { this.add(`text x="${x.toFixed(1)}" y="${y.toFixed(1)}"`, style, text); }
  path(d, style) { this.add(`path d="${d}"`, style); }
  line(x1, y1, x2, y2, style) { this.path(`M${x1.toFixed(1)} ${y1}L${x2.toFixed(1)} ${y2}`, style); }

  box(x, y, width, height, style) {
    if (width <= 0) return;
    this.add(`rect x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${width.toFixed(1)}" height="${height}" rx="3"`, style);
  }

  mark(fate, x, y) {
    const from = (dx, dy) => `M${(x + dx).toFixed(1)} ${(y + dy).toFixed(1)}`;
    const disc = (style) => this.add(`circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="6.5"`, style);
    switch (fate) {
      case "succeeded": disc("succeeded"); this.path(`${from(-3, 0)}l2 3l4 -6`, "check"); break;
      case "failed":
        this.path(`${from(0, -7)}l7.5 13h-15z`, "failed");
        this.path(`${from(0, -3.5)}v4.5m0 1.5v1.5`, "exclamation");
        break;
      case "superseded": disc("cancelled"); this.path(`${from(-2.5, -2.5)}l5 5m0 -5l-5 5`, "stroke"); break;
      case "dropped": this.path(`${from(-3, -7)}h6v6h4l-7 8l-7 -8h4z`, "cancelled"); break;
      default:
        this.path(`${from(-6.5, -6.5)}h13v13h-13z`, "cancelled");
        this.path(`${from(-3, -3)}h6v6h-6z`, "stop");
    }
  }

  source(height, width = 480) {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>${escaped(this.title)}</title>
<style>
svg { --page: #ffffff; --ink: #1f2328; --faint: #59636e; --rule: #7d8590; --blue: #0969da; --green: #1a7f37; --red: #cf222e; --orange: #bc4c00; }
@media (prefers-color-scheme: dark) {
  svg { --page: #0d1117; --ink: #f0f6fc; --faint: #9ea7b3; --rule: #7d8590; --blue: #4493f8; --green: #3fb950; --red: #ff7b72; --orange: #f0883e; }
}
text { font: 14px system-ui, -apple-system, "Segoe UI", sans-serif; fill: var(--ink); }
.code, .label, .inBar { font-family: ui-monospace, Menlo, Consolas, monospace; }
.label, .inBar, .heading { font-weight: 600; }
.key { letter-spacing: -0.04em; }
.heading { font-size: 16px; }
.faint { fill: var(--faint); }
.inBar { fill: var(--page); }
.centred { text-anchor: middle; }
.page { fill: var(--page); stroke: var(--rule); }
.rule { stroke: var(--rule); }
.guide { stroke: var(--rule); stroke-dasharray: 1 3; }
.running { fill: var(--blue); }
.stale { fill: var(--red); }
.waiting { fill: var(--page); stroke: var(--ink); stroke-dasharray: 5 3; }
.unwinding { fill: url(#hatching); stroke: var(--orange); }
.hatch { stroke: var(--orange); stroke-width: 1.5; }
.arrow { fill: none; stroke: var(--orange); stroke-width: 1.5; }
.head { fill: var(--orange); }
.succeeded { fill: var(--page); stroke: var(--green); stroke-width: 1.5; }
.check { fill: none; stroke: var(--green); stroke-width: 2; }
.failed { fill: var(--page); stroke: var(--red); stroke-width: 1.5; stroke-linejoin: round; }
.exclamation { stroke: var(--red); stroke-width: 2; }
.cancelled { fill: var(--page); stroke: var(--orange); stroke-width: 1.5; }
.stroke { fill: none; stroke: var(--orange); stroke-width: 2; }
.stop { fill: var(--orange); }
.last { fill: var(--ink); }
.shown { fill: none; stroke: var(--ink); stroke-width: 1.5; }
.applied { fill: var(--page); stroke: var(--blue); stroke-width: 2; }
.undone { fill: none; stroke: var(--faint); stroke-width: 1.5; stroke-dasharray: 4 3; }
.cursor { stroke: var(--ink); stroke-width: 2; }
.ink { fill: var(--ink); }
</style>
<defs><pattern id="hatching" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M1 0V6" class="hatch"/></pattern></defs>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="6" class="page"/>
${this.elements.join("\n")}
</svg>
`;
  }
}

const LETTER = 8.4;

/** The newest operations of a row, a lane for each, as the pictures of the policies are. */
function rowPicture(row) {
  const ops = [...row.ops.values()].slice(-10);
  const { code } = row.info;
  const sentence = `What became of ${row.info.name} as it was typed.`;
  const picture = new Picture(`${code}. ${sentence}`);
  picture.text(code, 10, 26, "heading code");
  picture.text("Recorded in the playground.", 10, 48);
  picture.text("execute, once per keystroke:", 10, 78, "faint");
  const now = world.now;
  const begin = ops[0]?.at ?? now;
  const ended = (op) => Math.min(op.end, now);
  const end = Math.max(begin + 500, ...ops.map(ended));
  const words = (op) => op.isStale ? "stale" : op.fate && op.fate !== "succeeded" ? op.fate : "";
  const room = Math.min(...ops.map((op) => {
    const note = words(op) ? 24 + LETTER * words(op).length : 14;
    return (460 - note) / Math.max(1, ended(op) - begin);
  }), 460 / (end - begin));
  const x = (time) => 10 + (time - begin) * room;
  const top = 112;
  const y = (index) => top + (index + 0.5) * 32;
  let free = 0;
  ops.forEach((op, index) => {
    // Keystrokes that would lie over each other go without their letters.
    if (x(op.at) >= free) {
      picture.text(shortened(op.text, 6), x(op.at), 100, "label key");
      free = x(op.at) + 8 * shortened(op.text, 6).length + 4;
    }
    picture.line(x(op.at), 106, x(op.at), y(index), "guide");
  });
  ops.forEach((op, index) => {
    const done = op.done ?? now;
    picture.box(x(op.at), y(index) - 10, x(op.run ?? done) - x(op.at), 20, "waiting");
    if (op.run !== null) {
      picture.box(x(op.run), y(index) - 10, x(done) - x(op.run), 20, op.isStale ? "stale" : "running");
      picture.box(x(done), y(index) - 6, x(ended(op)) - x(done), 12, "unwinding");
    }
    const isRunning = op.run !== null && done > op.run;
    const place = op.run === null && op.fate === "dropped" ? x(op.at) + 12 : x(isRunning ? op.run : op.at) + 6;
    picture.text(shortened(op.text, 8), place, y(index) + 5, isRunning ? "inBar" : "label");
  });
  ops.forEach((op, index) => {
    const by = ops.findIndex((other) => other.key === op.superseder);
    if (op.fate === "superseded" && by > index) {
      const turn = x(ops[by].at) - 10;
      const target = y(index) + 12;
      picture.path(`M${(turn + 10).toFixed(1)} ${y(by)}H${(turn + 4).toFixed(1)}q-4 0 -4 -4V${target + 6}`, "arrow");
      picture.path(`M${turn.toFixed(1)} ${target}l-4.5 7h9z`, "head");
    }
    if (!op.fate) return;
    const isWhole = op.fate === "succeeded" || op.fate === "failed";
    const isDropped = op.fate === "dropped";
    const at = isWhole ? x(op.done) - 11 : isDropped ? x(op.at) : x(ended(op)) + 10;
    picture.mark(op.fate, at, y(index));
    const start = isDropped ? x(op.at) + 18 + LETTER * shortened(op.text, 8).length : at + (isWhole ? 18 : 11);
    picture.text(words(op), start, y(index) + 5, "faint");
  });
  const bottom = top + ops.length * 32;
  picture.line(10, bottom + 4, x(end), bottom + 4, "rule");
  for (let time = 0; time <= end - begin; time += 500) {
    picture.line(x(begin + time), bottom + 4, x(begin + time), bottom + 9, "rule");
    const isSparse = room * 500 > 50 || time % 1000 === 0;
    if (isSparse) picture.text(`${time / 1000} s`, x(begin + time), bottom + 23, time ? "faint centred" : "faint");
  }
  const shown = row.screen.text;
  picture.add(`rect x="10" y="${bottom + 36}" width="460" height="28" rx="3"`, "shown");
  picture.text("the screen shows", 20, bottom + 55);
  if (shown) {
    const left = 20 + 17 * LETTER;
    picture.box(left, bottom + 41, shortened(shown, 24).length * LETTER + 12, 19, row.screen.state === "stale" ? "stale" : "last");
    picture.text(shortened(shown, 24), left + 6, bottom + 55, "inBar");
  }
  const legend = bottom + 86;
  picture.box(10, legend - 7, 32, 14, "running");
  picture.text("runs", 50, legend + 5, "faint");
  picture.box(100, legend - 7, 32, 14, "waiting");
  picture.text("waits", 140, legend + 5, "faint");
  picture.box(200, legend - 5, 32, 10, "unwinding");
  picture.text("unwinds", 240, legend + 5, "faint");
  picture.box(318, legend - 7, 32, 14, "stale");
  picture.text("stale", 358, legend + 5, "faint");
  return picture.source(legend + 20);
}

// ---- How it is asked for

/** Sends one request at a time; of what waits meanwhile it keeps what counts. */
const server = {
  session: null,
  isSending: false,
  keys: [],
  states: new Map(),
  actions: [],
  leftOut: 0,

  type(text) {
    this.keys.push(text);
    // Only the newest can still matter when so many wait.
    if (this.keys.length > 60) { this.keys.shift(); this.leftOut += 1; }
    this.send();
  },

  set(path, body) { this.states.set(path, body); this.send(); },

  act(path, body) {
    if (this.actions.length < 20) this.actions.push([path, body]);
    this.send();
  },

  next() {
    const state = this.states.entries().next().value;
    if (state) { this.states.delete(state[0]); return state; }
    if (this.actions.length) return this.actions.shift();
    if (this.keys.length) return ["/keys", { texts: this.keys.splice(0) }];
    return null;
  },

  async send() {
    if (this.isSending || !this.session) return;
    this.isSending = true;
    for (let next = this.next(); next; next = this.next()) {
      try {
        const answer = await fetch(next[0], {
          method: "POST", body: JSON.stringify(next[1]),
          headers: { "Content-Type": "application/json", "X-Session": this.session },
        });
        if (!answer.ok) say(await answer.text(), true);
        else if (byId("status").classList.contains("alarm")) say("");
      } catch {
        say("The playground does not answer. Is it still running?", true);
      }
    }
    this.isSending = false;
  },

  listen() {
    const source = new EventSource("/events");
    const on = (name, take) => source.addEventListener(name, (event) => take(JSON.parse(event.data)));
    on("hello", (hello) => {
      this.session = hello.session;
      world.offset = -Infinity;
      world.last = -Infinity;
      world.begin = 0;
      addRows(hello.rows);
      composer.attach(hello.composed);
      weather.show(hello.weather);
      say("Connected. Type something.");
      this.send();
    });
    on("leftOut", (count) => {
      say(`${count + this.leftOut} keystrokes are left out: the playground takes 100 a second.`);
    });
    on("runs", (events) => world.hear(events));
    on("undo", (picture) => desk.show(picture));
    on("composed", (info) => composer.show(info));
    source.onerror = () => {
      this.session = null;
      say("The connection is lost. The page tries again.", true);
    };
  },
};

const weather = {
  sliders: ["latency", "jitter", "failures"],
  units: { latency: "ms", jitter: "%", failures: "%" },

  attach() {
    for (const id of this.sliders) byId(id).addEventListener("input", () => this.change());
    byId("ignores").addEventListener("change", () => this.change());
  },

  show(values) {
    for (const id of this.sliders) byId(id).value = values[id];
    byId("ignores").checked = values.ignoresCancellation;
    this.describe();
  },

  describe() {
    for (const id of this.sliders) setOutput(byId(id), this.units[id]);
    const value = (id) => byId(id).value;
    const ignores = byId("ignores").checked ? ", bodies ignore their cancellation" : "";
    setText(byId("weather-words"),
      `${value("latency")} ms ± ${value("jitter")} %, ${value("failures")} % fail${ignores}`);
  },

  change() {
    this.describe();
    const body = Object.fromEntries(this.sliders.map((id) => [id, Number(byId(id).value)]));
    server.set("/weather", { ...body, ignoresCancellation: byId("ignores").checked });
  },
};

function setOutput(slider, unit) {
  const words = `${slider.value} ${unit}`;
  setText(slider.parentElement.querySelector("output"), words);
  slider.setAttribute("aria-valuetext", words);
}

/** The last row, whose policy is put together. */
const composer = {
  attach(settings) {
    const { element } = world.rows.at(-1).view;
    element.classList.add("own");
    this.form = byId("composer").content.cloneNode(true).querySelector("form");
    element.firstElementChild.after(this.form);
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("input", () => this.change());
    for (const [name, value] of Object.entries(settings)) {
      const control = this.form.elements[name];
      if (control.type === "checkbox") control.checked = value; else control.value = value;
    }
    this.form.elements.waiting.value = settings.waiting ?? 10;
    this.describe();
  },

  /** Disables what the rule has no use for, and returns what is left. */
  describe() {
    const { elements } = this.form;
    const number = (name) => Number(elements[name].value);
    const hasLine = elements.rule.value === "wait";
    const isNewest = !hasLine && elements.rule.value !== "drop" && number("limit") === 1;
    elements.debounce.disabled = !isNewest;
    elements.longest.disabled = !isNewest || number("debounce") === 0;
    elements.starts.disabled = number("interval") === 0;
    elements.waiting.disabled = elements.isByPriority.disabled = !hasLine;
    const debounce = isNewest ? number("debounce") : 0;
    if (number("longest") > 0) elements.longest.value = Math.max(number("longest"), debounce);
    const waiting = !hasLine || number("waiting") === 10 ? null : number("waiting");
    const words = (name, value) => {
      setText(elements[name].parentElement.querySelector("output"), value);
      elements[name].setAttribute("aria-valuetext", value);
    };
    const time = (name) => number(name) === 0 ? "off" : `${number(name)} ms`;
    words("limit", `${number("limit")}`);
    words("debounce", isNewest ? time("debounce") : "off");
    words("longest", number("longest") === 0 ? "no end" : time("longest"));
    words("starts", `${number("starts")}`);
    words("interval", number("interval") === 0 ? "any time" : time("interval"));
    words("waiting", waiting === null ? "no bound" : `at most ${waiting}`);
    return {
      rule: elements.rule.value, limit: number("limit"), debounce,
      longest: number("longest"), starts: number("starts"), interval: number("interval"), waiting,
      isByPriority: hasLine && elements.isByPriority.checked,
    };
  },

  change() {
    server.set("/policy", this.describe());
  },

  show(info) {
    const row = world.rows.at(-1);
    row.info = info;
    setText(row.view.name, info.name);
    row.clear();
    draw.soon();
  },
};

const typist = {
  timer: 0,

  attach() {
    const field = byId("field");
    field.addEventListener("input", () => {
      // A key that is struck before the page is connected would be lost without a word.
      if (!server.session) return;
      server.type(field.value);
    });
    byId("clear").addEventListener("click", () => { this.stop(); server.act("/clear", {}); });
    byId("demo").addEventListener("click", () => this.type("swift", 150));
  },

  stop() { clearInterval(this.timer); },

  type(text, interval) {
    this.stop();
    let count = 0;
    const strike = () => {
      count += 1;
      byId("field").value = text.slice(0, count);
      byId("field").dispatchEvent(new InputEvent("input"));
      if (count === text.length) this.stop();
    };
    this.timer = setInterval(strike, interval);
    strike();
  },
};

// ---- Recordings

const replay = {
  isPlaying: false,

  attach(recordings) {
    this.recordings = recordings.runs;
    for (const element of document.querySelectorAll(".live")) element.hidden = true;
    for (const element of document.querySelectorAll(".recorded")) element.hidden = false;
    document.title += " – a recording";
    addRows(recordings.rows);
    const fill = (select, values, words) => {
      select.append(...values.map((value) => make("option", { value }, words(value))));
      select.addEventListener("change", () => this.play());
    };
    const values = (key) => [...new Set(this.recordings.map((run) => run[key]))];
    fill(byId("interval"), values("interval"), (value) => `a key every ${value} ms`);
    fill(byId("recorded-latency"), values("latency"), (value) => `about ${value} ms`);
    byId("interval").selectedIndex = 1;
    byId("recorded-latency").selectedIndex = 1;
    byId("play").addEventListener("click", () => this.play());
    say("A recording. Choose how fast is typed and how slow the server is, then press Play.");
  },

  play() {
    const run = this.recordings.find((run) =>
      run.interval === Number(byId("interval").value)
      && run.latency === Number(byId("recorded-latency").value));
    if (!run) return;
    this.events = run.events;
    this.next = 0;
    this.isPlaying = true;
    const first = run.events[0]?.[0] ?? 0;
    world.last = -Infinity;
    world.restart(first);
    world.offset = first - performance.now();
    say("Playing a recording.");
    draw.soon();
  },

  /** Lets happen what is due. */
  advance() {
    if (!this.isPlaying) return;
    const now = performance.now() + world.offset;
    const start = this.next;
    while (this.next < this.events.length && this.events[this.next][0] <= now) this.next += 1;
    world.hear(this.events.slice(start, this.next));
    setText(byId("typed"), world.text);
    this.isPlaying = this.next < this.events.length;
  },
};

// ---- Undo

/** Makes the children of an element those of a list, and keeps the ones that are there. */
function sync(parent, items, key, create, update) {
  const old = new Map([...parent.children].map((child) => [child.dataset.id, child]));
  let place = parent.firstElementChild;
  for (const item of items) {
    const id = String(key(item));
    let child = old.get(id);
    if (!child) { child = create(item); child.dataset.id = id; }
    old.delete(id);
    update(child, item);
    if (child === place) place = place.nextElementSibling;
    else parent.insertBefore(child, place);
  }
  for (const child of old.values()) child.remove();
}

const desk = {
  picture: null,
  /** What was asked, and what the entries were then: for the picture that is copied. */
  story: [],

  attach() {
    const act = (action, more = {}) => server.act("/undo", { action, ...more });
    this.act = act;
    byId("undo-button").addEventListener("click", () => act("undo"));
    byId("redo-button").addEventListener("click", () => act("redo"));
    byId("fail-next").addEventListener("click", () => {
      this.trouble({ failsNext: !this.picture?.trouble.failsNext });
    });
    byId("undo-latency").addEventListener("input", () => this.trouble({}));
    byId("undo-failures").addEventListener("input", () => this.trouble({}));
    byId("copy-pool").addEventListener("click", () => copy(poolPicture(this.story), "The picture"));
    document.addEventListener("keydown", (event) => {
      const isText = event.target.matches?.("input:not([type=checkbox]):not([type=range])");
      if (byId("undo").hidden || isText || !(event.ctrlKey || event.metaKey)) return;
      const key = event.key.toLowerCase();
      if (key !== "z" && key !== "y") return;
      event.preventDefault();
      act(key === "y" || event.shiftKey ? "redo" : "undo");
    });
  },

  trouble(change) {
    const [latency, failures] = [byId("undo-latency"), byId("undo-failures")];
    setOutput(latency, "ms");
    setOutput(failures, "%");
    const failsNext = this.picture?.trouble.failsNext ?? false;
    const values = { latency: Number(latency.value), failures: Number(failures.value), failsNext };
    server.act("/undo", { action: "trouble", trouble: { ...values, ...change } });
  },

  show(picture) {
    const isFirst = !this.picture;
    this.picture = picture;
    if (isFirst) {
      byId("undo-latency").value = picture.trouble.latency;
      byId("undo-failures").value = picture.trouble.failures;
      setOutput(byId("undo-latency"), "ms");
      setOutput(byId("undo-failures"), "%");
    }
    const label = (id, word, title, can) => {
      setText(byId(id), title ? `${word} “${title}”` : word);
      byId(id).disabled = !can;
    };
    label("undo-button", "Undo", picture.undoTitle, picture.canUndo);
    label("redo-button", "Redo", picture.redoTitle, picture.canRedo);
    byId("fail-next").setAttribute("aria-pressed", picture.trouble.failsNext);
    this.showLists(picture);
    this.showPool(picture);
    this.showAsked(picture);
    this.remember(picture);
  },

  showLists({ lists }) {
    const all = lists.map((list, index) => ({ ...list, index }));
    sync(byId("lists"), all, (list) => list.index, (list) => {
      const input = make("input", { "aria-label": `New item of ${list.name}`, maxlength: 30 });
      const add = (event) => {
        event.preventDefault();
        const text = input.value.trim();
        if (!text) return;
        this.act("add", { list: list.index, text });
        input.value = "";
      };
      return make("fieldset", { class: "list" }, make("legend", {}, list.name),
        make("form", { onsubmit: add }, input, make("button", {}, "Add")), make("ul"),
        make("div", { class: "documents" }, ...["undo", "redo"].map((action) =>
          make("button", { onclick: () => this.act(action, { list: list.index }) }))));
    }, (element, list) => {
      this.showItems(element.querySelector("ul"), list, lists);
      const [undo, redo] = element.querySelectorAll(".documents button");
      const label = (button, word, title, can) => {
        setText(button, title ? `${word} “${title}” in ${list.name}` : `${word} in ${list.name}`);
        button.disabled = !can;
      };
      label(undo, "Undo", list.undoTitle, list.canUndo);
      label(redo, "Redo", list.redoTitle, list.canRedo);
    });
  },

  showItems(element, list, lists) {
    sync(element, list.items, (item) => item.id, (item) => {
      const number = { item: item.id };
      const box = make("input", { type: "checkbox" });
      box.addEventListener("click", (event) => {
        // It is checked when the server has done so.
        event.preventDefault();
        this.act("toggle", number);
      });
      const other = lists[1 - list.index].name;
      return make("li", {}, make("label", {}, box, make("span")),
        make("button", { onclick: () => this.act("move", number), "aria-label": `Move ${item.text} to ${other}` }, "Move"),
        make("button", { onclick: () => this.act("remove", number), "aria-label": `Remove ${item.text}` }, "Remove"));
    }, (row, item) => {
      // The state of a checkbox cannot be changed while its own click is heard.
      setTimeout(() => { row.querySelector("input").checked = item.isDone; });
      setText(row.querySelector("span"), item.text);
      row.querySelector("span").classList.toggle("done", item.isDone);
    });
  },

  showPool({ entries }) {
    const titles = new Map(entries.map((entry) => [String(entry.id), entry.title]));
    const applied = entries.filter((entry) => entry.isApplied);
    const undone = entries.filter((entry) => !entry.isApplied);
    sync(byId("pool"), [...applied, { id: "cursor" }, ...undone], (entry) => entry.id, (entry) => {
      if (entry.id === "cursor") {
        return make("li", { class: "cursor", "aria-label": "The cursor" }, make("span", { "aria-hidden": "true" }, "cursor"));
      }
      const point = (isOn) => () => this.point(entry.id, isOn);
      return make("li", { class: "entry", onmouseenter: point(true), onmouseleave: point(false), onfocusin: point(true), onfocusout: point(false) },
        make("p", { class: "title" }), make("p", { class: "note" }),
        make("button", { onclick: () => this.move(entry.id) }));
    }, (element, entry) => {
      if (entry.id === "cursor") return;
      element.classList.toggle("undone", !entry.isApplied);
      setText(element.querySelector(".title"), entry.title);
      const names = entry.blockers.map((id) => `“${titles.get(String(id)) ?? id}”`).join(", ");
      setText(element.querySelector(".note"),
        !entry.isApplied ? "undone, can be redone" : names ? `blocked by ${names}` : "applied");
      const button = element.querySelector("button");
      const word = entry.isApplied ? "Undo" : "Redo";
      setText(button, `${word} this one`);
      button.setAttribute("aria-label", `${word} this one: ${entry.title}`);
    });
  },

  /** Undoes or redoes one entry, wherever it is. */
  move(id) {
    const isApplied = this.picture.entries.find((entry) => entry.id === id)?.isApplied;
    this.act(isApplied ? "undoEntry" : "redoEntry", { entry: id });
  },

  /** Shows which entries block one. */
  point(id, isOn) {
    const blockers = this.picture.entries.find((entry) => entry.id === id)?.blockers ?? [];
    for (const element of byId("pool").children) {
      element.classList.toggle("blocks", isOn && blockers.some((id) => String(id) === element.dataset.id));
    }
  },

  showAsked({ asked }) {
    sync(byId("asked"), asked, (one) => one.id, () => {
      return make("li", {}, make("span", { class: "state" }), make("span", { class: "words" }));
    }, (element, one) => {
      element.dataset.state = one.state;
      setText(element.querySelector(".state"), one.state);
      setText(element.querySelector(".words"), one.reason ? `${one.words}: ${one.reason}` : one.words);
    });
  },

  /** Notes what has ended since the last picture. */
  remember(picture) {
    const known = new Set(this.story.map((row) => row.id));
    for (const one of picture.asked) {
      const isOver = one.state !== "waiting" && one.state !== "running";
      if (!isOver || known.has(one.id)) continue;
      this.story.push({ ...one, entries: picture.entries });
      const words = one.reason ? `${one.words}: ${one.reason}` : `${one.words}: ${one.state}`;
      if (!byId("undo").hidden) say(words, one.state === "failed");
    }
    this.story = this.story.slice(-10);
  },
};

/** What was asked of the history, and its entries after that, as the picture of the pool is. */
function poolPicture(story) {
  const picture = new Picture("UseCaseHistory. What was asked, and the entries after that.");
  const short = (text, count) => text.length > count ? `${text.slice(0, count - 1)}…` : text;
  picture.text("UseCaseHistory", 10, 26, "heading code");
  picture.text("Recorded in the playground.", 10, 48);
  const width = 720;
  story.forEach((row, index) => {
    const y = 62 + (index + 0.5) * 37;
    picture.mark(row.state, 20, y);
    picture.text(short(row.words, 26), 36, y + 5);
    let x = 270;
    const entry = (one) => {
      const title = short(one.title, 12);
      if (x + title.length * LETTER > width - 30) return;
      picture.box(x, y - 11, title.length * LETTER + 10, 22, one.isApplied ? "applied" : "undone");
      picture.text(title, x + 5, y + 5);
      x += title.length * LETTER + 18;
    };
    // The last ones have room.
    row.entries.filter((one) => one.isApplied).slice(-3).forEach(entry);
    picture.line(x, y - 14, x, y + 14, "cursor");
    picture.path(`M${(x - 4).toFixed(1)} ${y - 17}h8l-4 6z`, "ink");
    x += 10;
    row.entries.filter((one) => !one.isApplied).forEach(entry);
  });
  const bottom = 62 + story.length * 37;
  picture.line(10, bottom + 6, width - 10, bottom + 6, "rule");
  picture.box(10, bottom + 17, 26, 18, "applied");
  picture.text("applied", 44, bottom + 31, "faint");
  picture.box(130, bottom + 17, 26, 18, "undone");
  picture.text("undone, can be redone", 164, bottom + 31, "faint");
  return picture.source(bottom + 48, width);
}

// ---- The page

const tabs = {
  attach() {
    this.all = [...document.querySelectorAll("[role=tab]")];
    for (const tab of this.all) {
      tab.addEventListener("click", () => {
        this.select(tab);
        history.replaceState(null, "", `#${tab.getAttribute("aria-controls")}`);
      });
    }
    document.querySelector("[role=tablist]").addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const index = (this.all.indexOf(document.activeElement) + step + this.all.length) % this.all.length;
      this.all[index].click();
      this.all[index].focus();
    });
    this.select(this.all.find((tab) => tab.getAttribute("aria-controls") === location.hash.slice(1)) ?? this.all[0]);
  },

  select(selected) {
    for (const tab of this.all) {
      const isSelected = tab === selected;
      tab.setAttribute("aria-selected", isSelected);
      tab.tabIndex = isSelected ? 0 : -1;
      byId(tab.getAttribute("aria-controls")).hidden = !isSelected;
    }
  },
};

const page = {
  copied: "",

  open() {
    const defs = make("svg", { width: 0, height: 0, "aria-hidden": "true" });
    defs.innerHTML = '<defs><pattern id="hatching" width="6" height="6" patternUnits="userSpaceOnUse" '
      + 'patternTransform="rotate(45)"><path d="M1 0V6" class="hatch"/></pattern></defs>';
    document.body.append(defs);
    if (window.recordings) { replay.attach(window.recordings); return; }
    tabs.attach();
    weather.attach();
    typist.attach();
    desk.attach();
    server.listen();
    byId("weather").open = matchMedia("(min-width: 901px)").matches;
    byId("field").focus({ preventScroll: true });
  },
};

page.open();
