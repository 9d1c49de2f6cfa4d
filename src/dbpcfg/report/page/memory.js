// Memory: the depths that sentences need, and the store of a left-corner parser word by word.

const MARGIN = 74; // room for the names of depths

// The store after t words. A phrase exists once its left child is finished; it is a fragment top/bottom as long as
// it is unfinished itself and no other fragment awaits it. Its bottom is the first right child that does not exist yet.
function storeAfter(tree, t) {
  const there = (node) => node.children.length && node.children[0].end <= t;
  return tree.nodes.filter((node) => there(node) && node.end > t
    && !(node.parent && there(node.parent) && node.parent.children[1] === node)).map((top) => {
    let bottom = top.children[1];
    while (there(bottom)) bottom = bottom.children[1];
    return { top, bottom };
  });
}

class Memory {
  constructor({ memory }) {
    this.t = 0;
    const deepest = Math.max(...memory.series.map((one) => one.shares.length));
    const groups = [...Array(deepest).keys()].map((d) => `depth ${d + 1}`);
    const series = memory.series.map((one) => ({ name: one.name, values: groups.map((_, d) => one.shares[d] || 0) }));
    const draw = () => barChart({ groups, series, width: pageWidth(720), label: "Share of sentences by memory depth",
      xLabel: "most fragments held at once", yLabel: "sentences" });
    const beyond = memory.bound !== null && memory.series[0].shares.length > memory.bound;
    this.depths = figure("How deep sentences go", "depths", draw, `The memory depth of a sentence is the greatest number of derivation fragments that a left-corner parser holds at once. ${memory.bound === null ? "The grammar has no bound." : `The grammar's bound is ${memory.bound}.`}${beyond ? " MBR trees may go beyond it, because they combine many samples." : ""}`);
    this.slider = el("input", { type: "range", id: "time", min: 0, value: 0, "aria-label": "Words read", oninput: (event) => this.go(Number(event.target.value)) });
    this.now = el("p", { id: "store-now", "aria-live": "polite" });
    this.place = el("div");
    byId("memory").append(this.depths, el("h3", {}, "The store over time"),
      el("p", {}, "The sentence selected above, as a left-corner parser reads it. A fragment a/b is a phrase a that still lacks a b. Drag, or step word by word."),
      el("div", { class: "stepper" }, el("button", { type: "button", id: "word-back", "aria-label": "One word back", onclick: () => this.go(this.t - 1) }, "←"), this.slider,
        el("button", { type: "button", id: "word-on", "aria-label": "One word on", onclick: () => this.go(this.t + 1) }, "→")),
      this.now, this.place);
    addEventListener("resize", () => this.depths.redraw());
  }

  take(number, tree) {
    this.tree = tree;
    this.number = number;
    this.slider.max = tree.words.length;
    this.t = Math.ceil(tree.words.length / 2);
    this.stores = [...Array(tree.words.length + 1).keys()].map((t) => storeAfter(tree, t));
    this.picture = figure("Parser and store", `store-${number + 1}`, () => this.draw(),
      "Above: what is built so far; dashed lines lead to what is awaited, numbers in circles say at which depth a fragment is. Below: the store after each word, one row a depth.", true);
    this.place.replaceChildren(this.picture);
    this.go(this.t);
  }

  go(t) {
    this.t = Math.min(Math.max(t, 0), this.tree.words.length);
    this.slider.value = this.t;
    const store = this.stores[this.t];
    const read = this.t ? `After ${this.t} ${this.t === 1 ? "word" : "words"}, “${this.tree.words[this.t - 1]}”` : "Before the first word";
    this.now.textContent = `${read}: ${store.length ? store.map(({ top, bottom }, d) => `${top.label}/${bottom.label} at depth ${d + 1}`).join(", ") : this.t === this.tree.words.length ? "finished, the store is empty" : "the store is empty"}.`;
    this.picture.redraw();
    this.follow();
  }

  // Keep the last word read visible where the picture is wider than the page.
  follow() {
    const canvas = this.picture.querySelector(".canvas"), drawn = canvas.querySelector("svg");
    const last = this.tree.nodes.find((node) => node.end === this.t && !node.children.length);
    const x = ((last ? last.x : 0) + MARGIN) * drawn.clientWidth / Number(drawn.getAttribute("width"));
    canvas.scrollLeft = x - canvas.clientWidth / 2;
  }

  draw() {
    const { tree, t, stores } = this;
    const { width, height, floor } = layout(tree);
    const left = MARGIN, rows = Math.max(1, ...stores.map((store) => store.length)), tall = 30;
    const there = (node) => node.children.length ? node.children[0].end <= t : node.start < t;
    const awaited = new Set(stores[t].map(({ bottom }) => bottom));
    const leaves = tree.nodes.filter((node) => !node.children.length);
    const total = height + rows * tall + 34;
    const middle = (n) => leaves[n].x + left;
    const edge = (n) => n === 0 ? left + 8 : n === leaves.length ? width + left - 8 : (middle(n - 1) + middle(n)) / 2;
    const branches = tree.nodes.flatMap((node) => node.children.map((child) => svg("path", {
      class: there(node) ? (there(child) ? "branch" : "branch waiting") : "branch unseen",
      d: `M${node.x + left},${node.y + 10}L${child.x + left},${child.y - 10}` })));
    const labels = tree.nodes.map((node) => svg("g", { class: there(node) || awaited.has(node) ? null : "unseen" },
      svg("text", { class: there(node) ? "middle strong" : "middle", x: node.x + left, y: node.y + 4 }, awaited.has(node) ? `${node.label}?` : node.label)));
    const circles = stores[t].map(({ top, bottom }, d) => [top, bottom].map((node) => [
      svg("circle", { class: "dot", cx: node.x + left + 22, cy: node.y - 9, r: 7.5 }),
      svg("text", { class: "middle tiny strong", x: node.x + left + 22, y: node.y - 5.5 }, `${d + 1}`)]));
    const words = leaves.map((node, n) => svg("text", { class: `middle word${n === t - 1 ? " now" : ""}${n < t ? "" : " unseen"}`, x: middle(n), y: floor + 34 }, node.word));
    const base = height + 6;
    const cells = leaves.map((_, n) => stores[n + 1].map(({ top, bottom }, d) => {
      const x = edge(n), w = edge(n + 1) - x, text = `${top.label}/${bottom.label}`;
      return svg("g", {}, svg("title", {}, `after “${leaves[n].word}”, depth ${d + 1}: ${text}`),
        svg("rect", { class: "fragment", x: x + 2, y: base + d * tall + 2, width: w - 4, height: tall - 4, rx: 3 }),
        svg("text", { class: measure(text, "12px") > w - 8 ? "middle tiny" : "middle", x: x + w / 2, y: base + d * tall + 19 }, text));
    }));
    const column = t > 0 ? svg("rect", { class: "now-column", x: edge(t - 1), y: floor + 18, width: edge(t) - edge(t - 1), height: base + rows * tall - floor - 16, rx: 5 }) : null;
    return drawing(width + left, total, `The parser's tree and store after ${plural(t, "word")}`, branches, labels, circles, words, cells, column,
      [...Array(rows).keys()].map((d) => svg("text", { class: "soft", x: 4, y: base + d * tall + 19 }, `depth ${d + 1}`)),
      svg("text", { class: "soft tiny", x: 4, y: base + rows * tall + 18 }, "the store after each word"));
  }
}
