// Search, keys, views, and the start.
const search = { found: [], at: -1 };
const byId = (id) => document.getElementById(id);

function find(words) {
  const wanted = words.trim().toLowerCase();
  search.found = panes.flatMap((pane) => pane.find(wanted));
  for (const row of byId("source").querySelectorAll("tr[data-line]")) {
    const hit = wanted && row.querySelector(".code").textContent.toLowerCase().includes(wanted);
    row.querySelector(".no").classList.toggle("match", Boolean(hit));
    if (hit) search.found.push({ row });
  }
  search.at = -1;
  byId("found").textContent = wanted ? `${search.found.length} found` : "";
}

function go(step) {
  if (!search.found.length) return;
  search.at = (search.at + step + search.found.length) % search.found.length;
  const { pane, line, row } = search.found[search.at];
  if (pane) pane.show(line); else row.scrollIntoView({ block: "center" });
  byId("found").textContent = `${search.at + 1} of ${search.found.length}`;
}

function showView(name) {
  for (const tab of document.querySelectorAll("[role=tab]")) {
    tab.setAttribute("aria-selected", String(tab.dataset.view === name));
  }
  for (const view of ["source", "flame", "memory"]) byId(view).hidden = view !== name;
  window.dispatchEvent(new Event("resize"));
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
}

function step(by) {
  const now = state.focus === null ? (by > 0 ? -1 : state.equations.length) : state.focus;
  const next = now + by;
  if (next >= 0 && next < state.equations.length) select([next], null);
}

let folded = false;
const KEYS = {
  "/": () => byId("search").focus(),
  "?": () => byId("keys").showModal(),
  j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1),
  n: () => go(1), p: () => go(-1),
  f: () => { folded = !folded; panes.forEach((pane) => pane.foldAll(folded)); },
  t: () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"),
  1: () => showView("source"), 2: () => showView("flame"), 3: () => showView("memory"),
  Escape: () => select([], null),
};

function listen() {
  byId("search").addEventListener("input", (event) => find(event.target.value));
  byId("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter") go(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") event.target.blur();
    event.stopPropagation();
  });
  byId("theme").addEventListener("click", KEYS.t);
  byId("help").addEventListener("click", KEYS["?"]);
  for (const tab of document.querySelectorAll("[role=tab]")) {
    tab.addEventListener("click", () => showView(tab.dataset.view));
  }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("keys").open) return;
    if (event.target instanceof HTMLSelectElement) return;
    const action = KEYS[event.key];
    if (action) { event.preventDefault(); action(); }
  });
}

async function start() {
  const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  setTheme(dark ? "dark" : "light");
  const data = await unpack(byId("data").textContent);
  readEquations(data);
  byId("summary").textContent = data.summary;
  byId("notes").append(...data.notes.map((note) => make("li", {}, note)));
  makeSource(data);
  makePanes(data);
  const flame = new Flame(byId("flame"));
  const memory = new MemoryView(byId("memory"));
  window.addEventListener("resize", () => { flame.show(); memory.show(); });
  state.listeners.push(showDetails);
  showDetails();
  listen();
  document.body.dataset.ready = "yes";
}
start();
