// What is wider than the screen shows that it goes on, and what is folded is open in print.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const WIDE = "pre, .cell_output, .cell_output > .output, .course-formula, .course-heads, .pst-scrollable-table-container, p:has(> math, > .course-kept)";

  function mark(event) {
    const one = event.target ?? event;
    one.classList.toggle("course-goes-on", one.scrollLeft + one.clientWidth < one.scrollWidth - 2);
  }

  const sizes = new ResizeObserver((entries) => entries.forEach(mark));
  document.querySelectorAll(`main :is(${WIDE})`).forEach((one) => {
    sizes.observe(one);
    one.addEventListener("scroll", mark, { passive: true });
  });

  // On a phone, a tap shows a wide picture at the size at which it was drawn, or makes it fit again.
  document.querySelectorAll("main .cell_output img").forEach((picture) => {
    const measure = () => picture.classList.toggle("course-wide", picture.naturalWidth > 480);
    picture.complete ? measure() : picture.addEventListener("load", measure);
    picture.addEventListener("click", () => picture.classList.toggle("course-large"));
  });

  // The theme leaves these without words: beside a lesson, they unfold its exercises.
  document.querySelectorAll("nav summary").forEach((one) => one.setAttribute("aria-label", "Exercises"));

  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("main details:not([open])")];
    opened.forEach((details) => (details.open = true));
  });
  window.addEventListener("afterprint", () => opened.forEach((details) => (details.open = false)));
});
