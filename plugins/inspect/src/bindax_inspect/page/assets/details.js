// Everything known of the selection.
function fact(name, ...values) {
  return make("tr", {}, make("th", {}, name), make("td", {}, ...values));
}

function place(equation) {
  return equation.line ? `${baseName(equation.file)}:${equation.line} (${equation.function})` : "no line";
}

function showDetails() {
  const node = document.getElementById("details");
  const numbers = [...state.selected];
  if (!numbers.length) {
    node.replaceChildren(make("span", { class: "dim" },
      "Select a line, an equation, an operation or a box: what it corresponds to is highlighted."));
  } else if (numbers.length === 1 || state.equations[numbers[0]].inner.length + 1 >= numbers.length
    && numbers.length > 1 && state.equations[numbers[0]].inner.length) {
    node.replaceChildren(oneEquation(state.equations[numbers[0]]), ruleTable(state.equations[numbers[0]]));
  } else {
    node.replaceChildren(...manyEquations(numbers.map((number) => state.equations[number])));
  }
}

function oneEquation(equation) {
  const work = equation.operations * equation.runs;
  const how = equation.known ? "" : " (no rule: one for each element)";
  const rows = [
    fact("types", make("code", {}, `${equation.operands} → ${equation.results}`)),
    fact("line", place(equation), equation.backward ? ", backward" : ""),
  ];
  if (equation.names) rows.push(fact("names", make("code", {}, equation.names)));
  if (equation.params) rows.push(fact("parameters", make("code", {}, equation.params)));
  rows.push(fact("runs", equation.runs ? String(equation.runs) : "never: nothing uses its results"));
  rows.push(fact("work", `${asCount(work)} operations${how}, ${asBytes(equation.bytes * equation.runs)} moved`
    + (equation.seconds ? `, ${asTime(equation.seconds)}` : "")));
  return make("div", {}, make("h2", {}, `${equation.number}: ${equation.primitive}`),
    make("table", { class: "facts" }, ...rows));
}

function ruleTable(equation) {
  const rules = state.data.rules[equation.primitive] || [];
  return make("div", {}, make("h2", {}, "Where it and its rules come from"),
    make("table", { class: "facts" }, ...rules.map(([kind, owner, file, line]) =>
      make("tr", {}, make("th", {}, kind), make("td", {}, owner),
        make("td", {}, make("code", {}, line ? `${file}:${line}` : file))))));
}

function manyEquations(equations) {
  const sum = (f) => equations.reduce((total, one) => total + f(one), 0);
  const time = sum((one) => one.seconds);
  const head = make("div", {}, make("h2", {}, `${equations.length} equations`),
    make("table", { class: "facts" },
      fact("operations", asCount(sum((one) => one.operations * one.runs))),
      fact("moved", asBytes(sum((one) => one.bytes * one.runs))),
      ...(time ? [fact("time", asTime(time))] : []),
      fact("lines", [...new Set(equations.map(place))].slice(0, 6).join(", "))));
  const largest = [...equations].sort((a, b) => b.seconds - a.seconds
    || b.operations * b.runs - a.operations * a.runs).slice(0, 30);
  const list = make("table", { class: "facts" }, ...largest.map((one) => {
    const row = make("tr", { class: "can" }, make("td", { class: "num" }, String(one.number)),
      make("td", {}, make("code", {}, one.primitive)), make("td", {}, place(one)),
      make("td", { class: "num" }, one.seconds ? asTime(one.seconds) : asCount(one.operations * one.runs)));
    row.addEventListener("click", () => select([one.number], null));
    return row;
  }));
  return [head, make("div", {}, make("h2", {}, "The largest"), list)];
}
