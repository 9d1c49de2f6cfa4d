// Log-likelihood traces, and whether the chains agree.

function showChains({ chains: data }) {
  const wary = data.rhat === null || data.rhat >= 1.01;
  const sentence = data.verdict[0].toUpperCase() + data.verdict.slice(1);
  let late = false;
  const traces = figure("Log-likelihood of every chain", "traces", () => drawTraces(data.chains, late),
    "The selected chain has the thick line; chains are named at the end of their lines. A dotted vertical line, or where they differ a tick on the curve, is where burn-in ends: only later iterations are used.");
  const toggle = el("label", { class: "inline" }, el("input", { type: "checkbox", id: "late",
    onchange: (event) => { late = event.target.checked; traces.redraw(); } }), "Only after burn-in");
  byId("chains").append(
    el("div", { class: wary ? "verdict wary" : "verdict" }, el("p", {}, el("strong", {}, `${sentence}.`)),
      el("p", { class: "small" }, `R-hat ${data.rhat === null ? "–" : fixed(data.rhat, 2)} (1 if chains agree, below 1.01 is good); `
        + `effective sample size ${data.effective === null ? "–" : whole(data.effective)} of ${whole(data.retained)} retained samples. Both are of the log-likelihood after burn-in.`)),
    el("div", { class: "controls" }, toggle), traces,
    table("Chains; the one of greatest mean log-likelihood after burn-in is selected", [
      { name: "chain", show: (c) => c.selected ? `${c.chain} ★ selected` : `${c.chain}` },
      { name: "iterations", number: true, show: (c) => whole(c.iterations) },
      { name: "burn-in", number: true, show: (c) => whole(c.burn_in) },
      { name: "mean log-likelihood", number: true, show: (c) => fixed(c.mean, 1) },
      { name: "sd", number: true, show: (c) => fixed(c.sd, 1) },
      { name: "per token", number: true, show: (c) => fixed(c.per_token, 3) },
      { name: "greatest", number: true, show: (c) => fixed(c.greatest, 1) },
    ], data.chains, (c) => c.selected ? "chosen" : null));
  addEventListener("resize", () => traces.redraw());
}

function drawTraces(chains, late) {
  const width = pageWidth(), height = 340;
  const lines = chains.map((c) => ({ ...c, points: c.logs.map((log, n) => [n * c.every + 1, log])
    .filter(([iteration]) => !late || iteration > c.burn_in) }));
  const ends = lines.flatMap((c) => c.points.slice(-1).map(([x]) => x));
  const starts = lines.flatMap((c) => c.points.slice(0, 1).map(([x]) => x));
  const p = plane({ width, height, left: 88, right: 52, xs: [Math.min(...starts), Math.max(...ends)],
    ys: range(lines.flatMap((c) => c.points.map(([, y]) => y))), xLabel: "iteration", yLabel: "log-likelihood (nats)" });
  const burns = new Set(chains.map((c) => c.burn_in));
  const together = burns.size === 1 && !late;
  const heights = apart(lines.map((c) => p.y(c.points[c.points.length - 1][1])), 13, p.top + 4, height - p.bottom);
  const order = [...lines.keys()].sort((a, b) => lines[a].selected - lines[b].selected);
  return drawing(width, height, "Log-likelihood against iteration, one line for each chain", p.parts,
    together ? [svg("path", { class: "burn", d: `M${p.x(chains[0].burn_in)},${p.top}V${height - p.bottom}` }),
      svg("text", { class: "soft tiny", x: p.x(chains[0].burn_in) + 5, y: height - p.bottom - 6 }, "burn-in ends")] : null,
    order.map((n) => {
      const c = lines[n];
      const at = c.points.find(([x]) => x > c.burn_in);
      return [
        polyline(c.points.map(([x, y]) => [p.x(x), p.y(y)]), { class: c.selected ? "curve chosen" : "curve", "stroke-dasharray": c.selected ? null : DASHES[n % DASHES.length] }),
        burns.size > 1 && at && !late ? svg("path", { class: "axis", d: `M${p.x(at[0])},${p.y(at[1]) - 9}v18` }) : null,
        svg("path", { class: "grid", d: `M${width - p.right},${p.y(c.points[c.points.length - 1][1])}L${width - p.right + 12},${heights[n]}` }),
        svg("text", { class: c.selected ? "strong" : "soft", x: width - p.right + 15, y: heights[n] + 4 }, `${c.chain}${c.selected ? " ★" : ""}`)];
    }));
}
