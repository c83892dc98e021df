// Sliders that move in a page without a kernel: the pictures for their positions were drawn when the page was made.
//
// Here: controls above a picture and its sentence. They are read from a script beside the page, once one of them is touched.
"use strict";

window.COURSE_MOVING = {};

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll(".course-moving").forEach((root) => {
    const { controls, script, name } = JSON.parse(root.querySelector("script").textContent);
    const image = root.querySelector("img");
    const sentence = root.querySelector("[role=status]");
    let loading = null;

    // A script, since a page that is opened from a disk may load nothing else.
    function frames() {
      loading ??= new Promise((resolve, reject) => {
        const made = document.createElement("script");
        made.src = script;
        made.onload = () => resolve(window.COURSE_MOVING[name]);
        made.onerror = () => reject(new Error(script));
        document.head.append(made);
      });
      return loading;
    }

    const sliders = controls.map(([label, positions, first]) => {
      const slider = Object.assign(document.createElement("input"), { type: "range", min: 0, max: positions.length - 1, value: first });
      const shown = Object.assign(document.createElement("span"), { textContent: positions[first] });
      slider.setAttribute("aria-valuetext", positions[first]);
      slider.addEventListener("input", async () => {
        shown.textContent = positions[slider.value];
        slider.setAttribute("aria-valuetext", positions[slider.value]);
        try {
          show(await frames());
        } catch {
          sentence.textContent = "The pictures of this slider could not be loaded. Open the notebook to move it.";
        }
      });
      const row = document.createElement("label");
      row.append(`${label} `, slider, " ", shown);
      return { slider, row, positions };
    });

    function show(all) {
      const place = sliders.reduce((at, { slider, positions }) => at * positions.length + Number(slider.value), 0);
      const [picture, words] = all[place];
      image.src = `data:image/webp;base64,${picture}`;
      image.alt = words;
      sentence.textContent = words;
    }

    root.prepend(...sliders.map(({ row }) => row));
  });
});
