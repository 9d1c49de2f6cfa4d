// Elements from plain data. Text becomes text nodes only: words of a corpus are never markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

const el = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes = {}, ...children) => fill(document.createElementNS(SVG, name), attributes, children);
const byId = (id) => document.getElementById(id);
const announce = (text) => { byId("announce").textContent = text; };

const whole = (number) => Math.round(number).toLocaleString("en");
const plural = (number, noun, nouns = `${noun}s`) => `${whole(number)} ${number === 1 ? noun : nouns}`;
const fixed = (number, digits) => number === null || number === undefined ? "–"
  : number.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }).replace("-", "−");
const percent = (share) => share === null || share === undefined ? "–" : fixed(100 * share, 1);
function roughly(share) { // two digits or so: 0.3%, 3.1%, 31%
  const value = 100 * share;
  return `${value >= 9.95 ? value.toFixed(0) : value.toFixed(1)}%`;
}

// A table from columns {name, number, show} and rows; `mark(row)` gives a row's class.
function table(caption, columns, rows, mark = () => null) {
  const cell = (column, row, first) => el(first ? "th" : "td",
    { class: column.number ? "number" : null, scope: first ? "row" : null }, column.show(row));
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    el("table", {}, el("caption", {}, caption),
      el("thead", {}, el("tr", {}, columns.map((column) =>
        el("th", { class: column.number ? "number" : null, scope: "col" }, column.name)))),
      el("tbody", {}, rows.map((row) =>
        el("tr", { class: mark(row) }, columns.map((column, n) => cell(column, row, n === 0)))))));
}

const pairs = (rows) => el("dl", { class: "pairs" },
  rows.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
