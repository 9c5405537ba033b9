"use strict";

// One page of plain JavaScript: what has happened (World, Row), how it is drawn, how it is asked
// for, and the lists with their undo. Everything that is kept has a bound.

const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

function make(name, attributes = {}, ...children) {
  const element = ["svg", "g", "rect", "text", "line", "path", "circle", "title"].includes(name)
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
const LANES = 7;
/** The longest time that is seen at once. */
const LONGEST = 20_000;
/** The time that a lane stays empty after an operation, for its sign and the text of the next. */
const GAP = 500;
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
    // The lane that has been empty for longest, so that no text meets the sign before it.
    const free = this.lanes.map((op) => op ? op.end + (op.isStale ? 2 * GAP : GAP) : -Infinity);
    const longest = Math.min(...free);
    const lane = longest <= time ? free.indexOf(longest) : -1;
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
    return parts.join(", ");
  }
}

const world = {
  rows: [],
  keys: 0,
  text: "",
  begin: 0,
  /** The time of the newest keystroke. */
  struck: 0,
  last: -Infinity,
  offset: -Infinity,
  isLost: false,

  get isBusy() { return !this.isLost && this.rows.some((row) => row.isBusy); },

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
        this.struck = time;
        this.keys += 1;
        this.newest = key;
      }
      this.last = Math.max(this.last, time);
    }
    if (events.length) draw.soon();
  },

  /** Stands still: nobody tells any more what happens. */
  lose() {
    this.last = this.now;
    this.isLost = true;
    draw.soon();
  },

  /**
   * The one axis of all rows, in milliseconds. It moves with the keystrokes; after the last one it
   * grows, so that a slow row does not push the others out of sight.
   */
  get axis() {
    const length = this.now + 400 - this.begin;
    const typed = Math.max(0, this.struck - 2400 - this.begin);
    const scroll = Math.max(typed, length - LONGEST, 0);
    return { span: Math.max(1500, length - scroll), scroll };
  },

  restart(time) {
    this.begin = time;
    this.keys = 0;
    for (const row of this.rows) row.clear();
  },
};

// ---- How it is drawn

const PITCH = 18;
const BAR = 13;
/** The room of a text, which stands before its bar. */
const MARGIN = 46;

class RowView {
  constructor(row) {
    this.row = row;
    const { info, number } = row;
    this.svg = make("svg", { role: "img", width: "100%", height: "148" });
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
        button("Copy as SVG", () => copyPicture(this.element, row.info.code)),
        button("Copy as code", () => copy(this.row.info.code, this.row.info.code))),
      make("div", { class: "body" }, this.timeline, this.screen));
    this.width = 0;
    this.isResized = true;
  }

  clear() {
    this.bars.replaceChildren();
  }

  resize(width) {
    this.width = width;
    this.isResized = true;
    draw.soon();
  }

  draw(now, { span, scroll }) {
    const { row } = this;
    const axis = `${span} ${scroll}`;
    if (!row.isDirty && !row.isBusy && !this.isResized && axis === this.axis) return;
    const scale = (this.width - MARGIN) / span;
    const isScaled = this.isResized || scale !== this.scale;
    [this.axis, this.scale] = [axis, scale];
    this.bars.setAttribute("transform", `translate(${(-scroll * scale).toFixed(1)} 0)`);
    for (const [key, op] of row.ops) {
      if (op.lane < 0) continue;
      if (op.end + 2 * GAP < world.begin + scroll) { row.forget(key, op); continue; }
      if (op.isDirty || op.end === Infinity || isScaled) {
        this.drawOperation(op, now, scale);
        op.isDirty = op.end === Infinity;
      }
    }
    this.drawGrid(span, scroll, scale);
    this.drawScreen();
    row.isDirty = false;
    this.isResized = false;
  }

  drawOperation(op, now, scale) {
    if (!op.group) this.addOperation(op);
    const x = (time) => MARGIN + (time - world.begin) * scale;
    const { waiting, running, unwinding, arrow, label, mark } = op.parts;
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
    label.setAttribute("x", (x(op.at) - 4).toFixed(1));
    if (!op.fate) return;
    mark.setAttribute("transform",
      `translate(${(x(Math.min(op.end, now)) + 9).toFixed(1)} ${middle(op)})`);
    const by = this.row.ops.get(op.superseder);
    if (by?.lane >= 0) {
      // From the start of the newer operation to the moment at which this one was cancelled.
      const side = Math.sign(by.lane - op.lane);
      arrow.setAttribute("d", `M${x(done).toFixed(1)} ${middle(by)}V${middle(op) + side * BAR / 2}`
        + `l-3 ${4 * side}m3 ${-4 * side}l3 ${4 * side}`);
    }
    if (mark.dataset.fate === fate) return;
    mark.dataset.fate = fate;
    mark.replaceChildren(...markParts(op.fate));
    if (op.isStale) mark.append(make("text", { class: "word", x: 10, y: 4 }, "stale"));
    const cause = by ? ` by “${by.text}”` : "";
    setText(op.parts.title, `“${op.text}” ${fate}${cause} after ${done - op.at} ms`);
  }

  addOperation(op) {
    const y = middle(op) - BAR / 2;
    const rect = (name, inset) => make("rect", {
      class: name, x: 0, width: 0, y: y + inset, height: BAR - 2 * inset, rx: 3,
    });
    op.parts = {
      title: make("title"), waiting: rect("waiting", 0), running: rect("running", 0), unwinding: rect("unwinding", 2),
      arrow: make("path", { class: "arrow" }), mark: make("g"),
      label: make("text", { class: "label", y: y + BAR - 2.5 }, shortened(op.text, 6)),
    };
    op.group = make("g", { class: "op", "data-key": op.key, "data-text": op.text },
      ...Object.values(op.parts));
    this.bars.append(op.group);
  }

  drawGrid(span, scroll, scale) {
    const first = Math.ceil(scroll / 1000);
    const lines = [];
    for (let second = first; second * 1000 <= scroll + span; second += 1) {
      const x = (MARGIN + (second * 1000 - scroll) * scale).toFixed(1);
      lines.push(make("line", { class: "grid", x1: x, x2: x, y1: 0, y2: LANES * PITCH + 4 }));
      lines.push(make("text", { class: "tick", x, y: LANES * PITCH + 18 }, `${second} s`));
    }
    this.grid.replaceChildren(...lines);
  }

  drawScreen() {
    const { screen } = this.row;
    const state = screen.state === "fresh" && screen.key !== world.newest ? "behind" : screen.state;
    const words = {
      empty: "", fresh: "up to date", behind: "behind what is typed",
      stale: "stale: an older answer came last", alert: "an error: the server is busy",
    };
    if (this.screen.dataset.state !== state) this.screen.dataset.state = state;
    setText(this.answer, shortened(screen.text, 14) || "\u00a0");
    setText(this.state, words[state]);
    const summary = this.row.summary();
    setText(this.counts, summary);
    if (this.svg.getAttribute("aria-label") !== summary) this.svg.setAttribute("aria-label", summary);
  }
}

/** The height of the middle of a bar. */
function middle(op) { return (op.lane + 0.5) * PITCH; }

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
    for (const row of world.rows) row.view?.draw(now, world.axis);
    if (world.isBusy || replay.isPlaying) { this.soon(); return; }
    // Events that are on their way here may change it.
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.end(), 400);
  },

  /** Says once, when everything has come to rest, what there is to see. */
  end() {
    if (!byId("undo").hidden) return;
    if (world.isLost || world.isBusy || world.keys === 0 || this.said === world.last) return;
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

/** A copy of a drawing with the look that it has now, without the style sheet. */
function painted(drawing) {
  const copied = drawing.cloneNode(true);
  const originals = [drawing, ...drawing.querySelectorAll("*")];
  const looks = ["fill", "stroke", "stroke-width", "stroke-dasharray", "text-anchor",
    "font-family", "font-size", "font-weight"];
  [copied, ...copied.querySelectorAll("*")].forEach((element, index) => {
    const style = getComputedStyle(originals[index]);
    for (const look of looks) element.setAttribute(look, style.getPropertyValue(look));
  });
  return copied;
}

/** The lines of a text as they are broken on the page. */
function lines(node) {
  const range = document.createRange();
  const found = [];
  for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const rect = range.getBoundingClientRect();
    if (found.at(-1)?.rect.y === rect.y) found.at(-1).text += ` ${word}`;
    else found.push({ text: word, rect });
  }
  return found;
}

/** Copies what is seen of an element, without its buttons. */
function copyPicture(element, title) {
  const { x: left, y: top, width, height } = element.getBoundingClientRect();
  const picture = make("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" },
    make("title", {}, title), painted(byId("hatching").parentElement));
  const visit = (node) => {
    if (node.nodeType === Node.TEXT_NODE) {
      const { color, fontFamily, fontSize, fontWeight } = getComputedStyle(node.parentElement);
      picture.append(...lines(node).map(({ text, rect }) => make("text", {
        x: rect.x - left, y: rect.y - top + rect.height / 2, "dominant-baseline": "central",
        fill: color, "font-family": fontFamily, "font-size": fontSize, "font-weight": fontWeight,
      }, text)));
    }
    if (node.nodeType !== Node.ELEMENT_NODE || node.matches("button, form")) return;
    const rect = node.getBoundingClientRect();
    const place = { x: rect.x - left, y: rect.y - top, width: rect.width, height: rect.height };
    if (node.localName === "svg") {
      const drawing = painted(node);
      for (const [name, value] of Object.entries(place)) drawing.setAttribute(name, value);
      picture.append(drawing);
      return;
    }
    const style = getComputedStyle(node === element ? document.body : node);
    const border = getComputedStyle(node);
    picture.append(make("rect", {
      ...place, rx: border.borderRadius, "fill": style.backgroundColor,
      "stroke": border.borderTopColor, "stroke-width": border.borderTopWidth,
      "stroke-dasharray": border.borderTopStyle === "dashed" ? "4 3" : null,
    }));
    node.childNodes.forEach(visit);
  };
  visit(element);
  return copy(new XMLSerializer().serializeToString(picture), "The picture");
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
  source: null,

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
    const source = new EventSource(this.session ? `/events?session=${this.session}` : "/events");
    this.source = source;
    const on = (name, take) => source.addEventListener(name, (event) => take(JSON.parse(event.data)));
    on("hello", (hello) => {
      this.session = hello.session;
      world.offset = -Infinity;
      world.last = -Infinity;
      world.begin = 0;
      world.isLost = false;
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
      source.close();
      this.session = null;
      world.lose();
      say("The playground has gone: nothing on this page happens any more. "
        + "It goes on when you start the playground again at this address.", true);
      setTimeout(() => this.listen(), 1000);
    };
  },

  /**
   * Gives the connection back while the page is hidden and nothing happens. A browser has six
   * connections to a server, so a page in a seventh tab would wait for one without an end.
   */
  rest() {
    clearTimeout(this.timer);
    if (!document.hidden) {
      if (!this.source) this.listen();
      return;
    }
    this.timer = setTimeout(() => {
      const isBusy = world.isBusy || desk.picture?.isBusy || this.isSending;
      if (!this.session || isBusy) { this.rest(); return; }
      this.source?.close();
      this.source = null;
    }, 1000);
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
    element.append(this.form);
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
  /** The operations whose end has been said. */
  told: new Set(),

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
    byId("copy-pool").addEventListener("click", () => copyPicture(byId("pool"), "UseCaseHistory"));
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
    this.tell(picture);
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

  /** Says what has ended since the last picture. */
  tell({ asked }) {
    const over = asked.filter((one) => one.state !== "waiting" && one.state !== "running");
    for (const one of over) {
      if (this.told.has(one.id) || byId("undo").hidden) continue;
      say(`${one.words}: ${one.reason ?? one.state}`, one.state === "failed");
    }
    this.told = new Set(over.map((one) => one.id));
  },
};

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
    document.addEventListener("visibilitychange", () => server.rest());
    byId("weather").open = matchMedia("(min-width: 901px)").matches;
    byId("field").focus({ preventScroll: true });
  },
};

page.open();
