// The other chains that ran to the end, and sentences in which their trees differ most from those of the selected chain.

function showModes({ run, chains, scores, modes }, sentences) {
  if (!modes.length) {
    byId("modes").append(el("p", { class: "note" }, "Only one chain ran to the end: there is no other mode to compare it with."));
    return;
  }
  const of = (number) => chains.chains.find((c) => c.chain === number);
  const f1 = (number) => { const one = scores && scores.systems.find((system) => system.chain === number); return one ? one.f1 : null; };
  const rows = [{ chain: run.selected, selected: true, agreement: null, different: null }, ...modes];
  byId("modes").append(
    el("p", {}, `Chains may settle in different modes: other grammars that are nearly as probable, or less so. ${modes.length === 1 ? "This is the other chain" : "These are the other chains"} that ran to the end, `
      + "and some short sentences in which the trees differ most. Each chain numbers its categories in its own way, so only brackets are compared."),
    table("Chains that ran to the end, the best first", [
      { name: "chain", show: (m) => m.selected ? `${m.chain} ★ selected` : `${m.chain}` },
      ...chains.columns.filter((column) => ["mean_log_likelihood", "posterior"].includes(column.key))
        .map((column) => ({ name: column.name, number: true, show: (m) => fixed(of(m.chain)[column.key], 1) })),
      ...(scores ? [{ name: "F1", number: true, show: (m) => percent(f1(m.chain)) }] : []),
      { name: "brackets shared with the selected chain", number: true, show: (m) => m.agreement === null ? "–" : `${percent(m.agreement)}%` },
      { name: "sentences of another tree", number: true, show: (m) => m.different === null ? "–" : whole(m.different) },
    ], rows, (m) => m.selected ? "chosen" : null),
    el("ul", { class: "key" }, el("li", {}, "✓ solid frame: in both trees"), el("li", {}, "✗ dashed frame: crosses a bracket of the other tree")),
    ...modes.map((mode, n) => showMode(mode, run.selected, sentences, n === 0)));
}

function showMode(mode, selected, sentences, open) {
  if (!mode.examples.length) return el("p", { class: "small" }, `Chain ${mode.chain} has the same brackets in all sentences.`);
  const place = el("div", { class: "examples" });
  const draw = () => { if (!place.hasChildNodes()) place.append(...mode.examples.map((example) => showExample(example, mode.chain, selected, sentences))); };
  if (open) draw();
  return el("details", { class: "mode", id: `mode-${mode.chain}`, open, ontoggle: draw },
    el("summary", {}, `Where chain ${mode.chain} differs most from the selected chain ${selected}`), place);
}

function showExample(example, chain, selected, sentences) {
  const s = example.sentence, own = sentences.induced(s), theirs = sentences.another(s, example);
  const every = own.words.map((_, n) => n).concat(own.words.length); // punctuation counts: both trees are over all tokens
  const panel = (title, name, tree, other) => figure(title, `${name}-${s + 1}`, () =>
    drawTree(tree, relations(tree, other, every), `${title}, sentence ${s + 1}`), null, true);
  const panels = [panel(`Chain ${selected} ★`, `mode-${chain}-selected`, own, theirs), panel(`Chain ${chain}`, `mode-${chain}`, theirs, own)];
  const widest = Math.max(...panels.map((one) => Number(one.querySelector("svg").getAttribute("width"))));
  return el("div", { class: widest > 300 ? "example wide" : "example" },
    el("p", { class: "sentence" }, own.words.join(" ")),
    el("p", { class: "small" }, `Sentence ${whole(s + 1)}: ${example.common ? `${example.common} of ${example.spans}` : `none of ${example.spans}`} ${example.spans === 1 ? "bracket" : "brackets"} in common.`),
    el("div", { class: widest > 540 ? "pair stacked" : "pair" }, panels));
}
