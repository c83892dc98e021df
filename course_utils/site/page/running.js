// Code in a page can be read and not run. A button under each cell says so, and where the cell can be changed and run.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const links = document.querySelector(".course-open"); // at the top of each page that has a notebook
  if (!links) return;
  document.querySelectorAll(".cell > .cell_input").forEach((cell) => {
    const button = element("button", "Change and run", { type: "button", class: "course-run" });
    button.addEventListener("click", () => {
      const says = ["A page cannot run Python. To change this cell and run it: ", ...links.cloneNode(true).childNodes];
      const note = element("p", says, { class: "course-run", tabindex: "-1" });
      button.replaceWith(note);
      note.focus(); // so that it is read aloud, and the next Tab leads to its links
    });
    cell.after(button);
  });
});
