// The sentences: a filtered list, of which only the visible lines exist, and the trees of the selected one.

const LINE = 44;

class Browser {
  constructor(sentences, changed) {
    this.sentences = sentences;
    this.changed = changed;
    this.order = [...Array(sentences.count).keys()];
    this.at = 0;
    this.list = el("div", { class: "list", role: "listbox", tabindex: 0, id: "sentence-list", "aria-label": "Sentences",
      onscroll: () => this.paint(), onkeydown: (event) => this.key(event) });
    this.filler = el("div", { class: "filler", role: "presentation" });
    this.list.append(this.filler);
    this.where = el("span", { class: "where", id: "where" });
    this.view = el("div", { id: "tree-view" });
    this.inputs = this.controls();
    byId("trees").append(
      el("p", {}, sentences.gold ? "Gold and induced trees side by side. Each bracket shows its posterior probability in percent, as a number and as a shade." : "Each bracket shows its posterior probability in percent, as a number and as a shade.", sentences.shared ? " The lines below a bracket show how many other chains have it." : null, " Step with ", el("kbd", {}, "j"), " and ", el("kbd", {}, "k"), " or the arrow keys; ", el("kbd", {}, "/"), " searches."),
      this.inputs.node,
      el("div", { class: "browser" }, this.list, el("div", {},
        el("div", { class: "stepper" }, this.where,
          el("button", { type: "button", id: "previous", onclick: () => this.step(-1) }, "← Previous"),
          el("button", { type: "button", id: "next", onclick: () => this.step(1) }, "Next →")), this.view)));
    addEventListener("keydown", (event) => this.globalKey(event));
    this.filter();
  }

  controls() {
    const change = () => this.filter();
    const word = el("input", { type: "search", id: "sentence-search", placeholder: "a word, or part of one", oninput: change });
    const number = (id, label, max) => el("input", { type: "number", id, min: 0, max, "aria-label": label, oninput: change });
    const longest = this.sentences.lengths.reduce((a, b) => Math.max(a, b), 0);
    const parts = { word, shortest: number("shortest", "least words", longest), longest: number("longest", "most words", longest),
      worst: number("worst", "least F1", 100), best: number("best", "most F1", 100) };
    parts.category = el("select", { id: "has-category", onchange: change }, el("option", { value: "" }, "any"),
      this.sentences.categories.map((name, c) => el("option", { value: c }, name)));
    const orders = [["text", "as in the text"], ["short", "shortest first"], ["long", "longest first"], ["unsure", "least certain first"],
      ...(this.sentences.agreement ? [["apart", "least shared first"]] : []),
      ...(this.sentences.f1 ? [["low", "lowest F1 first"], ["high", "highest F1 first"]] : [])];
    parts.sort = el("select", { id: "sentence-sort", onchange: change }, orders.map(([key, name]) => el("option", { value: key }, name)));
    const between = (name, one, other) => el("label", {}, name, el("span", { class: "range" }, one, "to", other));
    parts.node = el("div", { class: "controls", role: "search", "aria-label": "Filter sentences" },
      el("label", { class: "grow" }, "Word", word), between("Words in the sentence", parts.shortest, parts.longest),
      this.sentences.f1 ? between("F1 in percent", parts.worst, parts.best) : null,
      el("label", {}, "Category", parts.category), el("label", {}, "Order", parts.sort),
      el("button", { type: "button", onclick: () => { parts.node.querySelectorAll("input").forEach((i) => { i.value = ""; }); parts.category.value = ""; parts.sort.value = "text"; change(); } }, "Clear"));
    return parts;
  }

  filter() {
    const { sentences: S, inputs: I } = this;
    const wanted = I.word.value.trim().toLowerCase();
    const fits = wanted ? Uint8Array.from(S.words, (word) => word.toLowerCase().includes(wanted)) : null;
    const bound = (input, otherwise) => input.value === "" ? otherwise : Number(input.value);
    const least = bound(I.shortest, 0), most = bound(I.longest, Infinity);
    const worst = bound(I.worst, -1), best = bound(I.best, 1e9), byScore = I.worst.value !== "" || I.best.value !== "";
    const category = I.category.value === "" ? -1 : Number(I.category.value);
    const kept = [];
    for (let s = 0; s < S.count; s++) {
      if (S.sizes[s] < least || S.sizes[s] > most) continue;
      if (byScore && S.f1 && (S.f1[s] === 255 || S.f1[s] < worst || S.f1[s] > best)) continue;
      if (fits && !S.tokens.subarray(S.starts[s], S.starts[s + 1]).some((w) => fits[w])) continue;
      if (category >= 0 && !S.nodes.subarray(2 * S.starts[s] - s, 2 * S.starts[s + 1] - s - 1).some((code) => code >> 1 === category)) continue;
      kept.push(s);
    }
    const score = (s, none) => S.f1[s] === 255 ? none : S.f1[s];
    const keys = { text: null, short: (s) => S.sizes[s], long: (s) => -S.sizes[s], unsure: (s) => S.certainty(s), apart: (s) => S.agreement[s], low: (s) => score(s, 101), high: (s) => -score(s, -1) };
    const key = keys[I.sort.value];
    if (key) {
      const values = new Map(kept.map((s) => [s, key(s)]));
      kept.sort((a, b) => values.get(a) - values.get(b) || a - b);
    }
    this.order = kept;
    this.filler.style.height = `${kept.length * LINE}px`;
    this.list.scrollTop = 0;
    this.select(0);
  }

  step(by) { this.select(Math.min(Math.max(this.at + by, 0), this.order.length - 1)); }

  select(at) {
    this.at = at;
    const top = at * LINE, height = this.list.clientHeight;
    if (top < this.list.scrollTop) this.list.scrollTop = top;
    else if (height && top + LINE > this.list.scrollTop + height) this.list.scrollTop = top + LINE - height;
    this.paint();
    this.show();
  }

  // Only the visible lines, and a few around them.
  paint() {
    const first = Math.max(0, Math.floor(this.list.scrollTop / LINE) - 4);
    const last = Math.min(this.order.length, first + Math.ceil((this.list.clientHeight || 540) / LINE) + 8);
    const lines = [];
    for (let n = first; n < last; n++) lines.push(this.line(n));
    this.filler.replaceChildren(...lines);
    if (this.order.length) this.list.setAttribute("aria-activedescendant", `line-${this.at}`);
    else { this.list.removeAttribute("aria-activedescendant"); this.filler.append(el("p", { class: "empty" }, "No sentence matches.")); }
  }

  line(n) {
    const S = this.sentences, s = this.order[n];
    const score = (S.f1 && S.f1[s] !== 255 ? ` · F1 ${S.f1[s]}` : "") + (S.agreement && S.agreement[s] !== 255 ? ` · shared ${S.agreement[s]}%` : "");
    const node = el("div", { role: "option", id: `line-${n}`, "aria-selected": n === this.at ? "true" : "false",
      "aria-posinset": n + 1, "aria-setsize": this.order.length, onclick: () => this.select(n) },
      el("span", { class: "text" }, S.text(s).join(" ")),
      el("span", { class: "small" }, `${whole(s + 1)} · ${S.sizes[s]} ${S.sizes[s] === 1 ? "word" : "words"}${score}`));
    node.style.top = `${n * LINE}px`;
    return node;
  }

  show() {
    const S = this.sentences;
    if (!this.order.length) {
      this.where.textContent = "no sentence";
      this.view.replaceChildren();
      return;
    }
    const s = this.order[this.at];
    const score = S.f1 && S.f1[s] !== 255 ? `, F1 ${S.f1[s]}` : "";
    this.where.textContent = `${whole(this.at + 1)} of ${whole(this.order.length)}: sentence ${whole(s + 1)}${score}`;
    const induced = S.induced(s), gold = S.goldTree(s), before = S.before(s);
    const panel = (title, name, tree, other) => {
      const drawn = figure(title, `${name}-${s + 1}`, () => drawTree(tree, other && relations(tree, other, before), `${title} of sentence ${s + 1}`, S.others), null, true);
      drawn.append(asList(tree));
      return drawn;
    };
    const panels = [gold ? panel("Gold tree", "gold", gold, induced) : null, panel("Induced tree", "induced", induced, gold)].filter(Boolean);
    const widest = Math.max(...panels.map((one) => Number(one.querySelector("svg").getAttribute("width"))));
    this.view.replaceChildren(el("p", { class: "sentence" }, induced.words.join(" ")),
      el("div", { class: widest > 480 ? "pair stacked" : "pair" }, panels),
      el("ul", { class: "key" }, gold ? [el("li", {}, "✓ solid frame: in both trees"), el("li", {}, "✗ dashed frame: crosses a bracket of the other tree"), el("li", {}, "plain frame: only here, crosses nothing")] : null,
        el("li", {}, "87%, shade: posterior probability of the bracket")),
      ...(S.shared ? sharedKey(induced, S.others) : []));
    this.changed(s, induced);
  }

  key(event) {
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
    if (!(event.key in moves)) return;
    event.preventDefault();
    event.stopPropagation();
    this.step(moves[event.key]);
    this.announce();
  }

  // j, k, and the arrow keys to the sides, wherever nothing is being typed or scrolled.
  globalKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || (event.target.closest && event.target.closest(".canvas, .scroll"));
    if (typing) return;
    if (event.key === "/") {
      event.preventDefault();
      this.inputs.word.focus();
    } else if (event.key === "j" || event.key === "k") {
      this.step(event.key === "j" ? 1 : -1);
      this.announce();
    } else if ((event.key === "ArrowRight" || event.key === "ArrowLeft") && !event.target.closest("#memory")) {
      this.step(event.key === "ArrowRight" ? 1 : -1);
      this.announce();
    }
  }

  announce() { announce(`${this.where.textContent}: ${this.order.length ? this.sentences.text(this.order[this.at]).join(" ") : ""}`); }
}

// What the lines of a tree mean, and in words which brackets not all chains share.
function sharedKey(tree, others) {
  const line = (kind) => svg("svg", { viewBox: "0 0 30 10", width: 30, height: 10, "aria-hidden": "true" }, svg("path", { class: `branch shared-${kind}`, d: "M0,5H30" }));
  const kinds = others === 1 ? [["all", "the other chain has this bracket too"], ["none", "only this chain has it"]]
    : [["all", `all ${others} chains compared have this bracket`], ["some", "some of them have it"], ["none", "none of them has it"]];
  const compared = tree.nodes.filter((node) => node.shared !== null);
  const apart = compared.filter((node) => node.shared < others);
  const words = (node) => `“${tree.words.slice(node.start, node.end).join(" ")}”${others > 1 ? ` (in ${node.shared} of ${others})` : ""}`;
  const text = !compared.length ? "This sentence has no brackets to compare: all trees have the whole sentence."
    : !apart.length ? `All brackets of the tree are in ${others === 1 ? "the other chain's tree" : "the trees of all chains compared"}.`
      : `Not in ${others === 1 ? "the other chain's tree" : "the trees of all chains compared"}: ${apart.map(words).join(", ")}.`;
  return [el("ul", { class: "key" }, kinds.map(([kind, meaning]) => el("li", {}, line(kind), " ", meaning))),
    el("p", { class: "small shared-now", id: "shared-now" }, text)];
}
