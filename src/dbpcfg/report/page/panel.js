// One grammar's view of the sentence: trees, surprisal, the store, its categories.

const TALL = 64; // of the bars of surprisal

async function post(what, asked, signal) {
  let response;
  try {
    response = await fetch(what, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(asked), signal });
  } catch (error) {
    if (error.name !== "AbortError") gone("The server has stopped, or cannot be reached. Start it again with `dbpcfg explore`, and open the address that it shows.");
    throw error;
  }
  gone(response.status === 403 ? "The server was started again: open the address that it shows now." : null);
  if (response.status === 204) throw new DOMException("not answered", "AbortError");
  const answer = await response.json().catch(() => ({ error: response.status === 403 ? "" : "The server is busy: try again." }));
  if (!response.ok) throw new Error(answer.error || "");
  return answer;
}

function gone(message) {
  byId("gone").hidden = message === null;
  byId("gone").textContent = message || "";
}

class Panel {
  // `page.say(text)` puts a sentence into the page, `page.ask(panel)` asks about it again; `page.show(panel)` draws the answer,
  // and `page.write()` changes the address.
  constructor(run, number, alone, page) {
    Object.assign(this, { run, number, page, choice: 0, seed: 0, t: null, answer: null, asking: null, opened: null });
    this.depth = run.depths.indexOf(run.depth);
    this.categories = new Map(run.categories.map((one) => [one.name, describe(one)]));
    this.slider = el("input", { type: "range", id: `depth-${number}`, min: 0, max: run.depths.length - 1, value: this.depth,
      oninput: () => { this.depth = Number(this.slider.value); this.paintDepth(); page.ask(this); } });
    this.bound = el("output", { for: `depth-${number}` });
    this.status = el("p", { class: "note problem", role: "status", id: `problem-${number}`, hidden: true });
    this.choices = el("div", { class: "choices", role: "group", "aria-label": "Trees of the sentence", id: `choices-${number}` });
    this.picture = el("div", { onclick: (event) => { const at = event.target.closest("[data-category]"); if (at) this.open(at.dataset.category); } });
    this.card = el("div", { id: `category-${number}`, class: "aside", tabindex: -1, "aria-live": "polite" });
    this.said = el("ul", { class: "said", id: `said-${number}` });
    this.store = new Store(`-${number}`, (t) => { this.t = t; page.write(); });
    this.sides = el("div", { class: "sides" }, el("div", {}, this.picture, this.card), el("div", {}, el("h3", {}, "The store, word by word"), this.store.node));
    this.result = el("div", { hidden: true }, this.choices, this.sides);
    this.node = el("section", { class: alone ? "panel alone" : "panel", "aria-label": run.name }, alone ? null : el("h2", {}, run.name),
      el("div", { class: "controls" },
        el("label", { class: "depth" }, "Memory bound D", el("span", { class: "range" }, this.slider, this.bound)),
        el("button", { type: "button", id: `say-${number}`, onclick: () => this.say() }, "Say something")),
      this.said, this.status, this.result);
    this.paintDepth();
  }

  paintDepth() {
    const depth = this.run.depths[this.depth], shown = depth === null ? "none" : `${depth}`;
    this.slider.value = this.depth;
    this.slider.setAttribute("aria-valuetext", shown);
    this.bound.textContent = depth === this.run.depth ? `${shown}, as learned` : shown;
  }

  async ask(text, known) {
    if (this.asking) this.asking.abort();
    const asking = this.asking = new AbortController();
    try {
      const answer = await post("parse", { run: this.number, depth: this.run.depths[this.depth], text, ...known }, asking.signal);
      if (asking !== this.asking) return;
      this.take(answer);
    } catch (error) {
      if (asking === this.asking && error.name !== "AbortError") this.fail(error.message);
    }
  }

  take(answer) {
    const { words, kinds, forms } = answer;
    const same = this.answer && this.answer.words.join(" ") === words.join(" ");
    if (!same && this.answer) { this.choice = 0; this.t = null; }
    this.answer = answer;
    this.trees = answer.trees.map(({ nodes }) => {
      let n = 0;
      const tree = treeOf(words, () => {
        const [label, arity, posterior] = nodes[n++];
        return { label, arity, posterior: arity ? posterior : null, shared: null };
      }, nodes.length);
      tree.nodes.filter((node) => !node.arity).forEach((leaf, t) => Object.assign(leaf, { kind: kinds[t], form: forms[t] }));
      return tree;
    });
    this.choice = Math.min(this.choice, this.trees.length - 1);
    this.status.hidden = !answer.ignored;
    this.status.textContent = answer.ignored ? "This grammar's words are others: it does not know what was said of phrases." : "";
    this.result.hidden = false;
    this.page.show(this);
  }

  fail(message) {
    this.answer = null;
    this.store.pause();
    this.result.hidden = true;
    this.status.hidden = !message;
    this.status.textContent = message;
    this.page.show(this);
  }

  // `known`: spans that are known to be phrases; `other`: the panel beside it, if there is one.
  draw(known, other) {
    if (!this.answer) return;
    const shown = (tree, n) => n ? `${n}. ${roughly(this.answer.trees[n].posterior)}` : "MBR";
    const ends = (tree) => tree.nodes.map((node) => `${node.start} ${node.end}`).join();
    this.choices.replaceChildren(...this.trees.map((tree, n) => el("button", { type: "button", "aria-pressed": n === this.choice ? "true" : "false",
      title: n ? `the ${n === 1 ? "most probable tree" : `${n}th most probable tree`}${ends(tree) === ends(this.trees[0]) ? ", with the brackets of the MBR tree" : ""}` : "the tree whose brackets are right most often, as expected",
      onclick: () => { this.choice = n; this.page.show(this); } }, shown(tree, n))),
    this.trees.length > 1 ? "" : el("span", { class: "small" }, "The most probable trees are left out: too many are nearly as probable."));
    const tree = this.trees[this.choice], comparable = other && other.answer && other.answer.words.join(" ") === tree.words.join(" ");
    const every = tree.words.map((_, n) => n).concat(tree.words.length);
    const relation = comparable ? relations(tree, other.trees[other.choice], every) : new Map();
    for (const node of tree.nodes) if (node.arity && known.some(([i, j]) => i === node.start && j === node.end)) relation.set(node, "known");
    const name = this.choice ? `tree-${this.choice}` : "mbr-tree";
    const title = this.choice ? `Tree ${this.choice} of the most probable` : "MBR tree";
    const drawn = figure(title, `${name}-${this.number}`, () => drawTree(tree, relation, `${title}: ${tree.words.join(" ")}`, 0, bars(this.answer)), null, true);
    drawn.append(asList(tree, (label) => el("button", { type: "button", class: "quiet", onclick: () => this.open(label) }, label)), this.measures(),
      el("ul", { class: "key" }, el("li", {}, "87%, shade: how sure the bracket is"), comparable ? [el("li", {}, "✓ in both trees"), el("li", {}, "✗ crosses a bracket of the other")] : null,
        el("li", {}, "Click a category: what it stands for")));
    this.picture.replaceChildren(drawn);
    this.sides.classList.toggle("stacked", Number(drawn.querySelector("svg").getAttribute("width")) > 560);
    this.store.take(tree, `${this.number}`, Math.min(this.t === null ? Math.ceil(tree.words.length / 2) : this.t, tree.words.length));
  }

  measures() {
    const { words, forms, kinds, surprisal, entropy } = this.answer;
    const rows = [...words, "end of the sentence"].map((word, n) => ({ word, form: n < words.length ? forms[n] : "", kind: n < words.length ? kinds[n] : "", bits: [surprisal[n], entropy[n]] }));
    return el("details", {}, el("summary", {}, "Word by word, as a table"), table("Surprisal, and entropy before the word, in bits", [
      { name: "word", show: (row) => row.word }, { name: "as the grammar sees it", show: (row) => row.kind === "word" && row.form === row.word ? "" : row.form },
      { name: "surprisal", number: true, show: (row) => fixed(row.bits[0], 2) }, { name: "entropy", number: true, show: (row) => fixed(row.bits[1], 2) }], rows));
  }

  // A category: its words, rules and use, and where the trees of the run have it.
  open(label, focus = true) {
    const one = this.categories.get(label);
    if (!one) return;
    this.opened = label;
    const most = Math.max(...[...this.categories.values()].map(({ share }) => share));
    const list = (name, items) => items.length ? [el("dt", {}, name), el("dd", {}, el("ul", { class: "items" }, items.map(([text, times]) => el("li", {}, text, " ", el("span", { class: "p" }, `${whole(times)}×`)))))] : null;
    const shown = card(one, most);
    const where = this.run.trees ? "the run's trees" : "sentences that it generates";
    shown.append(el("dl", {}, list(`phrases in ${where}`, one.phrases), list(`words around it in ${where} (· is an edge)`, one.contexts)));
    const close = el("button", { type: "button", class: "quiet", "aria-label": `Close category ${label}`, onclick: () => this.close() }, "Close ×");
    shown.querySelector("header").append(close);
    this.card.replaceChildren(el("ul", { class: "cards" }, shown));
    if (focus) this.card.focus();
    this.page.write();
  }

  close() {
    this.opened = null;
    this.card.replaceChildren();
    this.page.write();
  }

  async say() {
    try {
      const said = await post("say", { run: this.number, depth: this.run.depths[this.depth], seed: this.seed++ });
      this.said.replaceChildren(...said.map((text) => el("li", {}, el("button", { type: "button", class: "quiet", onclick: () => this.page.say(text) }, text))));
    } catch (error) {
      this.said.replaceChildren(el("li", { class: "small" }, error.message));
    }
  }
}

// Surprisal and entropy in bits, as bars under the words and under the end.
const bars = ({ surprisal, entropy }) => (leaves, width, top) => {
  const most = Math.max(1, ...surprisal, ...entropy), ends = width + 14, base = top + TALL + 14;
  const column = (x, word, n) => {
    const bar = (value, kind, dx) => value === null ? null : svg("rect", { class: kind, x: x + dx, y: base - TALL * value / most, width: 11, height: TALL * value / most });
    return svg("g", { class: "bars" }, svg("title", {}, `${word}: surprisal ${fixed(surprisal[n], 2)} bits, entropy before it ${fixed(entropy[n], 2)} bits`),
      bar(surprisal[n], "bar-0", -12), bar(entropy[n], "bar-1", 1),
      svg("text", { class: "middle tiny", x: x - 6.5, y: base + 12 }, surprisal[n] === null ? "∞" : fixed(surprisal[n], 1)),
      svg("text", { class: "middle tiny soft", x: x + 9, y: base + 24 }, fixed(entropy[n], 1)));
  };
  return { width: Math.max(44, 300 - width), height: TALL + 58, parts: [leaves.map((leaf, n) => column(leaf.x, leaf.word, n)), column(ends, "end", leaves.length),
    svg("text", { class: "middle soft", x: ends, y: top - 18 }, "end"), svg("path", { class: "axis", d: `M4,${base}H${width + 38}` }),
    svg("text", { class: "soft tiny", x: 4, y: base + 40 }, "bits: surprisal (full bars), entropy before the word (hollow)")] };
};
