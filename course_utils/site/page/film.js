// A film waits for its reader: its first frame asks, and a button plays it, so that nobody sees the answer too early. Paper gets the last frame.
//
// Here: the button. Not here: the film itself, an SVG that plays once wherever it is shown (`figures/film.py`).
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;

  document.querySelectorAll('main .cell_output img[src^="data:image/svg+xml;base64,"]').forEach((picture) => {
    const bytes = Uint8Array.from(atob(picture.src.split(",")[1]), (letter) => letter.charCodeAt(0));
    const svg = new TextDecoder().decode(bytes);
    if (!svg.includes("@keyframes")) return;
    const moving = svg.replace("(prefers-reduced-motion: reduce), print", "print"); // for those who want no motion, we choose the frame
    const address = (style) => `data:image/svg+xml,${encodeURIComponent(moving.replace("</style>", `${style}</style>`))}`;
    const last = address(".m { animation: none !important }");

    const film = Object.assign(document.createElement("div"), { className: "course-film" });
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: isStill ? "Show the picture" : "Play" });
    const onPaper = Object.assign(picture.cloneNode(), { className: "course-on-paper", src: last });
    let plays = 0;
    button.addEventListener("click", () => {
      picture.src = isStill ? last : address(`/* ${++plays} */`); // another address, so that it begins again
      film.classList.add("course-played");
      button.textContent = "Play again";
      button.hidden = isStill;
    });
    picture.src = address(".m { animation-play-state: paused !important }");
    picture.replaceWith(film);
    film.append(picture, onPaper, button);
  });
});
