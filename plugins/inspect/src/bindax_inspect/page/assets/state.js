// What is selected, and who is told when it changes.
const FIELDS = ["primitive", "file", "line", "function", "names", "backward", "runs", "operations",
  "bytes", "known", "seconds", "operands", "results", "params", "parents"];
const TEXTS = new Set(["primitive", "file", "function", "names", "operands", "results", "params"]);
const state = { data: null, equations: [], selected: new Set(), listeners: [], focus: null };

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function readEquations(data) {
  state.data = data;
  state.equations = data.equations.map((row, number) => {
    const equation = { number, inner: [] };
    FIELDS.forEach((name, i) => {
      equation[name] = TEXTS.has(name) ? data.texts[row[i]] : row[i];
    });
    return equation;
  });
  for (const equation of state.equations) {
    for (const parent of equation.parents) state.equations[parent].inner.push(equation.number);
  }
}

function select(numbers, from) {
  state.selected = new Set(numbers);
  state.focus = numbers.length ? numbers[0] : null;
  for (const listener of state.listeners) listener(from);
}

// An equation with those of its jaxprs.
function withInner(number, found = new Set()) {
  if (found.has(number)) return found;
  found.add(number);
  for (const inner of state.equations[number].inner) withInner(inner, found);
  return found;
}

function touches(numbers) {
  return numbers.some((number) => state.selected.has(number));
}

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") node.className = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

function scaled(number, base, units) {
  let power = 0;
  while (Math.abs(number) >= base && power < units.length - 1) { number /= base; power += 1; }
  const digits = power || number !== Math.round(number) ? 1 : 0;
  return `${number.toFixed(digits)} ${units[power]}`.trim();
}
const asBytes = (n) => scaled(n, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);
const asCount = (n) => scaled(n, 1000, ["", "k", "M", "G", "T", "P"]);
const asTime = (s) => s <= 0 ? "0" : s < 1e-3 ? `${(s * 1e6).toFixed(1)} µs`
  : s < 1 ? `${(s * 1e3).toFixed(2)} ms` : `${s.toFixed(2)} s`;
const baseName = (file) => file.split(/[\\/]/).pop();
