// The store of a left-corner parser, word by word: a picture to step through.

const MARGIN = 74; // room for the names of depths
const WORD_MILLISECONDS = 900;

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

class Store {
  // `mark` makes the names of its elements unique, if a page has several.
  constructor(mark = "", moved = () => {}) {
    this.t = 0;
    this.moved = moved;
    this.slider = el("input", { type: "range", id: `time${mark}`, min: 0, value: 0, "aria-label": "Words read", oninput: (event) => this.step(Number(event.target.value)) });
    this.now = el("p", { id: `store-now${mark}`, "aria-live": "polite" });
    this.place = el("div");
    this.playing = null;
    this.player = el("button", { type: "button", id: `play${mark}`, onclick: () => this.playing ? this.pause() : this.play() }, "▶ Play");
    this.node = el("div", {},
      el("div", { class: "stepper" }, this.player, el("button", { type: "button", id: `word-back${mark}`, "aria-label": "One word back", onclick: () => this.step(this.t - 1) }, "←"), this.slider,
        el("button", { type: "button", id: `word-on${mark}`, "aria-label": "One word on", onclick: () => this.step(this.t + 1) }, "→")),
      this.now, this.place);
  }

  // From the beginning, or from where it is, a word at a time.
  play() {
    if (this.t === this.tree.words.length) this.go(0);
    this.player.textContent = "❚❚ Pause";
    this.playing = setInterval(() => {
      this.go(this.t + 1);
      if (this.t === this.tree.words.length) this.pause();
    }, WORD_MILLISECONDS);
  }

  pause() {
    clearInterval(this.playing);
    this.playing = null;
    this.player.textContent = "▶ Play";
  }

  step(t) {
    this.pause();
    this.go(t);
  }

  // `t`: the number of words that have been read.
  take(tree, name, t = Math.ceil(tree.words.length / 2)) {
    this.pause();
    this.tree = tree;
    this.slider.max = tree.words.length;
    this.t = t;
    this.stores = [...Array(tree.words.length + 1).keys()].map((t) => storeAfter(tree, t));
    this.picture = figure("Parser and store", `store-${name}`, () => this.draw(),
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
    this.moved(this.t);
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
