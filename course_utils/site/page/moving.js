// Sliders and choices that work in a page without a kernel: the pictures for their positions were drawn when the page was made.
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
        const loaded = document.createElement("script");
        loaded.src = script;
        loaded.onload = () => resolve(window.COURSE_MOVING[name]);
        loaded.onerror = () => reject(new Error(script));
        document.head.append(loaded);
      });
      return loading;
    }

    const made = controls.map(([label, positions, first, choice]) => {
      const control = choice ? buttons(label, positions, first) : slider(label, positions, first);
      control.row.addEventListener("input", async () => {
        control.changed?.();
        try {
          show(await frames());
        } catch {
          sentence.textContent = "The pictures of this slider could not be loaded. Open the notebook to move it.";
        }
      });
      return { ...control, positions };
    });

    function slider(label, positions, first) {
      const input = Object.assign(document.createElement("input"), { type: "range", min: 0, max: positions.length - 1, value: first });
      const shown = Object.assign(document.createElement("span"), { textContent: positions[first] });
      const place = () => Number(input.value);
      const changed = () => {
        shown.textContent = positions[place()];
        input.setAttribute("aria-valuetext", positions[place()]);
      };
      changed();
      const row = document.createElement("label");
      row.append(`${label} `, input, " ", shown);
      return { row, place, changed };
    }

    function buttons(label, positions, first) {
      const row = document.createElement("fieldset");
      row.append(Object.assign(document.createElement("legend"), { textContent: label }));
      const inputs = positions.map((text, i) => {
        const input = Object.assign(document.createElement("input"), { type: "radio", name: `${name}-${label}`, checked: i === first });
        const one = document.createElement("label");
        one.append(input, text);
        row.append(one);
        return input;
      });
      return { row, place: () => inputs.findIndex((input) => input.checked) };
    }

    function show(all) {
      const [picture, words] = all[made.reduce((at, { place, positions }) => at * positions.length + place(), 0)];
      image.src = picture;
      image.alt = words;
      sentence.textContent = words;
    }

    root.prepend(...made.map(({ row }) => row));
  });
});
