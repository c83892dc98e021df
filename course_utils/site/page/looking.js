// The first page's translation: each word of it shows what the model looked at. Each has its turn, until a reader comes near.
//
// Here: what moves. Not here: the words and their weights, which are in the page (`contents.py`), and the translator (`translator.js`).
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const figure = document.querySelector(".course-looking");
  if (!figure) return;
  const weights = JSON.parse(figure.querySelector("script").textContent);
  const sources = [...figure.querySelectorAll("span")];
  const targets = [...figure.querySelectorAll("button[aria-pressed]")];
  const [lines, caption] = [figure.querySelector("svg"), figure.querySelector("figcaption")];
  let chosen = targets.findIndex((target) => target.ariaPressed === "true");

  function show(place) {
    chosen = place;
    targets.forEach((target, at) => target.setAttribute("aria-pressed", String(at === place)));
    sources.forEach((source, at) => source.style.setProperty("--weight", weights[place][at]));
    drawLines();
  }

  // A line from the chosen word to each word of the sentence, as strong as its weight.
  function drawLines() {
    const ground = figure.getBoundingClientRect();
    const from = targets[chosen].getBoundingClientRect();
    lines.replaceChildren(
      ...sources.map((source, at) => {
        const to = source.getBoundingClientRect();
        const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
        const ends = {
          x1: from.left + from.width / 2 - ground.left, y1: from.top - ground.top,
          x2: to.left + to.width / 2 - ground.left, y2: to.bottom - ground.top,
        };
        for (const [name, value] of Object.entries(ends)) line.setAttribute(name, value);
        line.style.setProperty("--weight", weights[chosen][at]);
        return line;
      }),
    );
  }

  function tell() {
    const most = weights[chosen].indexOf(Math.max(...weights[chosen]));
    const [written, read] = [targets[chosen].textContent, sources[most].textContent];
    const share = weights[chosen][most].toFixed(2);
    caption.textContent = `To write “${written}”, the translator gives “${read}” a weight of ${share}. Choose another French word.`;
  }

  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const turns = isStill ? [] : [...targets.keys()].filter((place) => /\p{L}/u.test(targets[place].textContent)).slice(1); // but an article
  const moving = setInterval(() => {
    if (!turns.length) return clearInterval(moving);
    show(turns.shift());
    tell();
  }, 1500);
  for (const kind of ["focusin", "pointerenter"]) figure.addEventListener(kind, () => clearInterval(moving));
  targets.forEach((target, place) => {
    for (const kind of ["click", "focus", "pointerenter"]) {
      target.addEventListener(kind, () => {
        caption.setAttribute("role", "status"); // read aloud from now on
        show(place);
        tell();
      });
    }
  });
  new ResizeObserver(drawLines).observe(figure);
  tell();
});
