// Other systems on the same text: their scores, how these vary, and tests of the best against the others.

function showOtherSystems({ others }) {
  if (!others) return;
  const section = el("section", { id: "others", "aria-labelledby": "others-title" }, el("h2", { id: "others-title" }, "Other systems"));
  byId("scores").after(section);
  document.querySelector("nav a[href='#scores']").parentNode.after(el("li", {}, el("a", { href: "#others" }, "Other systems")));
  const varies = (key) => key !== "seconds" && others.systems.some((one) => one[key].sd !== null);
  // Means are aligned with each other and with their heading, with or without a spread.
  const followed = (key, spread) => varies(key) ? [" ", el("span", { class: "spread" }, spread)] : null;
  const measured = (name, key, show) => ({ name: [name, followed(key, "")], number: true,
    show: (one) => [show(one[key].mean), followed(key, one[key].sd === null ? "" : `± ${show(one[key].sd)}`)] });
  const chart = figure("F1 of every system", "systems", () => drawSystems(others),
    ["A mark is the mean over runs, a bar the range over runs; the filled diamond is the best by mean F1.",
      others.own ? " The dotted vertical line is the selected chain of this run, on the same trees by the same convention." : ""].join(""));
  section.append(
    sameText(others),
    table(`In percent${varies("f1") ? ", mean ± standard deviation over runs" : ""}; ${others.category}: recall of gold ${others.category}s of two words or more`, [
      { name: "system", show: (one) => isBest(others, one) ? `${one.name} ★ best` : one.name },
      { name: "runs", number: true, show: (one) => whole(one.runs) },
      measured("precision", "precision", percent), measured("recall", "recall", percent), measured("F1", "f1", percent),
      measured(others.category, "phrase_recall", percent),
      measured("seconds", "seconds", (value) => fixed(value, 2)),
      { name: "MB", number: true, show: (one) => one.peak_bytes === null ? "–" : whole(one.peak_bytes / 1e6) },
      { name: "failed", number: true, show: (one) => whole(one.failures.length) },
    ], others.systems, (one) => isBest(others, one) ? "chosen" : null),
    el("p", { class: "small" }, `Of ${plural(others.corpus.sentences, "sentence")}, ${plural(others.corpus.words, "word")} without punctuation. `
      + "Seconds are wall-clock time, the mean over runs; MB is the peak memory of the run that used most. Signature: ", el("code", {}, others.signature)),
    ...failures(others.systems), chart, ...tests(others.tests),
    el("h3", {}, "About the systems"), pairs(others.systems.map((one) => [one.name, one.about])));
  addEventListener("resize", () => chart.redraw());
}

const isBest = (others, one) => one === others.systems[0] && one.f1.mean !== null;

function sameText({ same, differences, same_case }) {
  const text = same === false
    ? [el("p", {}, el("strong", {}, "This comparison is not of the text that the run learned from: ", differences.join("; "), ".")),
      el("p", { class: "small" }, "Scores here and those of the run are not comparable.")]
    : [el("p", {}, same ? "All systems got the sentences of this run, and are scored against the same gold trees."
      : "The comparison has as many sentences and words as the run. Whether they are the same is only known with gold trees: --gold TREEBANK.")];
  if (!same_case) text.push(el("p", { class: "small" }, "Of the systems and the run, one learned from words in lower case, the other from words as written."));
  return el("div", { class: same === false ? "verdict wary" : "verdict" }, text);
}

function failures(systems) {
  const failed = systems.flatMap((one) => one.failures.map(({ seed, message }) =>
    el("li", {}, `${one.name}${seed === null ? "" : `, seed ${seed}`}: ${message}`)));
  return failed.length ? [el("h3", {}, "Runs that failed"), el("ul", { class: "failures" }, failed)] : [];
}

function tests(rows) {
  if (!rows.length) return [];
  return [table(`The best against each other system: paired permutation test of F1, ${whole(rows[0].permutations)} permutations, seed ${rows[0].seed}`, [
    { name: "against", show: (row) => row.against },
    { name: `F1 of ${rows[0].system}`, number: true, show: (row) => percent(row.f1) },
    { name: "its F1", number: true, show: (row) => percent(row.against_f1) },
    { name: "difference", number: true, show: (row) => percent(row.difference) },
    { name: "p", number: true, show: (row) => fixed(row.p, 4) },
  ], rows), el("p", { class: "small" }, "Of several runs the one of median F1 is tested (of two the lower): p is about these runs, the spread about all. There is no correction for the number of tests.")];
}

function drawSystems({ systems, own }) {
  const width = pageWidth(820), step = 30, top = own ? 26 : 10, bottom = 44, right = 56;
  const height = top + step * systems.length + bottom;
  const most = 0.36 * width;
  const named = systems.map((one) => shortened(one.name, most - 18));
  const left = Math.max(48, ...named.map((name) => nameWidth(name) + 18));
  const known = systems.filter((one) => one.f1.mean !== null);
  const reached = [...known.flatMap((one) => [one.f1.min, one.f1.max]), ...(own ? [own.f1] : [])].map((f1) => 100 * f1);
  const xs = reached.length ? range(reached, 0.12).map((f1) => Math.max(0, Math.min(100, f1))) : [0, 100];
  const p = plane({ width, height, left, right, top, bottom, xs, ys: [0, 1], xTicks: ticks(...xs, width < 500 ? 4 : 8), yTicks: [], xLabel: "F1 (%)", yLabel: "" });
  return drawing(width, height, "F1 of every system with its range over runs", p.parts,
    own ? [svg("path", { class: "burn", d: `M${p.x(100 * own.f1)},${top - 4}V${height - bottom}` }),
      svg("text", { class: "soft middle", x: p.x(100 * own.f1), y: top - 10 }, `this run ${percent(own.f1)}`)] : null,
    systems.map((one, n) => {
      const y = top + step * (n + 0.5), best = n === 0, { mean, min, max } = one.f1;
      const name = svg("text", { class: best ? "end strong" : "end", x: left - 10, y: y + 4 }, named[n], svg("title", {}, one.name));
      const line = svg("path", { class: "grid", d: `M${left},${y}H${width - right}` });
      if (mean === null) return [line, name, svg("text", { class: "soft", x: left + 8, y: y - 3 }, "no score")];
      const [a, b] = [p.x(100 * min), p.x(100 * max)];
      return [line, name,
        one.runs > 1 ? svg("path", { class: best ? "curve chosen" : "curve", d: `M${a},${y - 6}v12M${a},${y}H${b}M${b},${y - 6}v12` }) : null,
        mark(best ? 4 : 0, p.x(100 * mean), y, 5, best, `${one.name}: F1 ${percent(mean)}${one.runs > 1 ? `, from ${percent(min)} to ${percent(max)} over ${one.runs} runs` : ""}`),
        svg("text", { class: best ? "strong" : "", x: width - right + 10, y: y + 4 }, `${percent(mean)}${best ? " ★" : ""}`)];
    }));
}

const nameWidth = (name) => measure(name, "650 12px");

function shortened(name, room) {
  const letters = [...name];
  if (nameWidth(name) <= room) return name;
  while (letters.length > 1 && nameWidth(`${letters.join("")}…`) > room) letters.pop();
  return `${letters.join("")}…`;
}
