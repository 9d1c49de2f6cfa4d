// Trees as pictures: words in a row, each phrase above its parts, brackets compared with another tree.

const ROW = 46, GAP = 14, BOX = 20;
const measure = (() => {
  const context = document.createElement("canvas").getContext("2d");
  return (text, font = "13px") => { context.font = `${font} system-ui, sans-serif`; return context.measureText(text).width; };
})();

// A tree from its nodes in pre-order, without recursion: trees may be deep. Nodes get start, end, parent, children.
function treeOf(words, next, size) {
  const all = [];
  const open = [];
  let position = 0;
  for (let n = 0; n < size; n++) {
    const node = { ...next(), start: position, children: [], parent: open.length ? open[open.length - 1] : null };
    if (node.parent) node.parent.children.push(node);
    all.push(node);
    if (node.arity > 0) { open.push(node); continue; }
    node.word = words[position++];
    node.end = position;
    while (open.length && open[open.length - 1].children.length === open[open.length - 1].arity) {
      open.pop().end = position;
    }
  }
  return { root: all[0], nodes: all, words };
}

// Places of all nodes: x over the middle of the children, y by the height above the words.
function layout(tree) {
  for (let n = tree.nodes.length - 1; n >= 0; n--) {
    const node = tree.nodes[n];
    node.height = node.children.length ? 1 + Math.max(...node.children.map((child) => child.height)) : 0;
    node.width = Math.max(measure(node.label, "600 12px") + 14, node.posterior === null ? 0 : 34);
  }
  const top = tree.root.height;
  let x = 8;
  for (const node of tree.nodes) {
    if (node.children.length) continue;
    let width = Math.max(measure(node.word) + GAP, node.width + 8, 42);
    for (let above = node.parent; above && above.children.length === 1; above = above.parent) width = Math.max(width, above.width + 24);
    node.x = x + width / 2;
    x += width;
  }
  for (let n = tree.nodes.length - 1; n >= 0; n--) {
    const node = tree.nodes[n];
    if (node.children.length) node.x = (node.children[0].x + node.children[node.children.length - 1].x) / 2;
    node.y = 18 + (top - node.height) * ROW;
  }
  return { width: x + 8, height: 18 + top * ROW + 52, floor: 18 + top * ROW };
}

// How each phrase relates to the other tree's, without punctuation: same, cross, alone; null if it is not scored.
function relations(tree, other, before) {
  const span = (node) => [before[node.start], before[node.end]];
  const theirs = other.nodes.filter((node) => node.children.length).map(span).filter(([i, j]) => j - i > 1);
  const known = new Set(theirs.map(([i, j]) => `${i} ${j}`));
  return new Map(tree.nodes.filter((node) => node.children.length).map((node) => {
    const [i, j] = span(node);
    if (j - i < 2) return [node, null];
    if (known.has(`${i} ${j}`)) return [node, "same"];
    const crosses = theirs.some(([k, l]) => (i < k && k < j && j < l) || (k < i && i < l && l < j));
    return [node, crosses ? "cross" : "alone"];
  }));
}

const SIGNS = { same: "✓", cross: "✗", alone: "", known: "✓" };
const RELATIONS = { same: "also in the other tree", cross: "crosses a bracket of the other tree", alone: "not in the other tree, crosses nothing", known: "known to be a phrase" };

// How many of the `others` share a bracket: its branches are strong, broken or dotted, and pale if only this tree has it.
const sharing = (node, others) => node.shared === null || !others ? null : node.shared === others ? "all" : node.shared ? "some" : "none";
const sharedBy = (node, others) => `shared by ${node.shared} of ${others} ${others === 1 ? "chain" : "chains"}`;

// `relation` is the result of `relations`, or null without another tree; `others` the number of chains that brackets are compared with.
// `below(leaves, width, height)` may draw something under the words: {parts, width, height}.
function drawTree(tree, relation, label, others = 0, below = () => ({ parts: [], width: 0, height: 0 })) {
  const { width, height, floor } = layout(tree);
  const under = below(tree.nodes.filter((node) => !node.children.length), width, height);
  const branches = tree.nodes.flatMap((node) => node.children.map((child) =>
    svg("path", { class: sharing(node, others) ? `branch shared-${sharing(node, others)}` : "branch", d: `M${node.x},${node.y + BOX / 2 + 12}L${child.x},${child.y - BOX / 2}` })));
  const nodes = tree.nodes.map((node) => node.children.length
    ? phrase(node, relation ? relation.get(node) : null, others) : leaf(node, floor));
  return drawing(width + under.width, height + under.height, label, branches, nodes, under.parts);
}

function phrase(node, kind, others) {
  const share = node.posterior / 100;
  const sign = kind ? SIGNS[kind] : "";
  const width = node.width + (sign ? 14 : 0);
  const title = [`${node.label}: posterior probability ${node.posterior}%`, kind ? RELATIONS[kind] : null, sharing(node, others) ? sharedBy(node, others) : null].filter(Boolean).join("; ");
  const box = { x: node.x - width / 2, y: node.y - BOX / 2, width, height: BOX + 13, rx: 4 };
  return svg("g", { class: "category", "data-category": node.label }, svg("title", {}, title),
    svg("rect", { class: "box", ...box }),
    svg("rect", { class: "shade", ...box, "fill-opacity": (0.32 * share).toFixed(3) }),
    svg("rect", { class: `box ${kind || ""}`, ...box, "fill-opacity": 0 }),
    svg("text", { class: "middle strong", x: node.x - (sign ? 7 : 0), y: node.y + 4 }, node.label),
    sign ? svg("text", { class: kind === "cross" ? "middle crossed" : "middle", x: node.x + width / 2 - 10, y: node.y + 4 }, sign) : null,
    svg("text", { class: "middle soft tiny", x: node.x, y: node.y + BOX / 2 + 8 }, `${node.posterior}%`));
}

const leaf = (node, floor) => [
  svg("text", { class: "category middle soft", "data-category": node.label, x: node.x, y: node.y + 4 }, node.label),
  svg("path", { class: "branch", d: `M${node.x},${floor + 10}v8` }),
  svg("text", { class: `middle word${node.kind === "unknown" ? " unknown" : ""}`, x: node.x, y: floor + 34 }, node.word),
];

// The tree as nested lists, to be read aloud or opened; `show(label)` makes what stands for a category.
function asList(tree, show = (label) => label) {
  const list = el("details", { class: "as-list", ontoggle: () => {
    if (list.querySelector("ul")) return;
    const lists = new Map();
    for (const node of tree.nodes) {
      const item = el("li", {}, show(node.label), " ", node.children.length ? el("span", { class: "small" }, `${node.posterior}%`) : node.word);
      (node.parent ? lists.get(node.parent) : list).append(node.parent ? item : el("ul", {}, item));
      if (node.children.length) lists.set(node, item.appendChild(el("ul")));
    }
  } }, el("summary", {}, "The tree as a list"));
  return list;
}
