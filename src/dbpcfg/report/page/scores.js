// Scores next to baselines, against log-likelihood, and by sentence length.

function showScores({ scores, chains }) {
  if (!scores) {
    byId("scores").append(el("p", { class: "note" }, "There are no gold trees to score against. If you have a treebank of this text: ",
      el("code", {}, "dbpcfg report RUN --gold TREEBANK")));
    return;
  }
  const [low, median, high] = scores.spread || [];
  const firstOf = new Set();
  const figures = [
    scores.spread && chains.chains.filter((c) => c.survived).length > 1 ? figure("Log-likelihood against F1, over chains", "loglikelihood-f1",
      () => drawAgainst(scores, chains), "Each mark is a chain, with its number; the filled diamond is the selected one. If likelihood predicts F1, marks rise to the right.") : null,
    scores.lengths.length > 1 ? figure("F1 by sentence length", "f1-by-length", () => drawLengths(scores),
      "The selected chain, the baselines, and the best that binary trees can score. Lengths are in words without punctuation; the smaller numbers are sentences.") : null].filter(Boolean);
  byId("scores").append(
    scores.spread ? el("p", {}, scores.systems.filter((one) => one.kind === "chain").length > 1
      ? `Over the chains${chains.chains.every((c) => c.survived) ? "" : " that ran to the end"} F1 is between ${percent(low)} and ${percent(high)}, median ${percent(median)}. Scores are not used to select a chain.`
      : `There is one chain${chains.chains.length > 1 ? " that ran to the end" : ""}, so the spread of these scores is unknown.`) : null,
    table("PARSEVAL, in percent", [
      { name: "system", show: (s) => s.selected ? `${s.name} ★ selected` : s.name },
      { name: "precision", number: true, show: (s) => percent(s.precision) },
      { name: "recall", number: true, show: (s) => percent(s.recall) },
      { name: "F1", number: true, show: (s) => percent(s.f1) },
      { name: "matched", number: true, show: (s) => whole(s.matched) },
      { name: "predicted", number: true, show: (s) => whole(s.predicted) },
      { name: "gold", number: true, show: (s) => whole(s.gold) },
    ], scores.systems, (s) => [s.selected ? "chosen" : "", firstOf.size && !firstOf.has(s.kind) ? "rule-above" : "", void firstOf.add(s.kind)].join(" ").trim() || null),
    el("p", { class: "small" }, `Of ${plural(scores.sentences, "sentence")}; ${whole(scores.left_out)} of one word or none left out. Signature: `, el("code", {}, scores.signature)),
    el("div", { class: "columns" }, figures));
  addEventListener("resize", () => figures.forEach((one) => one.redraw()));
}

// Groups of points that are too close for labels of their own.
function together(points) {
  const groups = [];
  for (const point of points) {
    const near = groups.find((group) => group.some((d) => Math.abs(d.x - point.x) < 18 && Math.abs(d.y - point.y) < 14));
    if (near) near.push(point);
    else groups.push([point]);
  }
  return groups;
}

const half = () => innerWidth > 980 ? Math.min(520, pageWidth() / 2 - 8) : pageWidth(620);

function drawAgainst(scores, { chains, sampled }) {
  const points = scores.systems.filter((one) => one.kind === "chain" && one.f1 !== null)
    .map((one) => ({ ...one, log: chains[chains.findIndex((c) => c.chain === one.chain)].mean_log_likelihood }));
  const width = half(), height = 320;
  const p = plane({ width, height, xs: range(points.map((d) => d.log), 0.12), ys: range(points.map((d) => 100 * d.f1), 0.12),
    xLabel: sampled ? "mean log-likelihood after burn-in (nats)" : "log-likelihood (nats)", yLabel: "F1 (%)" });
  return drawing(width, height, "Log-likelihood against F1, one mark for each chain", p.parts, points.map((d) =>
    mark(d.selected ? 4 : 0, p.x(d.log), p.y(100 * d.f1), 5, d.selected, `chain ${d.chain}: F1 ${percent(d.f1)}, ${fixed(d.log, 1)} nats`)),
  together(points.map((d) => ({ ...d, x: p.x(d.log), y: p.y(100 * d.f1) }))).map((group) => {
    const right = Math.max(...group.map((d) => d.x)), names = group.map((d) => `${d.chain}${d.selected ? " ★" : ""}`).join(", ");
    const inside = right + 12 + measure(names, "12px") < width;
    return svg("text", { class: inside ? "" : "end", x: inside ? right + 9 : Math.min(...group.map((d) => d.x)) - 9, y: group[0].y - 7 }, names);
  }));
}

function drawLengths(scores) {
  const rows = scores.lengths, names = scores.compared;
  const width = half(), height = 320 + 18 * Math.ceil(names.length / 2);
  const top = 18 * Math.ceil(names.length / 2) + 10;
  const p = plane({ width, height, top, bottom: 62, xs: [-0.5, rows.length - 0.5], ys: [0, 100],
    xTicks: [...rows.keys()].filter((n) => rows.length <= 10 || n % 2 === 0 || rows.length - n === 1 && rows.length % 2), yLabel: "F1 (%)", xLabel: "words in the sentence",
    showX: (n) => rows[n].from === rows[n].to ? `${rows[n].from}` : `${rows[n].from}–${rows[n].to}` });
  const legend = (name, n) => {
    const x = p.left + (n % 2) * (width - p.left) / 2, y = 10 + 18 * Math.floor(n / 2);
    return [polyline([[x, y], [x + 26, y]], look(n)), mark(n, x + 13, y, 3.5, n === 0), svg("text", { x: x + 32, y: y + 4 }, name)];
  };
  const look = (n) => ({ class: n === 0 ? "curve chosen" : "curve", "stroke-dasharray": n === 0 ? null : DASHES[n % DASHES.length] });
  return drawing(width, height, "F1 against sentence length", p.parts, names.map(legend),
    rows.map((row, n) => p.x(1) - p.x(0) > 26 || n % 2 === 0 ? svg("text", { class: "soft middle tiny", x: p.x(n), y: height - p.bottom + 30 }, whole(row.sentences)) : null),
    [...names.keys()].reverse().map((n) => {
      const known = rows.map((row, r) => [r, row.f1[names[n]], row]).filter(([, f1]) => f1 !== null);
      return [polyline(known.map(([r, f1]) => [p.x(r), p.y(100 * f1)]), look(n)),
        known.map(([r, f1, row]) => mark(n, p.x(r), p.y(100 * f1), 3.5, n === 0, `${names[n]}, ${row.from} words: ${percent(f1)}, ${plural(row.sentences, "sentence")}`))];
    }));
}
