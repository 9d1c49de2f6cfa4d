// Memory: the depths that sentences need, and the store of the sentence that is looked at.

class Memory {
  constructor({ memory }) {
    const deepest = Math.max(...memory.series.map((one) => one.shares.length));
    const groups = [...Array(deepest).keys()].map((d) => `depth ${d + 1}`);
    const series = memory.series.map((one) => ({ name: one.name, values: groups.map((_, d) => one.shares[d] || 0) }));
    const draw = () => barChart({ groups, series, width: pageWidth(720), label: "Share of sentences by memory depth",
      xLabel: "most fragments held at once", yLabel: "sentences" });
    const beyond = memory.bound !== null && memory.series[0].shares.length > memory.bound;
    this.depths = figure("How deep sentences go", "depths", draw, `The memory depth of a sentence is the greatest number of derivation fragments that a left-corner parser holds at once. ${memory.bound === null ? "The grammar has no bound." : `The grammar's bound is ${memory.bound}.`}${beyond ? " MBR trees may go beyond it, because they combine many samples." : ""}`);
    this.store = new Store();
    byId("memory").append(this.depths, el("h3", {}, "The store over time"),
      el("p", {}, "The sentence selected above, as a left-corner parser reads it. A fragment a/b is a phrase a that still lacks a b. Drag, or step word by word."),
      this.store.node);
    addEventListener("resize", () => this.depths.redraw());
  }

  take(number, tree) { this.store.take(tree, number + 1); }
}
