// Axes, lines, marks and bars. Lines differ in dashes and marks in shape, never in colour alone.

const DASHES = [null, "7 3", "2 3", "9 3 2 3", "5 2 1 2 1 2", "12 4", "1 2", "4 4"];
const SHAPES = [
  (x, y, r) => `M${x - r},${y}a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0Z`,
  (x, y, r) => `M${x},${y - r}L${x + r},${y + r}L${x - r},${y + r}Z`,
  (x, y, r) => `M${x - r},${y - r}h${2 * r}v${2 * r}h${-2 * r}Z`,
  (x, y, r) => `M${x},${y + r}L${x + r},${y - r}L${x - r},${y - r}Z`,
  (x, y, r) => `M${x},${y - 1.3 * r}L${x + 1.3 * r},${y}L${x},${y + 1.3 * r}L${x - 1.3 * r},${y}Z`,
  (x, y, r) => `M${x - r},${y}h${2 * r}M${x},${y - r}v${2 * r}M${x},${y}Z`,
];

const mark = (shape, x, y, size, chosen, title) => svg("path", {
  class: chosen ? "dot chosen" : "dot", d: SHAPES[shape % SHAPES.length](x, y, size),
}, title ? svg("title", {}, title) : null);

// Round numbers within a range; their number is near `about`.
function ticks(low, high, about) {
  const rough = (high - low) / about || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const result = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-6; n++) result.push(n * step || 0); // never −0
  return result;
}

// A plane with axes: {x, y} turn values into positions, `parts` are its elements, from back to front.
function plane({ width, height, left = 64, right = 16, top = 12, bottom = 44, xs, ys, xLabel, yLabel, xTicks, yTicks, showX, showY }) {
  const span = (range) => range[1] - range[0] || 1;
  const x = (value) => left + (value - xs[0]) / span(xs) * (width - left - right);
  const y = (value) => height - bottom - (value - ys[0]) / span(ys) * (height - top - bottom);
  const across = xTicks || ticks(xs[0], xs[1], Math.max(2, Math.floor((width - left - right) / 90)));
  const up = yTicks || ticks(ys[0], ys[1], Math.max(2, Math.floor((height - top - bottom) / 48)));
  const digits = (marks) => marks.some((v) => Math.abs(v % 1) > 1e-9) ? (marks.some((v) => Math.abs((v * 10) % 1) > 1e-6) ? 2 : 1) : 0;
  const show = (value, marks, own) => own ? own(value) : fixed(value, digits(marks));
  const parts = [
    up.map((v) => [svg("path", { class: "grid", d: `M${left},${y(v)}H${width - right}` }),
      svg("text", { class: "soft end", x: left - 8, y: y(v) + 4 }, show(v, up, showY))]),
    svg("path", { class: "axis", d: `M${left},${height - bottom}H${width - right}` }),
    across.map((v) => [svg("path", { class: "axis", d: `M${x(v)},${height - bottom}v4` }),
      svg("text", { class: "soft middle", x: x(v), y: height - bottom + 17 }, show(v, across, showX))]),
    svg("text", { class: "soft middle", x: (left + width - right) / 2, y: height - 6 }, xLabel),
    svg("text", { class: "soft middle", x: 0, y: 0, transform: `translate(13 ${(top + height - bottom) / 2}) rotate(-90)` }, yLabel),
  ];
  return { x, y, parts, left, right, top, bottom, width, height };
}

const polyline = (points, attributes) => svg("path", {
  d: points.map(([x, y], n) => `${n ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`).join(""), ...attributes,
});

function range(values, margin = 0.06) {
  const low = values.reduce((a, b) => Math.min(a, b), Infinity), high = values.reduce((a, b) => Math.max(a, b), -Infinity);
  const pad = (high - low || Math.abs(high) || 1) * margin;
  return [low - pad, high + pad];
}

// Positions of labels near given heights, in the same order, no two closer than `gap`.
function apart(heights, gap, low, high) {
  const order = heights.map((h, n) => n).sort((a, b) => heights[a] - heights[b]);
  const placed = heights.slice();
  order.forEach((n, k) => { if (k) placed[n] = Math.max(placed[n], placed[order[k - 1]] + gap); });
  const over = order.length ? placed[order[order.length - 1]] - high : 0;
  if (over > 0) {
    placed[order[order.length - 1]] = high;
    for (let k = order.length - 2; k >= 0; k--) placed[order[k]] = Math.min(placed[order[k]], placed[order[k + 1]] - gap);
  }
  return placed.map((h) => Math.max(h, low));
}

// The width of a drawing: that of the page, at most `most`.
const pageWidth = (most = 1080) => Math.max(320, Math.min(most, byId("content").clientWidth - (innerWidth < 580 ? 32 : 48)));

// Rows of bars for several series; fills differ: full, hollow, grey.
function barChart({ groups, series, xLabel, yLabel, label, width }) {
  const height = 260 + 20 * series.length;
  const top = 20 * series.length + 12;
  const most = Math.max(...series.flatMap((one) => one.values), 0.01);
  const p = plane({ width, height, top, xs: [0, groups.length], ys: [0, most * 1.2], xLabel, yLabel,
    xTicks: [], showY: (v) => `${Math.round(100 * v)}%` });
  const step = (p.x(1) - p.x(0)) * 0.76 / series.length;
  const each = Math.min(step, 64);
  return drawing(width, height, label, p.parts,
    series.map((one, s) => [
      svg("rect", { class: `bar-${s % 3}`, x: p.left, y: 6 + 20 * s, width: 12, height: 12 }),
      svg("text", { x: p.left + 20, y: 16 + 20 * s }, one.name),
      one.values.map((value, g) => {
        const x = (p.x(g) + p.x(g + 1)) / 2 + (s - series.length / 2) * each;
        return [svg("rect", { class: `bar-${s % 3}`, x: x + 2, y: p.y(value), width: each - 4, height: p.y(0) - p.y(value) }),
          value < 0.0005 ? null : each < 28
            ? svg("text", { class: "tiny", transform: `translate(${x + each / 2 + 3.5} ${p.y(value) - 4}) rotate(-90)` }, roughly(value))
            : svg("text", { class: "middle tiny", x: x + each / 2, y: p.y(value) - 4 }, roughly(value))];
      })]),
    groups.map((name, g) => svg("text", { class: "soft middle", x: (p.x(g) + p.x(g + 1)) / 2, y: height - p.bottom + 17 }, name)));
}
