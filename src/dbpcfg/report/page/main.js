// Shows the page, section by section.

const data = JSON.parse(byId("data").textContent);
const sentences = new Sentences(data.sentences);
showOverview(data, sentences);
showGrammar(data);
showScores(data);
showOtherSystems(data);
showChains(data);
const memory = new Memory(data);
new Browser(sentences, (number, tree) => memory.take(number, tree));
showModes(data, sentences);
showSettings(data);

// The visible section is marked in the navigation: the last that begins in the upper third of the window.
const links = new Map([...document.querySelectorAll("nav.sections a")].map((link) => [byId(link.hash.slice(1)), link]));
function markSection() {
  let current = null;
  for (const section of links.keys()) {
    if (!current || section.getBoundingClientRect().top < innerHeight / 3) current = section;
  }
  links.forEach((link, section) => section === current ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current"));
}
addEventListener("scroll", markSection, { passive: true });
markSection();
document.documentElement.setAttribute("data-ready", "");
