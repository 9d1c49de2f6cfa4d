// Log-likelihood traces, what chains are compared by, and whether samplers have converged.

function showChains({ run, chains: data }) {
  const wary = data.sampled && (data.rhat === null || data.rhat >= 1.01);
  const sentence = (words) => `${words[0].toUpperCase()}${words.slice(1)}.`;
  const kept = data.chains.filter((c) => c.survived), dropped = data.chains.filter((c) => !c.survived);
  let late = false;
  const traces = figure("Log-likelihood of every chain", "traces", () => drawTraces(data, late),
    "The selected chain has the thick line; chains are named at the end of their lines."
    + (data.sampled ? " A dotted line marks the end of burn-in, or a tick on each curve where chains differ; only later iterations are used." : "")
    + (dropped.length ? " Pale lines that end with a cross are chains that were dropped; a grey vertical line is where chains were compared." : ""));
  const toggle = el("label", { class: "inline" }, el("input", { type: "checkbox", id: "late",
    onchange: (event) => { late = event.target.checked; traces.redraw(); } }), "Only after burn-in");
  byId("chains").append(
    !data.sampled ? "" : el("div", { class: wary ? "verdict wary" : "verdict" }, el("p", {}, el("strong", {}, sentence(data.convergence))),
      el("p", { class: "small" }, `R-hat ${data.rhat === null ? "–" : fixed(data.rhat, 2)} (1 if chains agree, below 1.01 is good); `
        + `effective sample size ${data.effective === null ? "–" : whole(data.effective)} of ${whole(data.retained)} retained samples. Both are of the log-likelihood after burn-in.`)),
    data.remarks.map((remark) => el("p", { class: "small" }, sentence(remark))),
    data.rungs.length > 1 ? el("p", { id: "race" }, race(data)) : "",
    data.sampled ? el("div", { class: "controls" }, toggle) : "", traces,
    chainTable(`Chains${dropped.length ? " that ran to the end" : ""}; selected by ${data.selected_by}`, data.columns, kept),
    el("p", { class: "small" }, (data.sampled ? "Means after burn-in. Posterior: log-probability of trees and words, with the probabilities of rules integrated out." : `Of the last ${data.iteration[0]}.${data.columns.filter((c) => c.key === "posterior").map((c) => ` ${sentence(c.name).slice(0, -1)}: what the learner maximises.`).join("")}`) + (data.columns.some((c) => c.key === "variance") ? " Variance: that of surprisal per word, over sentences." : "")
      + (kept.some((c) => c.heldout !== null) ? " Held out: log-likelihood of the held-out sentences." : "") + (run.agreement === null ? "" : " Agreement: the share of its brackets that another chain which ran to the end has too, on average; labels and whole sentences are left out.")),
    dropped.length ? el("details", { id: "dropped" }, el("summary", {}, `${dropped.length} ${dropped.length === 1 ? "chain that was" : "chains that were"} dropped`),
      chainTable(`Chains that were dropped: their last ${data.iteration[0]}${data.sampled ? ", or where burn-in was over the mean since" : ""}`, data.columns, [...dropped].sort((a, b) => b.iterations - a.iterations || a.chain - b.chain))) : "");
  addEventListener("resize", () => traces.redraw());
}

function race({ rungs, iteration }) {
  const [first, ...rest] = rungs;
  return `A race: ${first.chains} chains began. ${rest.map((rung, n) => n ? `after ${whole(rungs[n].iterations)} the best ${rung.chains}` : `After ${whole(first.iterations)} ${iteration[1]} the best ${rung.chains} went on`).join(", ")}, `
    + `which ran to ${whole(rest[rest.length - 1].iterations)}.`;
}

function chainTable(caption, columns, chains) {
  const optional = (name, key, show) => chains.some((c) => c[key] !== null) ? [{ name, number: true, show: (c) => show(c[key]) }] : [];
  return table(caption, [
    { name: "chain", show: (c) => c.selected ? `${c.chain} ★ selected` : `${c.chain}` },
    ...columns.flatMap(({ name, key, kind, decimals }) => optional(name, key, (value) => fixed(value, kind === "count" ? 0 : decimals))),
    ...optional("held out", "heldout", (value) => fixed(value, 1)),
    ...optional("agreement", "agreement", (value) => value === null ? "–" : `${percent(value)}%`),
  ], chains, (c) => c.selected ? "chosen" : c.survived ? null : "dropped");
}

function drawTraces({ chains, rungs, sampled, iteration }, late) {
  const width = pageWidth(), height = 340;
  const lines = chains.map((c) => ({ ...c, points: c.logs.map((log, n) => [n * c.every + 1, log])
    .filter(([iteration]) => !late || c.burn_in !== null && iteration > c.burn_in) })).filter((c) => c.points.length);
  const kept = lines.filter((c) => c.survived);
  const last = (c) => c.points[c.points.length - 1];
  const p = plane({ width, height, left: 88, right: 52, top: rungs.length > 1 ? 26 : 12, xs: [Math.min(...lines.map((c) => c.points[0][0])), Math.max(...lines.map((c) => last(c)[0]))],
    ys: range(lines.flatMap((c) => c.points.map(([, y]) => y))), xLabel: iteration[0], yLabel: "log-likelihood (nats)" });
  const burns = new Set(kept.map((c) => c.burn_in));
  const together = sampled && burns.size === 1 && !late;
  const heights = new Map(apart(kept.map((c) => p.y(last(c)[1])), 13, p.top + 4, height - p.bottom).map((y, n) => [kept[n], y]));
  const rank = (c) => c.selected ? 2 : c.survived ? 1 : 0;
  const order = [...lines.keys()].sort((a, b) => rank(lines[a]) - rank(lines[b]));
  const compared = late ? [] : rungs.slice(0, -1);
  return drawing(width, height, "Log-likelihood against iteration, one line for each chain", p.parts,
    compared.map((rung, n) => {
      const x = p.x(rung.iterations), room = n % 2 === 0 || x - p.x(compared[n - 1].iterations) > 44;
      return svg("g", {}, svg("title", {}, `after ${rung.iterations} ${iteration[1]} the best ${rungs[n + 1].chains} of ${rung.chains} chains went on`),
        svg("path", { class: "rung", d: `M${x},${p.top}V${height - p.bottom}` }),
        room ? svg("text", { class: "soft tiny middle", x, y: p.top - 8 }, `${rung.chains} → ${rungs[n + 1].chains}`) : null);
    }),
    together ? [svg("path", { class: "burn", d: `M${p.x(kept[0].burn_in)},${p.top}V${height - p.bottom}` }),
      svg("text", { class: "soft tiny", x: p.x(kept[0].burn_in) + 5, y: height - p.bottom - 6 }, "burn-in ends")] : null,
    order.map((n) => {
      const c = lines[n];
      const [x, y] = last(c).map((value, axis) => axis ? p.y(value) : p.x(value));
      const curve = c.points.map(([a, b]) => [p.x(a), p.y(b)]);
      if (!c.survived) return svg("g", { class: "dropped" }, svg("title", {}, `chain ${c.chain}, dropped after ${c.iterations} ${iteration[1]}`),
        polyline(curve, { class: "curve dropped" }), svg("path", { class: "curve", d: `M${x - 3},${y - 3}l6,6m0,-6l-6,6` }));
      const at = c.points.find(([iteration]) => iteration > c.burn_in);
      return [
        polyline(curve, { class: c.selected ? "curve chosen" : "curve", "stroke-dasharray": c.selected ? null : DASHES[n % DASHES.length] }),
        burns.size > 1 && at && !late ? svg("path", { class: "axis", d: `M${p.x(at[0])},${p.y(at[1]) - 9}v18` }) : null,
        svg("path", { class: "grid", d: `M${width - p.right},${y}L${width - p.right + 12},${heights.get(c)}` }),
        svg("text", { class: c.selected ? "strong" : "soft", x: width - p.right + 15, y: heights.get(c) + 4 }, `${c.chain}${c.selected ? " ★" : ""}`)];
    }));
}
