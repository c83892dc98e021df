// The translator in the page: a sentence in, its translation word by word, and what the model looked at for each word.
//
// Here: what is shown and what a click does. Not here: the forward passes (`transformer.js`, `recurrent.js`), text to ids (`subwords.js`).
"use strict";

(function () {
  const LONGEST = 100; // subwords: captions of photos have 14 on average
  const { EOS, softmax } = Attention;
  const KINDS = {
    source: "the decoder to the sentence",
    decoder: "the decoder to its own words",
    encoder: "the encoder to the sentence",
  };
  const root = document.querySelector("#translator");
  const status = root.querySelector("[role=status]");
  let model, subwords; // of the Transformer, loaded when the page is
  const beside = {}; // { model, subwords } of each translator into French by its part of the page, loaded later
  let sentence = "", ids = [], steps = [], chosen = 0; // the source, what the model did for each target position, the one that is shown
  let forced = []; // ids that the reader put in place of the model's
  const look = { kind: "source", layer: 1, head: 0 };

  const part = (name) => root.querySelector(`[data-part=${name}]`);
  const number = (value, digits = 2) => value.toFixed(digits).replace("-", "−");
  const shown = (id) => subwords.word(id);
  const targets = () => steps.map((step) => step.id);

  // Translating

  function problemOf(text) {
    const count = subwords.encode(text).length;
    if (!count) return "Type an English sentence, such as: Two dogs play in the snow.";
    if (count > LONGEST) {
      return `That is ${count} subwords. The models have learned from captions of photos, and this page gives them at most ${LONGEST}: shorten the text.`;
    }
    return "";
  }

  // Words in four pieces or more are as good as unknown: emoji and other scripts, too, as each byte of them is a piece.
  function warningOf(text) {
    const unknown = text.split(/[\s\p{P}]+/u).filter((word) => subwords.encode(word).length >= 4);
    if (!unknown.length) return "";
    const named = [...unknown.slice(0, 5), ...(unknown.length > 5 ? ["…"] : [])].join(", ");
    return `The model knows English captions of photos, and has hardly ever read: ${named}. It may translate that badly.`;
  }

  function read() {
    const text = part("text").value;
    const problem = problemOf(text);
    if (problem) {
      status.textContent = problem;
      return;
    }
    [sentence, ids, forced, chosen] = [text, [...subwords.encode(text), EOS], [], 0];
    translate();
    Object.keys(beside).forEach(showBeside);
  }

  function translate() {
    const began = performance.now();
    steps = [...model.translate(ids, forced)];
    const each = (performance.now() - began) / steps.length;
    chosen = Math.min(chosen, steps.length - 1);
    const words = `${steps.length} steps of the decoder, ${each.toFixed(0)} ms each.`;
    const off = model.off.size ? ` Switched off: ${[...model.off].sort().join(", ")}.` : "";
    status.textContent = [warningOf(sentence), words + off].filter(Boolean).join(" ");
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
    const caption =
      `Layer ${look.layer + 1}, head ${look.head + 1}, ${KINDS[look.kind]}. ` +
      (look.kind === "encoder" ? "Each row is a subword that looks" : "Each row is the step that writes this subword") +
      ", each column a subword that it can look at; weights in hundredths." +
      (model.off.has(name) ? " This head is switched off: it looks, and adds nothing." : "");
    const rows = words.map((word, row) => [word, seen[row][look.head].weights]);
    showWeights(part("heads"), caption, columns, rows, look.kind === "encoder" ? -1 : chosen);
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

  function showBeside(name) {
    const { model, subwords } = beside[name];
    const source = [...subwords.encode(sentence), EOS];
    const found = [...model.translate(source)];
    part(name).textContent = subwords.decode(found.map((step) => step.id));
    if (!found[0].seen) return; // without attention, nothing was looked at
    const caption = "Each row is the step that writes this French subword, each column a subword of the sentence; weights in hundredths.";
    const rows = found.map((step) => [subwords.word(step.id), step.seen]);
    showWeights(part("alignment"), caption, source.map((id) => subwords.word(id)), rows);
  }

  // What a reader can do

  function begin() {
    const { heads, decoder_layers: layers } = model.config;
    const counted = (count) => Array.from({ length: count }, (_, i) => i + 1);
    const looking = (key, values) => (place) => {
      look[key] = values ? values[place] : place;
      showHeads();
      showSteps();
    };
    part("choices").append(
      choice("Which attention?", Object.values(KINDS), 0, looking("kind", Object.keys(KINDS))),
      choice("Which layer?", counted(layers), look.layer, looking("layer")),
      choice("Which head?", counted(heads), look.head, looking("head")),
    );
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
      read();
    });
    read();
  }

  function loaded(name, Model) {
    const { weights, config, subwords } = window.COURSE_MODELS[name];
    return { model: new Model(Attention.load(weights), config), subwords: new Subwords(subwords) };
  }

  function start() {
    try {
      ({ model, subwords } = loaded("transformer-en-de", Attention.Transformer));
    } catch (error) {
      status.textContent = `This browser could not read the model (${error.message}). The text of this page and the lessons need no model.`;
      return;
    }
    part("main").hidden = false;
    begin();
    window.addEventListener("load", startBeside);
    if (document.readyState === "complete") startBeside();
  }

  // Below the rest, and so read after it: their scripts are loaded beside the others.
  function startBeside() {
    for (const [name, model] of [["one-attention", "attention-en-fr"], ["one-vector", "seq2seq-en-fr"]]) {
      try {
        beside[name] = loaded(model, Attention.Recurrent);
        showBeside(name);
      } catch (error) {
        part(name).textContent = `This browser could not read the model (${error.message}).`;
      }
    }
  }

  // This sentence appears before the browser is busy.
  status.textContent = "The model is being read: 1.9 million numbers.";
  document.addEventListener("DOMContentLoaded", () => setTimeout(start, 0));
})();
