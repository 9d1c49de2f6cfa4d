// The page of `dbpcfg explore`: a sentence, and what one or two grammars make of it. Its address has all of this.

const PAUSE = 60; // milliseconds of no typing before the sentence is looked at

const data = JSON.parse(byId("data").textContent);
const input = byId("text");
const words = new Words(() => ask());
const panels = data.runs.map((run, n) => new Panel(run, n, data.runs.length === 1, {
  say: (text) => { input.value = text; words.forget(); ask(); }, ask: (panel) => ask([panel]), show, write }));
let own = null; // the part of the address that this page wrote
let waiting = null;

byId("lead").textContent = data.runs.map((run) => `${run.name}: ${plural(run.categories.length, "category", "categories")}, ${plural(run.words, "word")}, ${run.depth === null ? "no memory bound" : `memory bound ${run.depth}`}`).join(" · ");
byId("content").append(words.node, el("div", { class: "panels" }, panels.map((panel) => panel.node)));
input.addEventListener("input", () => {
  words.forget();
  clearTimeout(waiting);
  waiting = setTimeout(ask, PAUSE);
});

// Ask all grammars about the sentence, or one of them, whose bound has changed.
function ask(some = panels) {
  const text = input.value;
  write();
  words.node.hidden = !text.trim();
  if (!text.trim()) panels.forEach((panel) => { if (panel.asking) panel.asking.abort(); panel.fail(""); });
  else some.forEach((panel) => panel.ask(text, { yes: words.yes, no: words.no, words: words.of }));
}

// A panel has a new answer, or shows another tree: trees side by side are compared, so all are drawn.
function show(panel) {
  const first = panels[0].answer;
  if (panel === panels[0] && first) words.show(first.words, first.kinds, first.forms);
  panels.forEach((one, n) => one.draw(one.answer && !one.answer.ignored ? words.yes : [], panels[1 - n]));
  write();
}

const spans = (list) => list.map((span) => span.join("-")).join(",");
const unspans = (text) => [...(text || "").matchAll(/(\d+)-(\d+)/g)].map(([, i, j]) => [Number(i), Number(j)]);

const natural = (text) => /^\d{1,9}$/.test(text) ? Number(text) : 0;

function write() {
  const state = new URLSearchParams({ text: input.value });
  if (words.yes.length) state.set("yes", spans(words.yes));
  if (words.no.length) state.set("no", spans(words.no));
  if (words.yes.length + words.no.length) state.set("of", words.of);
  panels.forEach((panel, n) => {
    const depth = panel.run.depths[panel.depth];
    if (depth !== panel.run.depth) state.set(`D${n}`, depth === null ? "none" : depth);
    if (panel.choice) state.set(`tree${n}`, panel.choice);
    if (panel.t !== null) state.set(`read${n}`, panel.t);
    if (panel.opened) state.set(`category${n}`, panel.opened);
  });
  own = `#${state}`;
  if (location.hash !== own) history.replaceState(null, "", own);
  document.title = input.value ? `${input.value} · dbpcfg explore` : "Explore a grammar";
}

function read() {
  if (location.hash === own) return;
  const state = new URLSearchParams(location.hash.slice(1));
  input.value = state.has("text") ? state.get("text") : data.runs[0].sentence;
  words.forget();
  words.yes = unspans(state.get("yes"));
  words.no = unspans(state.get("no"));
  words.of = natural(state.get("of"));
  panels.forEach((panel, n) => {
    const depth = state.get(`D${n}`);
    const place = depth === null ? -1 : panel.run.depths.indexOf(depth === "none" ? null : Number(depth));
    panel.depth = place < 0 ? panel.run.depths.indexOf(panel.run.depth) : place;
    panel.paintDepth();
    panel.answer = null; // whatever it was, what is chosen is chosen in this one
    panel.choice = natural(state.get(`tree${n}`));
    panel.t = state.has(`read${n}`) ? natural(state.get(`read${n}`)) : null;
    panel.card.replaceChildren();
    panel.opened = null;
    panel.open(state.get(`category${n}`), false);
  });
  ask();
}

addEventListener("hashchange", read);
read();
document.documentElement.setAttribute("data-ready", "");
