// The words of the sentence. Some can be chosen, by dragging or with keys, to say whether they are a phrase.

class Words {
  // `changed()` is called when what is known has changed.
  constructor(changed) {
    this.changed = changed;
    this.words = [];
    this.forget();
    this.from = this.at = 0; // the first and the last word that are chosen, in any order
    this.chosen = false;
    this.strip = el("div", { class: "strip", id: "words", role: "listbox", tabindex: 0, "aria-multiselectable": "true",
      "aria-label": "Words. Choose some with Shift and the arrow keys; then P: a phrase, N: not a phrase.",
      onpointerdown: (event) => this.press(event), onpointermove: (event) => this.drag(event), onkeydown: (event) => this.key(event) });
    this.is = el("button", { type: "button", id: "is-phrase", onclick: () => this.mark("yes") }, "✓ This is a phrase");
    this.isNot = el("button", { type: "button", id: "is-none", onclick: () => this.mark("no") }, "✗ This is not");
    this.hint = el("span", { class: "small" });
    this.marks = el("ul", { class: "marks", id: "marks", "aria-label": "What is known" });
    this.node = el("section", { class: "words", "aria-label": "What is known of the sentence" },
      this.strip, el("div", { class: "stepper" }, this.is, this.isNot, this.hint), this.marks);
  }

  get span() { return [Math.min(this.from, this.at), Math.max(this.from, this.at) + 1]; }

  // `of` is the number of words of the sentence that something is known of: another grammar may see others.
  forget() {
    this.shown = null; // what is known is shown with the words
    this.yes = [];
    this.no = [];
    this.of = 0;
  }

  // Words that are there already stay: they may be chosen just now.
  show(words, kinds, forms) {
    const shown = JSON.stringify([words, kinds, forms]);
    if (shown === this.shown) return;
    this.shown = shown;
    if (words.join(" ") !== this.words.join(" ")) {
      this.chosen = false;
      this.from = this.at = 0;
    }
    this.words = words;
    this.options = words.map((word, n) => el("span", { role: "option", id: `word-${n}`, class: kinds[n], "data-word": n,
      title: kinds[n] === "unknown" ? "not in the grammar" : kinds[n] === "class" ? `one of ${forms[n]}` : null },
    word, kinds[n] === "word" ? null : el("small", {}, kinds[n] === "unknown" ? "unknown" : forms[n])));
    this.strip.replaceChildren(...this.options);
    this.paint();
  }

  paint() {
    const [i, j] = this.span, proper = this.chosen && j - i > 1 && j - i < this.words.length;
    this.options.forEach((option, n) => option.setAttribute("aria-selected", this.chosen && i <= n && n < j));
    if (this.options.length) this.strip.setAttribute("aria-activedescendant", `word-${this.at}`);
    this.is.disabled = this.isNot.disabled = !proper;
    this.hint.textContent = proper ? `“${this.words.slice(i, j).join(" ")}”` : "Drag over some words: are they a phrase?";
    const chip = (kind, sign, what) => this[kind].map(([i, j]) => {
      const words = this.words.slice(i, j).join(" ");
      return el("li", {}, el("button", { type: "button", class: `mark-${kind}`, "aria-label": `Take back: “${words}” is ${what}`,
        onclick: () => { this[kind] = this[kind].filter(([k, l]) => k !== i || l !== j); this.paint(); this.strip.focus(); this.changed(); } }, `${sign} ${words} ×`));
    });
    this.marks.replaceChildren(...chip("yes", "✓", "a phrase"), ...chip("no", "✗", "not a phrase"));
  }

  // What is known of these words changes; a word alone and the whole sentence are phrases of every tree.
  mark(kind) {
    if (this.is.disabled) return;
    const [i, j] = this.span, others = (spans) => spans.filter(([k, l]) => k !== i || l !== j);
    this.yes = others(this.yes);
    this.no = others(this.no);
    this[kind].push([i, j]);
    this.of = this.words.length;
    announce(`“${this.words.slice(i, j).join(" ")}” is ${kind === "yes" ? "a phrase" : "not a phrase"}`);
    this.chosen = false;
    this.paint();
    this.changed();
  }

  choose(at, from = this.from) {
    this.from = from;
    this.at = Math.min(Math.max(at, 0), this.words.length - 1);
    this.chosen = true;
    this.paint();
  }

  press(event) {
    const word = event.target.closest("[data-word]");
    if (!word || event.button) return;
    event.preventDefault();
    this.strip.focus();
    const at = Number(word.dataset.word);
    this.choose(at, event.shiftKey ? this.from : at);
    if (word.hasPointerCapture(event.pointerId)) word.releasePointerCapture(event.pointerId);
  }

  drag(event) {
    if (!(event.buttons & 1) || !this.chosen) return;
    const under = document.elementFromPoint(event.clientX, event.clientY);
    const word = under && under.closest("[data-word]");
    if (word && this.strip.contains(word)) this.choose(Number(word.dataset.word));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.words.length) return;
    const to = { ArrowLeft: this.at - 1, ArrowRight: this.at + 1, Home: 0, End: this.words.length - 1 }[event.key];
    if (to !== undefined) this.choose(to, event.shiftKey ? this.from : Math.min(Math.max(to, 0), this.words.length - 1));
    else if (event.key === "p") this.mark("yes");
    else if (event.key === "n") this.mark("no");
    else if (event.key === "Escape") { this.chosen = false; this.paint(); } else return;
    event.preventDefault();
  }
}
