// A dotted term shows its definition when the pointer or the keyboard reaches it, or a finger taps it. A click or a second tap leads to
// the glossary.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const shown = element("div", "", { role: "tooltip", id: "course-meaning", hidden: true });
  document.body.append(shown);
  let term = null; // whose definition is shown
  let leaving = 0;

  function show(one) {
    clearTimeout(leaving);
    if (one === term) return;
    hide();
    term = one;
    shown.textContent = one.dataset.meaning;
    shown.hidden = false;
    one.setAttribute("aria-describedby", shown.id);
    const at = one.getClientRects()[0];
    const left = Math.min(at.left, document.documentElement.clientWidth - shown.offsetWidth - 8);
    const isBelow = at.bottom + shown.offsetHeight + 8 < innerHeight;
    shown.style.left = `${Math.max(8, left) + scrollX}px`;
    shown.style.top = `${(isBelow ? at.bottom + 4 : at.top - shown.offsetHeight - 4) + scrollY}px`;
  }

  function hide() {
    term?.removeAttribute("aria-describedby");
    term = null;
    shown.hidden = true;
  }

  // The pointer has time to reach the definition.
  const leave = () => (leaving = setTimeout(hide, 200));

  for (const one of document.querySelectorAll(".course-term")) {
    let isOpen = false; // before this press
    one.addEventListener("pointerdown", () => (isOpen = one === term));
    one.addEventListener("click", (event) => {
      if (matchMedia("(hover: none)").matches && !isOpen) event.preventDefault();
      show(one);
    });
    one.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && show(one));
    one.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && leave());
    one.addEventListener("focus", () => show(one));
    one.addEventListener("blur", leave);
  }
  shown.addEventListener("pointerenter", () => clearTimeout(leaving));
  shown.addEventListener("pointerleave", leave);
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
});
