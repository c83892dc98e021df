// Fits the course's notebooks into JupyterLab. In the dark theme, light and dark of a picture change places, unless its colours are
// what it shows. A long line of output breaks between words. Assistive technology hears what ipywidgets leaves unsaid: a slider's handle
// gets the name that stands beside it and the number that is shown, and where a sentence with role="status" stands, its place stays when
// the sentence changes, so that it is read out.
// A link to a section of a page finds its heading by GitHub's name for it, "on-a-gpu", where JupyterLab looks for "On-a-GPU".
//
// `course lab` gives this to JupyterLab. It is written by hand as what JupyterLab loads, and needs no building: an object with
// `init` and `get` under the extension's name. Elsewhere, as in Colab, pictures and widgets are as their libraries make them.
"use strict";

const IN_THE_DARK = `
  body[data-jp-theme-light="false"] .jp-OutputArea-output img:not(.jp-needs-light-background) { filter: invert(.93) hue-rotate(180deg) }
`;
const WHOLE_WORDS = ".jp-OutputArea-output pre { word-break: normal; overflow-wrap: anywhere }"; // JupyterLab breaks a line anywhere
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

let section = ""; // of the link that was clicked last, until its heading is in view

const nameOnGitHub = (heading) => heading.textContent.toLowerCase().replace(/[^\p{L}\p{N}_\- ]/gu, "").replaceAll(" ", "-");

function follow({ target }) {
  section = target.closest(".jp-RenderedMarkdown a")?.hash.slice(1) ?? section;
  goToSection();
}

function goToSection() {
  const headings = section ? document.querySelectorAll(".jp-MarkdownViewer :is(h1, h2, h3, h4)") : [];
  const found = [...headings].find((heading) => heading.offsetParent && nameOnGitHub(heading) === section);
  if (found) {
    section = "";
    found.scrollIntoView();
  }
}

const plugin = {
  id: "attention-course:lab",
  autoStart: true,
  activate: () => {
    document.head.append(Object.assign(document.createElement("style"), { textContent: IN_THE_DARK + WHOLE_WORDS }));
    // An observer is called before anything of the change is painted or read out.
    const changed = () => {
      nameAll();
      goToSection();
    };
    document.addEventListener("click", follow);
    new MutationObserver(changed).observe(document.body, { childList: true, subtree: true, characterData: true });
  },
};

globalThis._JUPYTERLAB ??= {};
globalThis._JUPYTERLAB["attention-course"] = { init: () => {}, get: async () => () => ({ __esModule: true, default: plugin }) };
