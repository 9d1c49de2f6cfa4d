// The page, section by section.

const data = JSON.parse(byId("data").textContent);
showOverview(data);
showChains(data);
showScores(data);
showGrammar(data);
const memory = new Memory(data);
new Browser(new Sentences(data.sentences), (number, tree) => memory.take(number, tree));

// The section in sight is marked in the navigation.
const links = new Map([...document.querySelectorAll("nav.sections a")].map((link) => [link.hash.slice(1), link]));
const inSight = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    links.forEach((link, id) => id === entry.target.id ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current"));
  }
}, { rootMargin: "-20% 0px -70% 0px" });
document.querySelectorAll("main > section").forEach((section) => inSight.observe(section));
document.documentElement.setAttribute("data-ready", "");
