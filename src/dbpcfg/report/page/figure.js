// A figure: a heading, a drawing, a caption, and a button that saves the drawing as SVG.

const INLINED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "fill-opacity",
  "opacity", "font-family", "font-size", "font-weight", "text-anchor"];

// `draw()` returns the drawing; `redraw()` of the result replaces it by a new one.
function figure(title, name, draw, caption, wide = false) {
  const canvas = el("div", { class: wide ? "canvas wide" : "canvas", tabindex: wide ? 0 : null,
    role: wide ? "region" : null, "aria-label": wide ? title : null });
  const save = el("button", { class: "quiet", type: "button", "aria-label": `Save the figure “${title}” as SVG`,
    onclick: () => saveSvg(canvas.querySelector("svg"), name) }, "SVG ↓");
  const node = el("figure", { id: `figure-${name}` },
    el("div", { class: "figure-head" }, el("h3", {}, title), save), canvas,
    caption ? el("figcaption", {}, caption) : null);
  node.redraw = () => {
    const drawn = draw();
    // A wide drawing shrinks to fit as long as it is readable; then it scrolls.
    if (wide) drawn.style.minWidth = `${(innerWidth < 580 ? 0.9 : 0.7) * Number(drawn.getAttribute("width"))}px`;
    canvas.replaceChildren(drawn);
  };
  node.redraw();
  return node;
}

const drawing = (width, height, label, ...children) => svg("svg", {
  viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label, xmlns: SVG,
}, ...children);

// A saved drawing has no style sheet: each element gets its own style, in light colours.
function standalone(drawn) {
  const copy = drawn.cloneNode(true);
  const root = document.documentElement;
  root.setAttribute("data-theme", "light");
  const originals = [drawn, ...drawn.querySelectorAll("*")], copies = [copy, ...copy.querySelectorAll("*")];
  originals.forEach((original, n) => {
    const style = getComputedStyle(original);
    for (const property of INLINED) copies[n].setAttribute(property, style.getPropertyValue(property));
    copies[n].removeAttribute("class");
  });
  root.removeAttribute("data-theme");
  return new XMLSerializer().serializeToString(copy);
}

function saveSvg(drawn, name) {
  const url = URL.createObjectURL(new Blob([standalone(drawn)], { type: "image/svg+xml" }));
  const link = el("a", { href: url, download: `${name}.svg` });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
  announce(`Saved ${name}.svg`);
}
