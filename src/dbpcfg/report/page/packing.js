// Sentences and trees from packed numbers: `packing.py` packs them, `sentences.py` describes the layout.

function unpack({ type, data }) {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  return new { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array }[type](bytes.buffer);
}

// sums[i] is the sum of the first i numbers.
function sums(numbers) {
  const result = new Uint32Array(numbers.length + 1);
  for (let i = 0; i < numbers.length; i++) result[i + 1] = result[i] + numbers[i];
  return result;
}

class Sentences {
  constructor(data) {
    this.categories = data.categories;
    this.words = data.words;
    this.lengths = unpack(data.lengths);
    this.starts = sums(this.lengths);
    this.tokens = unpack(data.tokens);
    this.punctuation = unpack(data.punctuation);
    this.nodes = unpack(data.nodes);
    this.posterior = unpack(data.posterior);
    this.others = data.others || 0; // chains that the trees are compared with
    this.shared = data.shared ? unpack(data.shared) : null;
    this.agreement = data.agreement ? unpack(data.agreement) : null;
    this.f1 = data.f1 ? unpack(data.f1) : null;
    this.count = this.lengths.length;
    this.sizes = this.lengths.map((_, s) => {
      let words = 0;
      for (let t = this.starts[s]; t < this.starts[s + 1]; t++) words += 1 - this.punctuation[t];
      return words;
    });
    if (data.gold) {
      this.gold = {
        labels: data.gold.labels,
        starts: sums(unpack(data.gold.sizes)),
        nodes: unpack(data.gold.nodes),
        children: unpack(data.gold.children),
        posterior: unpack(data.gold.posterior),
      };
      // Where the phrases of each sentence begin among all phrases.
      this.gold.phrases = sums(this.gold.starts.subarray(1).map((end, s) => {
        let phrases = 0;
        for (let t = this.gold.starts[s]; t < end; t++) phrases += this.gold.children[t] > 0;
        return phrases;
      }));
    }
  }

  text(s) {
    return Array.from(this.tokens.subarray(this.starts[s], this.starts[s + 1]), (w) => this.words[w]);
  }

  // before[i] is the number of words before token i, without punctuation.
  before(s) {
    return sums(Array.from(this.punctuation.subarray(this.starts[s], this.starts[s + 1]), (mark) => 1 - mark));
  }

  // The mean posterior of a sentence's brackets, without that of the whole sentence, which is always 100.
  certainty(s) {
    const first = this.starts[s] - s, last = this.starts[s + 1] - s - 1;
    let sum = 0;
    for (let p = first + 1; p < last; p++) sum += this.posterior[p];
    return last - first > 1 ? sum / (last - first - 1) : 100;
  }

  induced(s) {
    const base = 2 * this.starts[s] - s, end = 2 * this.starts[s + 1] - s - 1;
    const first = this.starts[s] - s;
    let node = base, phrase = first;
    return treeOf(this.text(s), () => {
      const code = this.nodes[node++];
      if (code & 1) return this._leaf(code);
      const shared = this.shared && phrase > first ? this.shared[phrase] : null; // all have the whole sentence
      return { label: this.categories[code >> 1], arity: 2, posterior: this.posterior[phrase++], shared };
    }, end - base);
  }

  // The tree of another chain, from numbers as in `nodes` and `posterior`.
  another(s, { nodes, posterior }) {
    const codes = unpack(nodes), shares = unpack(posterior);
    let node = 0, phrase = 0;
    return treeOf(this.text(s), () => {
      const code = codes[node++];
      return code & 1 ? this._leaf(code) : { label: this.categories[code >> 1], arity: 2, posterior: shares[phrase++], shared: null };
    }, codes.length);
  }

  _leaf(code) { return { label: this.categories[code >> 1], arity: 0, posterior: null, shared: null }; }

  goldTree(s) {
    if (!this.gold) return null;
    const { labels, starts, nodes, children, posterior, phrases } = this.gold;
    let node = starts[s], phrase = phrases[s];
    return treeOf(this.text(s), () => {
      const arity = children[node];
      return { label: labels[nodes[node++]], arity, posterior: arity ? posterior[phrase++] : null, shared: null };
    }, starts[s + 1] - starts[s]);
  }
}
