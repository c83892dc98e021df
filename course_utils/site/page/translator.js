// The translator in the page: a sentence in, its translation word by word, and what the model looked at for each word.
//
// Here: what is shown and what a click does. Not here: the forward pass (`transformer.js`), text to ids (`subwords.js`).
"use strict";

(function () {
  const LONGEST = 60; // words: captions of photos have 12 on average, and the model has read none above 50
  const { BOS, EOS, softmax } = Attention;
  const KINDS = {
    encoder: "the encoder to the sentence",
    decoder: "the decoder to its own words",
    source: "the decoder to the sentence",
  };
  const root = document.querySelector("#translator");
  const status = root.querySelector("[role=status]");
  let model, subwords; // loaded when the page is
  let ids = [], steps = [], chosen = 0; // the source, what the model did for each target position, the one that is shown
  let forced = []; // ids that the reader put in place of the model's
  const look = { kind: "source", layer: 1, head: 0 };

  const part = (name) => root.querySelector(`[data-part=${name}]`);
  const number = (value, digits = 2) => value.toFixed(digits).replace("-", "−");
  const shown = (id) => subwords.token(id).replace(/^▁/, "") || "▁";
  const targets = () => steps.map((step) => step.id);

  // Translating

  function problemOf(text) {
    const words = text.split(/\s+/).filter(Boolean);
    if (!words.length) return "Type an English sentence, such as: Two dogs play in the snow.";
    if (words.length > LONGEST) {
      return `That is ${words.length} words. The model has learned from captions of photos, and reads at most ${LONGEST} words: shorten the text.`;
    }
    return "";
  }

  function warningOf(text) {
    const letters = text.match(/\p{L}/gu) ?? [];
    const latin = text.match(/\p{Script=Latin}/gu) ?? [];
    if (!letters.length || letters.length > latin.length || /\p{Extended_Pictographic}/u.test(text)) {
      return "There are characters here that the model has hardly ever read. It knows English captions of photos, so that its translation will make little sense.";
    }
    return "";
  }

  function translate() {
    const text = part("text").value;
    const problem = problemOf(text);
    if (problem) {
      status.textContent = problem;
      return;
    }
    ids = [...subwords.encode(text), EOS];
    const began = performance.now();
    steps = [...model.translate(ids, forced)];
    const each = (performance.now() - began) / steps.length;
    chosen = Math.min(chosen, steps.length - 1);
    const words = `${steps.length} steps of the decoder, ${each.toFixed(0)} ms each.`;
    const off = model.off.size ? ` Switched off: ${[...model.off].sort().join(", ")}.` : "";
    status.textContent = [warningOf(text), words + off].filter(Boolean).join(" ");
    part("translation").textContent = subwords.decode(targets());
    root.dataset.ready = "true";
    show();
  }

  // Showing: the words, what comes next, where a head looks, and how its weights are computed

  function show() {
    showWords();
    showNext();
    showHeads();
    showSteps();
  }

  function showWords() {
    part("words").replaceChildren(
      ...steps.map((step, t) =>
        element("button", shown(step.id), {
          type: "button",
          class: t < forced.length && step.id !== step.best ? "forced" : "",
          "aria-pressed": String(t === chosen),
          onclick: () => {
            chosen = t;
            show();
            part("words").children[t].focus();
          },
        }),
      ),
    );
  }

  function showNext() {
    const temperature = Number(part("temperature").value);
    part("temperature-shown").textContent = number(temperature, 1);
    const p = softmax(steps[chosen].logits, temperature);
    const best = p.map((_, id) => id).filter((id) => id >= EOS).sort((a, b) => p[b] - p[a]).slice(0, 8);
    const before = ["BOS", ...targets().slice(0, chosen).map(shown)].join(" ");
    part("next-caption").textContent = `After “${before}”: the eight most probable next subwords. Choose another one, and the rest follows from it.`;
    part("next").replaceChildren(
      ...best.map((id) => {
        const bar = element("span", "", { class: "bar", style: `width: ${100 * p[id]}%` });
        const choose = element("button", shown(id), {
          type: "button",
          "aria-pressed": String(id === steps[chosen].id),
          onclick: () => {
            forced = [...targets().slice(0, chosen), id];
            translate();
          },
        });
        return element("tr", [
          element("th", choose, { scope: "row" }),
          element("td", bar, { class: "bars" }),
          element("td", number(p[id], 3)),
        ]);
      }),
    );
  }

  // The rows and columns of an attention's table, and what every head saw in each row.
  function attention(kind, layer) {
    const source = ids.map(shown);
    if (kind === "encoder") return { rows: source, columns: source, seen: steps[0].source[`encoder ${layer}`] };
    const read = ["BOS", ...targets().slice(0, -1).map(shown)]; // one subword before each step
    return { rows: targets().map(shown), columns: kind === "source" ? source : read, seen: steps.map((step) => step.seen[`${kind} ${layer}`]) };
  }

  function showHeads() {
    const { rows: words, columns, seen } = attention(look.kind, look.layer);
    const name = `${look.kind} ${look.layer} head ${look.head}`;
    part("heads-caption").textContent =
      `Layer ${look.layer + 1}, head ${look.head + 1}, ${KINDS[look.kind]}. ` +
      (look.kind === "encoder" ? "Each row is a subword that looks" : "Each row is the step that writes this subword") +
      ", each column a subword that it can look at; weights in hundredths." +
      (model.off.has(name) ? " This head is switched off: it looks, and adds nothing." : "");
    const top = element("tr", [element("td"), ...columns.map((word) => element("th", word, { scope: "col" }))]);
    const rows = words.map((word, row) => {
      const weights = seen[row][look.head].weights;
      const cells = columns.map((_, column) => {
        const weight = weights[column] ?? 0; // a decoder's word sees none after itself
        return element("td", weight >= 0.05 ? String(Math.round(100 * weight)) : "", { style: `--weight: ${weight.toFixed(3)}` });
      });
      const isChosen = look.kind !== "encoder" && row === chosen;
      return element("tr", [element("th", word, { scope: "row" }), ...cells], { class: isChosen ? "chosen" : "" });
    });
    const table = part("heads");
    table.tHead.replaceChildren(top);
    table.tBodies[0].replaceChildren(...rows);
    part("off").checked = model.off.has(name);
  }

  function showSteps() {
    const { rows, columns, seen } = attention(look.kind, look.layer);
    const row = look.kind === "encoder" ? 0 : chosen;
    const { scores, scaled, weights, context } = seen[row][look.head];
    const d = context.length;
    part("steps-caption").textContent =
      `How this head computes the row of “${rows[row]}”: query times key, divided by √${d}, through the softmax.`;
    part("steps").replaceChildren(
      ...columns.map((word, column) => {
        const isHidden = column >= scores.length;
        const numbers = isHidden
          ? ["−", "masked", number(0, 3)]
          : [number(scores[column]), number(scaled[column]), number(weights[column], 3)];
        return element("tr", [element("th", word, { scope: "row" }), ...numbers.map((text) => element("td", text))]);
      }),
    );
    const first = Array.from(context.slice(0, 4), (value) => number(value)).join(", ");
    part("context").textContent =
      `The values times these weights, added up, are the head's context: ${d} numbers that begin with ${first}.`;
  }

  // What a reader can do

  function radios(name, texts, current, onChange) {
    return texts.map(([value, text]) => {
      const radio = element("input", "", { type: "radio", name, value: String(value), checked: value === current });
      radio.addEventListener("change", () => onChange(value));
      return element("label", [radio, ` ${text}`]);
    });
  }

  function choose(key) {
    return (value) => {
      look[key] = value;
      showHeads();
      showSteps();
    };
  }

  function begin() {
    const { heads, decoder_layers: layers } = model.config;
    const counted = (count) => Array.from({ length: count }, (_, i) => [i, String(i + 1)]);
    part("kinds").append(...radios("kind", Object.entries(KINDS), look.kind, choose("kind")));
    part("layers").append(...radios("layer", counted(layers), look.layer, choose("layer")));
    part("which").append(...radios("head", counted(heads), look.head, choose("head")));
    part("off").addEventListener("change", () => {
      const name = `${look.kind} ${look.layer} head ${look.head}`;
      part("off").checked ? model.off.add(name) : model.off.delete(name);
      translate();
    });
    part("all-on").addEventListener("click", () => {
      model.off.clear();
      translate();
    });
    part("temperature").addEventListener("input", showNext);
    part("form").addEventListener("submit", (event) => {
      event.preventDefault();
      [forced, chosen] = [[], 0];
      translate();
    });
    translate();
  }

  function start() {
    try {
      const { weights, config, subwords: saved } = window.COURSE_TRANSLATOR;
      model = new Attention.Transformer(Attention.load(Uint8Array.from(atob(weights), (c) => c.charCodeAt(0)).buffer), config);
      subwords = new Subwords(saved);
    } catch (error) {
      status.textContent = `This browser could not read the model (${error.message}). The text of this page and the lessons need no model.`;
      return;
    }
    part("main").hidden = false;
    begin();
  }

  // This sentence appears before the browser is busy.
  status.textContent = "The model is being read: 1.9 million numbers.";
  window.addEventListener("load", () => setTimeout(start, 0));
})();
