// Overview of the run.

function showOverview({ run, chains, scores }) {
  byId("title").textContent = run.name;
  document.title = `${run.name} – what was learned`;
  const bound = run.depth === null ? "without a memory bound" : `within memory depth ${run.depth}`;
  byId("lead").textContent = `A grammar of ${plural(run.categories, "category", "categories")} ${bound}, learned from ${plural(run.sentences, "sentence")} of words alone.`;
  const selected = scores && scores.systems.find((one) => one.selected);
  const facts = [
    ["sentences", whole(run.sentences)], ["tokens", whole(run.tokens)], ["different forms", whole(run.forms)],
    [run.survivors < run.chains ? `chains, ${run.survivors} to the end` : "chains", `${run.chains}`], ["selected", `chain ${run.selected}`],
    chains.sampled ? ["R-hat over chains", chains.rhat === null ? "–" : fixed(chains.rhat, 2)] : null,
    run.agreement === null ? null : ["brackets that two chains share", `${percent(run.agreement)}%`],
    selected ? ["F1 of the selected chain", percent(selected.f1)] : null,
  ].filter(Boolean);
  const copy = el("button", { class: "quiet", type: "button", onclick: () => copyText(run.command, copy) }, "Copy");
  byId("glance").append(
    el("dl", { class: "facts" }, facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
    el("div", { class: "columns" },
      el("div", {}, el("h3", {}, "The text"), pairs([
        ["from", run.sources.length ? run.sources.map((source, n) => [n ? ", " : null, source]) : "a program"],
        ["digest", el("code", {}, run.digest)]]),
      el("h3", {}, "Time and versions"), pairs([
        ...(run.seconds === null ? [] : [["begun", run.begun], ["finished", run.ended],
          ["took", `${duration(run.seconds)} wall-clock time, pauses included`]]),
        ["learned with", Object.entries(run.versions).map(([name, version]) => `${name} ${version}`).join(", ")],
        ["reported with", `dbpcfg ${run.reported_by}`]])),
      el("div", {}, el("h3", {}, "Settings"), pairs([...run.settings.map(([name, value]) => [name, value]),
        ["trees", { mbr: `MBR (minimum Bayes risk) ${chains.sampled ? "over the retained samples" : "under the grammar"}`, best: "the sample of greatest likelihood", last: "the last sample", consensus: "consensus of all chains" }[run.trees]],
        [`${chains.iteration[1]} done`, `${whole(run.iterations)} over all chains`]]))),
    el("h3", {}, "The command that repeats this run"),
    el("div", { class: "command" }, el("code", {}, run.command), copy),
    run.remark ? el("p", { class: "small" }, run.remark) : "");
  byId("colophon").textContent = `Made by dbpcfg ${run.reported_by} from the run “${run.name}”. This file is complete: it loads nothing.`;
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
