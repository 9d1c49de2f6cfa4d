// The grammar: categories as cards to search and sort, and as heat maps against gold labels.

const SHOWN = 10, MOST_LABELS = 22;

function showGrammar({ grammar, meanings, run }) {
  const categories = grammar.categories.map((one) => describe(one));
  const most = Math.max(...categories.map((one) => one.share));
  const list = el("ul", { class: "cards", id: "categories" });
  const status = el("p", { class: "small", role: "status" });
  const search = el("input", { type: "search", id: "category-search", placeholder: "a word, category or gold label", oninput: update });
  const orders = {
    use: ["most used", (a, b) => b.share - a.share],
    name: ["name", (a, b) => a.name.localeCompare(b.name, "en", { numeric: true })],
    words: ["most often words", (a, b) => (b.word_share ?? -1) - (a.word_share ?? -1)],
    phrases: ["most often phrases", (a, b) => (a.word_share ?? 2) - (b.word_share ?? 2)],
    root: ["most often roots", (a, b) => b.root - a.root],
    ...(meanings ? { pure: ["closest to one gold label", (a, b) => b.purity - a.purity] } : {}),
  };
  const sort = el("select", { id: "category-sort", onchange: update },
    Object.entries(orders).map(([key, [name]]) => el("option", { value: key }, name)));

  function update() {
    const wanted = search.value.trim().toLowerCase();
    const shown = categories.filter((one) => !wanted || one.text.some((text) => text.includes(wanted)))
      .sort(orders[sort.value][1]);
    list.replaceChildren(...shown.map((one) => card(one, most)));
    status.textContent = wanted ? `${shown.length} of ${categories.length} categories.` : `${categories.length} categories.`;
  }
  update();
  const bound = run.depth === null ? "" : `, within memory depth ${run.depth}`;
  byId("grammar").append(
    el("p", {}, `Shares are of all nodes in the run's ${plural(grammar.trees, "tree")}. Generated sentences have ${fixed(grammar.expected_length, 1)} words on average${bound}; those of the text have ${fixed(grammar.mean_length, 1)}.`),
    el("div", { class: "controls" }, el("label", { class: "grow" }, "Search", search), el("label", {}, "Sort by", sort)),
    status, list);
  if (meanings) showHeatMaps(grammar, meanings);
}

function describe(one) {
  const use = one.counted || one.expected;
  const gold = one.gold ? [["gold phrases", one.gold.phrases], ["gold tags", one.gold.tags]].map(([name, counts]) => {
    const total = Object.values(counts).reduce((a, b) => a + b, 0);
    const items = Object.entries(counts).sort((a, b) => b[1] - a[1]).map(([label, n]) => [label === "–" ? "no phrase" : label, n / total]);
    return { name, total, items };
  }).filter((part) => part.total) : [];
  const met = gold.reduce((sum, part) => sum + part.total, 0);
  const named = [one.name, ...one.words.map((item) => item.word), ...gold.flatMap((part) => part.items.map(([label]) => label))];
  return { ...one, ...use, gold, text: named.map((text) => text.toLowerCase()),
    purity: met ? gold.reduce((sum, part) => sum + part.items.filter(([label]) => label !== "no phrase").slice(0, 1).reduce((s, [, p]) => s + p * part.total, 0), 0) / met : -1 };
}

function card(one, most) {
  const words = one.word_share > 0.015 ? one.words.filter((item, n) => !n || item.probability >= 0.0005).map((item) => [item.word, item.probability]) : [];
  const rules = one.word_share === null || one.word_share < 0.985 ? one.rules.filter((item, n) => !n || item.probability >= 0.005).map((item) => [item.rule.join(" "), item.probability]) : [];
  const facts = [one.word_share === null ? "never used" : `${roughly(one.word_share)} of them words`, one.root >= 0.0005 ? `${roughly(one.root)} of roots` : null].filter(Boolean);
  const parts = [["words", words], ["expansions", rules], ...one.gold.map((part) => [`${part.name} (${whole(part.total)})`, part.items])];
  if (one.word_share < 0.5) parts.splice(0, 2, parts[1], parts[0]);
  const levels = Object.entries(one.levels);
  const total = levels.reduce((sum, [, value]) => sum + value, 0);
  while (levels.length > 2 && levels[levels.length - 1][1] < 0.0005 * total) levels.pop(); // without a bound there are many
  return el("li", { class: "card" },
    el("header", {}, el("h4", {}, one.name), el("span", { class: "share" }, `${roughly(one.share)}`)),
    el("div", { class: "bar", role: "img", "aria-label": `${roughly(one.share)} of all nodes` }, bar(one.share / most)),
    el("div", { class: "small" }, facts.join(" · ")),
    el("dl", {}, parts.filter(([, items]) => items.length).map(([name, items]) => [el("dt", {}, name),
      el("dd", {}, el("ul", { class: "items" }, items.slice(0, SHOWN).map(([text, p]) => el("li", {}, text, " ", el("span", { class: "p" }, roughly(p))))))]),
    total ? [el("dt", {}, "side and depth"), el("dd", {}, el("div", { class: "levels" }, levels.map(([name, value]) => shaded(name, value / total))))] : null));
}

function bar(share) {
  const node = el("i");
  node.style.width = `${Math.max(1, 100 * share)}%`;
  return node;
}

function shaded(name, share) {
  const node = el("span", {}, el("b", {}, name), roughly(share));
  node.style.background = `rgba(var(--shade), ${(0.4 * share).toFixed(3)})`;
  return node;
}

function showHeatMaps(grammar, meanings) {
  const order = grammar.categories.map((one) => one.name);
  for (const [key, title] of [["phrases", "Categories against gold phrases"], ["tags", "Categories against gold tags"]]) {
    const data = meanings[key];
    if (!data.categories.length || !data.labels.length) continue;
    byId("grammar").append(figure(title, `categories-${key}`, () => heatMap(data, order, title),
      "Each row sums to 100: of all such nodes of the category, the percentage for whose words the gold tree has each label. Darker is more; numbers below 1 are left out.", true));
  }
}

function heatMap(data, order, title) {
  const labels = data.labels.slice(0, MOST_LABELS);
  const others = data.labels.length > MOST_LABELS;
  const rows = order.filter((name) => data.categories.includes(name)).map((name) => {
    const counts = data.counts[data.categories.indexOf(name)];
    const total = counts.reduce((a, b) => a + b, 0);
    const shown = counts.slice(0, MOST_LABELS);
    if (others) shown.push(counts.slice(MOST_LABELS).reduce((a, b) => a + b, 0));
    return { name, total, shares: shown.map((n) => total ? n / total : 0) };
  });
  const columns = others ? [...labels, "others"] : labels;
  const side = 38, tall = 26, left = 62, right = 70, top = 20 + Math.max(...columns.map((label) => measure(label, "12px"))) * 0.8;
  const width = Math.max(left + columns.length * side + right, 240), height = top + rows.length * tall + 10;
  return drawing(width, height, title,
    columns.map((label, n) => svg("text", { x: 0, y: 0, transform: `translate(${left + n * side + side / 2 + 2} ${top - 8}) rotate(-45)` }, label)),
    svg("text", { class: "soft tiny", x: left + columns.length * side + 10, y: top - 8 }, "times"),
    rows.map((row, r) => [
      svg("text", { class: "end strong", x: left - 10, y: top + r * tall + 17 }, row.name),
      row.shares.map((share, n) => svg("g", {}, svg("title", {}, `${row.name}, ${columns[n]}: ${roughly(share)} of ${whole(row.total)}`),
        svg("rect", { class: "cell", x: left + n * side, y: top + r * tall, width: side, height: tall, "fill-opacity": (0.75 * share).toFixed(3) }),
        share >= 0.01 ? svg("text", { class: "middle", x: left + n * side + side / 2, y: top + r * tall + 17 }, `${Math.round(100 * share)}`) : null)),
      svg("text", { class: "soft tiny", x: left + columns.length * side + 10, y: top + r * tall + 17 }, whole(row.total))]),
    svg("rect", { class: "cell-frame", x: left, y: top, width: columns.length * side, height: rows.length * tall }));
}
