// The flame graph by names, and the memory over the run.
const SVG = "http://www.w3.org/2000/svg";
function draw(tag, attributes, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// "transpose(jvp(encoder/attention))" as ["transpose", "jvp", "encoder", "attention"].
function nameParts(names) {
  return names.split(/[/()]+/).filter(Boolean);
}

function flameTree(metric) {
  const root = { name: state.data.name, total: 0, backward: 0, numbers: [], children: new Map() };
  for (const equation of state.equations) {
    const amount = metric === "seconds" ? equation.seconds : equation.runs * equation[metric];
    if (!(amount > 0)) continue;
    const place = equation.line ? `${baseName(equation.file)}:${equation.line}` : "no line";
    const path = [...nameParts(equation.names), place, equation.primitive];
    let node = root;
    for (const name of ["", ...path]) {
      if (name) {
        if (!node.children.has(name)) {
          node.children.set(name, { name, total: 0, backward: 0, numbers: [], children: new Map() });
        }
        node = node.children.get(name);
      }
      node.total += amount;
      node.backward += equation.backward ? amount : 0;
      node.numbers.push(equation.number);
    }
  }
  return root;
}

class Flame {
  constructor(view) {
    this.view = view;
    const metrics = [["seconds", "time"], ["operations", "operations"], ["bytes", "moved"]]
      .filter(([key]) => state.equations.some((one) => one[key] > 0));
    this.choice = make("select", { "aria-label": "Quantity" },
      ...metrics.map(([key, title]) => make("option", { value: key }, title)));
    this.choice.addEventListener("change", () => { this.top = null; this.show(); });
    this.back = make("button", {}, "whole program");
    this.back.addEventListener("click", () => { this.top = null; this.show(); });
    this.svg = draw("svg", { role: "img", "aria-label": "flame graph by names" });
    view.append(make("div", { class: "bar-tools" }, this.choice, this.back,
      make("span", { class: "dim" }, "click selects, double click enlarges")), this.svg);
    this.top = null;
    new ResizeObserver(() => this.show()).observe(view);
    state.listeners.push(() => this.mark());
  }

  show() {
    if (this.view.hidden || !this.choice.value) return;
    const width = Math.max(this.view.clientWidth, 200);
    const tree = this.top || flameTree(this.choice.value);
    this.boxes = [];
    this.depth = 0;
    this.svg.replaceChildren();
    this.box(tree, 0, width, 0);
    this.svg.setAttribute("height", String((this.depth + 1) * 20 + 4));
    this.mark();
  }

  box(node, x, width, depth) {
    if (width < 1) return;
    this.depth = Math.max(this.depth, depth);
    const isBackward = node.backward * 2 > node.total;
    const rect = draw("rect", { class: `box ${isBackward ? "backward" : "forward"}`, x, y: depth * 20,
      width: Math.max(width - 0.5, 0.5), height: 19, "fill-opacity": 0.95 - 0.06 * (depth % 3) });
    const format = { seconds: asTime, operations: asCount, bytes: asBytes }[this.choice.value];
    rect.append(draw("title", {}, `${node.name}: ${format(node.total)}`));
    rect.addEventListener("click", () => select(node.numbers, this));
    rect.addEventListener("dblclick", () => { this.top = node; this.show(); });
    this.svg.append(rect);
    this.boxes.push([rect, node]);
    const letters = Math.floor((width - 8) / 6.2);
    if (letters > 2) {
      const shown = node.name.length > letters ? `${node.name.slice(0, letters - 1)}…` : node.name;
      this.svg.append(draw("text", { x: x + 4, y: depth * 20 + 14 }, shown));
    }
    const children = [...node.children.values()].sort((a, b) => b.total - a.total);
    for (const child of children) {
      const part = width * child.total / node.total;
      this.box(child, x, part, depth + 1);
      x += part;
    }
  }

  mark() {
    for (const [rect, node] of this.boxes || []) {
      const on = state.selected.size > 0 && node.children.size === 0 && touches(node.numbers);
      rect.classList.toggle("on", on);
    }
  }
}

class MemoryView {
  constructor(view) {
    this.view = view;
    this.memory = state.data.memory;
    this.svg = draw("svg", { height: 200, role: "img", "aria-label": "bytes alive over the run" });
    view.append(this.svg, make("div", { class: "pad" }, ...this.tables()));
    new ResizeObserver(() => this.show()).observe(view);
    state.listeners.push(() => this.show());
  }

  show() {
    const { moments, peak, at, planned } = this.memory;
    if (this.view.hidden || !moments.length) return;
    const width = Math.max(this.view.clientWidth, 200);
    const [top, height, left] = [18, 150, 8];
    const step = (width - 2 * left) / moments.length;
    const bars = moments.map(([number, bytes], i) => {
      const tall = height * bytes / peak;
      const equation = state.equations[number];
      const rect = draw("rect", { class: equation.backward ? "backward" : "forward",
        x: left + i * step, y: top + height - tall, width: Math.max(step, 0.6), height: tall,
        "fill-opacity": state.selected.size && !state.selected.has(number) ? 0.35 : 0.9 });
      rect.append(draw("title", {}, `${number}: ${equation.primitive}, ${asBytes(bytes)}`));
      rect.addEventListener("click", () => select([number], this));
      return rect;
    });
    const title = draw("text", { class: "axis", x: left, y: 12 },
      `${asBytes(peak)} at the peak, equation ${at}, before fusion`
      + (planned === null ? "" : `; ${asBytes(planned)} as the compiler plans it`));
    const foot = draw("text", { class: "axis", x: left, y: top + height + 16 },
      "equations in the order in which they run");
    this.svg.replaceChildren(title, ...bars, foot);
  }

  tables() {
    const { alive, kept, kept_bytes: total } = this.memory;
    const found = [make("h3", {}, "Alive at the peak, by line"), valueTable(alive)];
    if (kept.length) {
      found.push(make("h3", {}, `Kept from the forward to the backward pass: ${asBytes(total)}`),
        make("p", { class: "dim" }, "A checkpoint around these lines computes them again instead."),
        valueTable(kept));
    }
    return found;
  }
}

function valueTable(values) {
  const groups = new Map();
  for (const [bytes, number, type] of values) {
    const equation = number === null ? null : state.equations[number];
    const place = equation ? (equation.line ? `${baseName(equation.file)}:${equation.line}` : "no line")
      : "arguments and constants";
    if (!groups.has(place)) groups.set(place, { place, bytes: 0, numbers: [], parts: [] });
    const group = groups.get(place);
    group.bytes += bytes;
    if (equation) group.numbers.push(number);
    group.parts.push(`${equation ? equation.primitive : "given"} ${type}`);
  }
  const sorted = [...groups.values()].sort((a, b) => b.bytes - a.bytes);
  return make("table", { class: "facts" }, ...sorted.map((group) => {
    const shown = [...new Set(group.parts)].slice(0, 4).join(", ");
    const row = make("tr", { class: group.numbers.length ? "can" : "" },
      make("td", { class: "num" }, asBytes(group.bytes)), make("td", {}, group.place),
      make("td", {}, make("code", {}, shown)));
    if (group.numbers.length) row.addEventListener("click", () => select(group.numbers, row));
    return row;
  }));
}
