// Fits the course's notebooks into JupyterLab. In the dark theme, light and dark of a picture change places, unless its colours are
// what it shows. Assistive technology hears what ipywidgets leaves unsaid: a slider's handle gets the name that stands beside it and the
// number that is shown, and where a sentence with role="status" stands, its place stays when the sentence changes, so that it is read out.
//
// `course lab` gives this to JupyterLab. It is written by hand as what JupyterLab loads, and needs no building: an object with
// `init` and `get` under the extension's name. Elsewhere, as in Colab, pictures and widgets are as their libraries make them.
"use strict";

const IN_THE_DARK = `
  body[data-jp-theme-light="false"] .jp-OutputArea-output img { filter: invert(.93) hue-rotate(180deg) }
  body[data-jp-theme-light="false"] .jp-OutputArea-output img.jp-needs-light-background { filter: brightness(.85) }
`;
const SLIDER = ".widget-slider .noUi-handle, .widget-hslider .noUi-handle";
const SENTENCE = ".widget-html-content > [role=status]";

function setOnce(node, attribute, value) {
  if (value && node.getAttribute(attribute) !== value) {
    node.setAttribute(attribute, value);
  }
}

function nameAll() {
  for (const handle of document.querySelectorAll(SLIDER)) {
    const widget = handle.closest(".jupyter-widgets");
    setOnce(handle, "aria-label", widget.querySelector(".widget-label")?.textContent.trim());
    setOnce(handle, "aria-valuetext", widget.querySelector(".widget-readout")?.textContent.trim());
  }
  for (const sentence of document.querySelectorAll(SENTENCE)) {
    setOnce(sentence.parentElement, "role", "status");
    sentence.removeAttribute("role");
  }
}

const plugin = {
  id: "attention-course:lab",
  autoStart: true,
  activate: () => {
    document.head.append(Object.assign(document.createElement("style"), { textContent: IN_THE_DARK }));
    // An observer is called before anything of the change is painted or read out.
    new MutationObserver(nameAll).observe(document.body, { childList: true, subtree: true, characterData: true });
  },
};

globalThis._JUPYTERLAB ??= {};
globalThis._JUPYTERLAB["attention-course"] = { init: () => {}, get: async () => () => ({ __esModule: true, default: plugin }) };
