// What the page begins with: the verdict, some trees, the main figures; and what it ends with: settings and versions.

function showOverview({ run, chains, scores }, sentences) {
  byId("title").textContent = run.name;
  document.title = `${run.name} – what was learned`;
  const bound = run.depth === null ? "without a memory bound" : `within memory depth ${run.depth}`;
  byId("lead").textContent = `A grammar of ${plural(run.categories, "category", "categories")} ${bound}, learned from ${plural(run.sentences, "sentence")} of words alone.`;
  const verdict = ["learned", "trust", "next"].map((name) => el("p", {}, el("strong", {}, `${name[0].toUpperCase()}${name.slice(1)}`), ": ", run.verdict[name]));
  const drawn = run.shown.map((s) => {
    const tree = sentences.induced(s);
    return figure(`Sentence ${whole(s + 1)}`, `first-${s + 1}`, () => drawTree(tree, null, `Tree of sentence ${s + 1}`, sentences.others), null, true);
  });
  const answer = scores && (scores.systems.find((one) => one.kind === "consensus") || scores.systems.find((one) => one.selected));
  const facts = [
    ["sentences", whole(run.sentences)], ["tokens", whole(run.tokens)], ["different forms", whole(run.forms)],
    [run.survivors < run.chains ? `chains, ${run.survivors} to the end` : "chains", `${run.chains}`],
    ["the answer", run.voting ? "consensus" : `chain ${run.selected}`],
    chains.sampled ? ["R-hat over chains", chains.rhat === null ? "–" : fixed(chains.rhat, 2)] : null,
    run.agreement === null ? null : ["brackets that two chains share", `${percent(run.agreement)}%`],
    answer ? ["F1 of the answer", percent(answer.f1)] : null,
  ].filter(Boolean);
  byId("glance").append(
    el("div", { class: run.verdict.level === "poor" ? "verdict wary" : "verdict", id: "verdict" }, verdict),
    drawn.length ? el("p", {}, `The first sentences of ${run.shown.map((s) => sentences.lengths[s]).filter((n, at, all) => all.indexOf(n) === at).join(", ").replace(/, ([^,]*)$/, " and $1")} words. `,
      el("a", { href: "#trees" }, "All trees"), " are below.") : "",
    el("div", { class: "first" }, drawn),
    sentences.shared && drawn.length ? sharedKey(sentences.induced(run.shown[0]), sentences.others)[0] : "",
    el("dl", { class: "facts" }, facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))));
  byId("colophon").textContent = `Made by dbpcfg ${run.reported_by} from the run “${run.name}”. This file is complete: it loads nothing.`;
}

function showSettings({ run, chains }) {
  const copy = el("button", { class: "quiet", type: "button", onclick: () => copyText(run.command, copy) }, "Copy");
  byId("settings").append(
    el("div", { class: "columns" },
      el("div", {}, el("h3", {}, "Settings"), pairs([...run.settings.map(([name, value]) => [name, value]),
        ["trees", { mbr: `MBR (minimum Bayes risk) ${chains.sampled ? "over the retained samples" : "under the grammar"}`, best: "the sample of greatest likelihood", last: "the last sample", consensus: "consensus of all chains" }[run.trees]],
        [`${chains.iteration[1]} done`, `${whole(run.iterations)} over all chains`]])),
      el("div", {}, el("h3", {}, "The text"), pairs([
        ["from", run.sources.length ? run.sources.map((source, n) => [n ? ", " : null, source]) : "a program"],
        ["digest", el("code", {}, run.digest)]]),
      el("h3", {}, "Time and versions"), pairs([
        ...(run.seconds === null ? [] : [["begun", run.begun], ["finished", run.ended],
          ["took", `${duration(run.seconds)} wall-clock time, pauses included`]]),
        ["learned with", Object.entries(run.versions).map(([name, version]) => `${name} ${version}`).join(", ")],
        ["reported with", `dbpcfg ${run.reported_by}`]]))),
    el("h3", {}, "The command that repeats this run"),
    el("div", { class: "command" }, el("code", {}, run.command), copy),
    run.remark ? el("p", { class: "small" }, run.remark) : "");
}

function duration(seconds) {
  if (seconds < 90) return `${fixed(seconds, seconds < 10 ? 1 : 0)} seconds`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} minutes`;
  return `${fixed(seconds / 3600, 1)} hours`;
}

function copyText(text, button) {
  const done = () => { button.textContent = "Copied"; announce("Copied"); };
  const by_hand = () => {
    getSelection().selectAllChildren(button.previousElementSibling);
    button.textContent = "Selected: press Ctrl-C";
  };
  if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, by_hand);
  else by_hand();
}
