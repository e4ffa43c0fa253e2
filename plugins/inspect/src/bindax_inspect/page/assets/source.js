// The user's lines, each with a bar for every quantity.
const QUANTITIES = [["seconds", "time", asTime], ["operations", "operations", asCount],
  ["bytes", "moved", asBytes], ["alive", "at peak", asBytes]];

function makeSource(data) {
  const records = new Map(data.lines.map((one) => [`${one.file}:${one.line}`, one]));
  const most = {};
  for (const [key] of QUANTITIES) {
    most[key] = Math.max(...data.lines.map((one) => one[key][0] + one[key][1]), 0);
  }
  const shown = QUANTITIES.filter(([key]) => most[key] > 0);
  const head = make("tr", {}, make("th", {}, make("span", { class: "hidden" }, "line")),
    ...shown.map(([, title]) => make("th", {}, title)),
    make("th", {}, "code"));
  const table = make("table", { class: "src" }, make("thead", {}, head));
  const body = make("tbody");
  let last = "";
  for (const block of data.source) {
    const title = block.file === last ? "⋯" : block.name;
    last = block.file;
    body.append(make("tr", { class: "file" },
      make("td", { colspan: String(2 + shown.length), title: block.file }, title)));
    block.html.forEach((html, i) => {
      const number = block.start + i;
      body.append(sourceRow(block, number, html, records.get(`${block.file}:${number}`), shown, most));
    });
  }
  const nowhere = data.lines.filter((one) => !one.line);
  for (const one of nowhere) {
    body.append(make("tr", { class: "file" },
      make("td", { colspan: String(2 + shown.length) }, "no line of the program")));
    body.append(sourceRow({ file: "" }, 0, "(made by transformations)", one, shown, most));
  }
  table.append(body);
  document.getElementById("source").append(table);
  state.listeners.push((from) => markSource(body, from));
}

function sourceRow(block, number, html, record, shown, most) {
  const code = make("td", { class: "code" });
  code.innerHTML = html || " ";
  const row = make("tr", { "data-line": String(number), "data-file": block.file },
    make("td", { class: "no" }, number ? String(number) : ""),
    ...shown.map(([key, title, format]) => barCell(record, key, title, format, most[key])), code);
  if (record) {
    row.classList.add("can");
    row.equations = record.equations;
    row.addEventListener("click", () => select(record.equations, row));
  }
  return row;
}

function barCell(record, key, title, format, most) {
  const cell = make("td", { class: "bar" });
  const [forward, backward] = record ? record[key] : [0, 0];
  if (forward + backward > 0) {
    const parts = [["forward", forward], ["backward", backward]].map(([name, amount]) => {
      const part = make("i", { class: name });
      part.style.width = `${100 * amount / most}%`;
      return part;
    });
    cell.title = `${title}: ${format(forward)} forward, ${format(backward)} backward`;
    cell.append(make("div", {}, ...parts), make("span", {}, format(forward + backward)));
  }
  return cell;
}

function markSource(body, from) {
  let first = null;
  for (const row of body.rows) {
    const on = Boolean(row.equations && touches(row.equations));
    row.classList.toggle("on", on);
    if (on && row.equations.includes(state.focus)) first = row;
    else if (on && !first) first = row;
  }
  if (first && !(from instanceof HTMLElement)) first.scrollIntoView({ block: "nearest" });
}
