// Texts of programs: only the rows in sight are in the document.
const ROW = 18;
const panes = [];

class Pane {
  constructor(spec, folded) {
    Object.assign(this, spec);
    this.ends = new Map(spec.folds);
    this.closed = new Set(spec.folds.map(([start]) => start).filter((start) => start > 0
      && (folded || spec.name === "optimized") && !/^(ENTRY|  func.func public)/.test(spec.text[start])));
    this.matches = new Set();
    this.title = make("span");
    this.head = make("h2", { tabindex: "0", title: "Narrow or wide" }, spec.name, this.title);
    this.head.addEventListener("click", () => this.node.classList.toggle("small"));
    this.space = make("div", { class: "space" });
    this.rows = make("div", { class: "rows", tabindex: "0" }, this.space);
    this.node = make("section", { class: "pane", "data-pane": spec.name }, this.head, this.rows);
    this.rows.addEventListener("scroll", () => this.draw());
    this.space.addEventListener("click", (event) => this.click(event));
    new ResizeObserver(() => this.draw()).observe(this.rows);
    this.layout();
  }

  // The lines that are not folded away.
  layout() {
    this.shown = [];
    for (let i = 0; i < this.text.length; i += 1) {
      this.shown.push(i);
      if (this.closed.has(i)) i = this.ends.get(i);
    }
    this.space.style.height = `${this.shown.length * ROW}px`;
    this.title.textContent = `${this.text.length.toLocaleString("en")} lines`;
    this.draw();
  }

  draw() {
    const first = Math.max(0, Math.floor(this.rows.scrollTop / ROW) - 20);
    const last = Math.min(this.shown.length, first + Math.ceil(this.rows.clientHeight / ROW) + 40);
    const rows = [];
    for (let at = first; at < last; at += 1) rows.push(this.row(at));
    this.space.replaceChildren(...rows);
  }

  row(at) {
    const i = this.shown[at];
    const numbers = this.equations[i];
    const classes = ["row", numbers.length ? "can" : "", touches(numbers) ? "on" : "",
      this.matches.has(i) ? "match" : ""];
    const row = make("div", { class: classes.join(" "), "data-line": i,
      "data-equations": numbers.join(" ") });
    row.style.top = `${at * ROW}px`;
    if (this.ends.has(i)) row.append(make("span", { class: "fold" }, this.closed.has(i) ? "▸" : "▾"));
    row.append(...coloured(this.text[i]));
    if (this.closed.has(i)) {
      row.append(make("span", { class: "more" }, ` … ${this.ends.get(i) - i} lines`));
    }
    return row;
  }

  click(event) {
    const row = event.target.closest(".row");
    if (!row) return;
    const i = Number(row.dataset.line);
    if (event.target.className === "fold") this.toggle(i);
    else if (this.equations[i].length) {
      const all = new Set();
      for (const number of this.equations[i]) {
        if (this.name === "jaxpr") withInner(number, all); else all.add(number);
      }
      select([...all], this);
    }
  }

  toggle(i) {
    if (this.closed.has(i)) this.closed.delete(i); else this.closed.add(i);
    this.layout();
  }

  foldAll(close) {
    this.closed = new Set(close ? this.folds.map(([start]) => start).filter((s) => s > 0) : []);
    this.layout();
  }

  // Bring a line into sight, and open what it is folded into.
  show(i) {
    let opened = false;
    for (const [start, end] of this.folds) {
      if (start < i && i <= end && this.closed.delete(start)) opened = true;
    }
    if (opened) this.layout();
    const top = this.shown.indexOf(i) * ROW;
    const { scrollTop, clientHeight } = this.rows;
    if (top < scrollTop || top > scrollTop + clientHeight - ROW) {
      this.rows.scrollTop = Math.max(0, top - clientHeight / 3);
    }
    this.draw();
  }

  changed(from) {
    const first = this.equations.findIndex((numbers) =>
      state.focus !== null && numbers.includes(state.focus));
    const any = first >= 0 ? first : this.equations.findIndex(touches);
    if (from !== this && any >= 0) this.show(any); else this.draw();
  }

  find(words) {
    this.matches = new Set();
    if (words) this.text.forEach((line, i) => {
      if (line.toLowerCase().includes(words)) this.matches.add(i);
    });
    this.draw();
    return [...this.matches].map((i) => ({ pane: this, line: i }));
  }
}

// Parts of a line: variables, types, operations.
const PARTS = /(%[\w.#\-]+)|(\b(?:u?int|float|bfloat|complex|bool|f|bf|s|u|pred|tensor)\d*(?:\[[^\]]*\](?:\{[\d,]*\})?|<[^>]*>))|(= (?:stablehlo\.)?[\w.]+)|(\b(?:metadata|calls|kind)=\S+)/g;

function coloured(text) {
  const found = [];
  let at = 0;
  for (const match of text.matchAll(PARTS)) {
    if (match.index > at) found.push(text.slice(at, match.index));
    const tag = match[1] ? "b" : match[3] ? "i" : "s";
    found.push(make(tag, {}, match[0]));
    at = match.index + match[0].length;
  }
  found.push(text.slice(at));
  return found;
}

function makePanes(data) {
  for (const spec of data.panes) panes.push(new Pane(spec, data.folded));
  document.getElementById("panes").append(...panes.map((pane) => pane.node));
  state.listeners.push((from) => panes.forEach((pane) => pane.changed(from)));
}
