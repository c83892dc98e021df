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
  const CLASSES = { "transformer-en-de": "Transformer", "attention-en-fr": "Recurrent", "seq2seq-en-fr": "Recurrent" };
  const loaded = {}; // { model, subwords } by name
  let name = location.hash === "#french" ? "attention-en-fr" : "transformer-en-de"; // of the model that translates
  let model, subwords; // its parts, once it is loaded
  let sentence = "", ids = [], steps = [], chosen = 0; // the source, what the model did for each target position, the one that is shown
  let forced = []; // ids that the reader put in place of the model's
  const look = { kind: "source", layer: 1, head: 0, from: 0 }; // from: the place of the source word that looks, for the encoder
  const { sentences, few, many, named } = window.COURSE_WORDS; // from `translation/out_of_vocabulary.py`, which has the same rule
  const [captionWords, ...targetWords] = ["en", "de", "fr"].map((name) => new Set(window.COURSE_WORDS[name].split(" ")));

  const part = (name) => root.querySelector(`[data-part=${name}]`);
  const number = (value, digits = 2) => value.toFixed(digits).replace("-", "−");
  const shown = (id) => subwords.word(id);
  const targets = () => steps.map((step) => step.id);
  const language = () => name.slice(-2);
  const hasHeads = () => CLASSES[name] === "Transformer";
  const hasAttention = () => Boolean(steps[0].seen);

  // Translating

  function problemOf(text) {
    const count = subwords.encode(text).length;
    if (!count) return "Type an English sentence, such as: Two dogs play in the snow.";
    if (count > LONGEST) {
      return `That is ${count} subwords. The models have learned from captions of photos, and this page gives them at most ${LONGEST}: shorten the text.`;
    }
    return "";
  }

  // Whether captions hold a word: as it is, or in small letters.
  function isRead(word) {
    return word.split("'").every((part) => captionWords.has(part) || captionWords.has(part.toLowerCase()));
  }

  const wordsOf = (text) => text.normalize("NFC").match(/\p{L}+(?:'\p{L}+)*/gu) ?? [];
  const straight = (text) => text.replace(/[‘’]/g, "'").replace(/[“”]/g, '"'); // the models have read no other marks

  // The text as the models read it: with a small first letter if it then has fewer subwords, as few captions begin with “Outside”.
  function asRead(typed) {
    const text = straight(typed), small = text.slice(0, 1).toLowerCase() + text.slice(1);
    const isShorter = subwords.encode(small).length < subwords.encode(text).length;
    return isShorter && !/^.\p{Lu}/u.test(text) ? small : text;
  }

  // The words that captions hold, but not with these capitals.
  function loudIn(words) {
    const isLoud = (word) => word.length > 1 && word !== word.toLowerCase() && word === word.toUpperCase();
    const isCapital = (word) => /^\p{Lu}/u.test(word);
    const isTitle = words.length > 2 && 2 * words.slice(1).filter(isCapital).length > words.length;
    return words.filter(
      (word, place) => isRead(word) && ((isTitle && place && isCapital(word)) || (isLoud(word) && !captionWords.has(word))),
    );
  }

  // The words of a translation that no caption in its language holds, and that were not taken over from the text.
  function madeUp(text, translation) {
    const lettersOf = (text) => text.match(/\p{L}+/gu) ?? [];
    const known = new Set(lettersOf(text.toLowerCase())), learned = targetWords[language() === "fr" ? 1 : 0];
    return lettersOf(translation.normalize("NFC")).filter((word) => !known.has(word.toLowerCase()) && !learned.has(word.toLowerCase()));
  }

  function warningsOf(text, translation) {
    const words = wordsOf(text), loud = loudIn(words);
    const unread = words.filter((word) => !isRead(word));
    const isOther = unread.length > 2 && 3 * unread.length > 2 * words.length;
    const signs = (text.match(/(?!\p{Sk})[\p{P}\p{S}]/gu) ?? []).filter((sign) => !captionWords.has(sign));
    const symbols = signs.filter((sign) => /\p{So}/u.test(sign));
    unread.push(...signs.filter((sign) => !symbols.includes(sign)));
    const isNegated = /(?<![\p{L}\p{N}_])(?:not?|cannot|never|without|nobody|none|nothing|nowhere|neither|nor)(?![\p{L}\p{N}_])|n't(?![\p{L}\p{N}_])/iu.test(text);
    const warnings = isNegated ? [sentences.negation] : [];
    if (/(?=\p{L})\P{Script=Latin}/u.test(text)) {
      warnings.push(sentences.script);
    } else if (unread.length) {
      warnings.push(sentences[isOther ? "language" : "words"].replace("{}", list(unread)));
    }
    if (symbols.length) warnings.push(sentences.symbols.replace("{}", list(symbols)));
    const numbers = text.match(/\p{Nd}+/gu) ?? [];
    const unreadNumbers = numbers.filter((number) => !captionWords.has(number));
    if (unreadNumbers.length) warnings.push(sentences.numbers.replace("{}", list(unreadNumbers)));
    if (loud.length) warnings.push(sentences.capitals.replace("{}", list(loud)));
    if (/(?<!\b[A-Z])(?<!\b[A-Z][a-z])[.?!]["']*\s+[\p{L}\p{N}]/u.test(text)) warnings.push(sentences.several);
    const talk = [];
    if (/(?<![\p{L}\p{N}_])(?:I|me|my|you|your|we)(?![\p{L}\p{N}_])/iu.test(text)) talk.push(sentences.person);
    if (text.includes("?")) talk.push(sentences.question);
    warnings.push(...talk);
    if (!isNegated && !talk.length && !symbols.length && words.length + numbers.length < few) warnings.push(sentences.short);
    if (words.length > many) warnings.push(sentences.long.replace("{}", words.length));
    const unknown = madeUp(text, translation);
    if (unknown.length) warnings.push(sentences["made up"].replace("{}", list(unknown)));
    return warnings;
  }

  // The text in small letters if its capitals are warned of, and as it is if not; its first letter stays.
  function inSmallLetters(text) {
    if (!loudIn(wordsOf(text)).length) return text;
    const hasOnlyCapitals = (word) => captionWords.has(word) && !captionWords.has(word.toLowerCase());
    const small = text.replace(/\p{L}+(?:'\p{L}+)*/gu, (word) => (hasOnlyCapitals(word) ? word : word.toLowerCase()));
    return text.slice(0, 1) + small.slice(1);
  }

  // Words to name in a sentence: each once, and those beyond `named` are counted.
  function list(words) {
    const different = [...new Set(words)];
    return different.slice(0, named).join(", ") + (different.length > named ? ` and ${different.length - named} more` : "");
  }

  // What is said under the field: a sentence, after warnings of which each is a paragraph, and what helps against them.
  function say(sentence, warnings = [], help = []) {
    const paragraphs = warnings.map((text) => element("p", text, { class: "warning" }));
    status.replaceChildren(...paragraphs, ...help, element("p", sentence));
  }

  // A button for a text with capitals that the model has hardly ever read.
  function smaller(text) {
    const small = inSmallLetters(text);
    if (small === text) return [];
    return [element("button", "Translate it in small letters", { type: "button", onclick: () => put(small) })];
  }

  function put(text) {
    part("text").value = text;
    read();
  }

  function read() {
    fit();
    if (!model) return;
    const text = asRead(part("text").value);
    const problem = problemOf(text);
    if (problem) {
      hide(problem);
      return;
    }
    [sentence, ids, forced, chosen, look.from] = [text, [...subwords.encode(text), EOS], [], 0, 0];
    translate();
  }

  function translate() {
    const began = performance.now();
    steps = [...model.translate(ids, forced)];
    const each = (performance.now() - began) / steps.length;
    chosen = Math.min(chosen, steps.length - 1);
    const off = model.off.size ? ` Switched off: ${[...model.off].sort().map(calledIn).join("; ")}.` : "";
    const translation = subwords.decode(targets());
    const warnings = warningsOf(sentence, translation);
    for (const one of ["translation", "words", "continued"]) part(one).lang = language();
    for (const one of ["translation", "continued"]) part(one).textContent = translation;
    part("translation").classList.toggle("doubtful", warnings.length > 0);
    const hint = hasAttention() ? "see where the model looked" : "see what else could have come";
    say(`${steps.length} steps of ${each.toFixed(0)} ms.${off} Choose a word to ${hint}.`, warnings, smaller(sentence));
    for (const about of root.querySelectorAll("[data-about]")) about.hidden = about.dataset.about !== name;
    part("with-heads").hidden = part("with-steps").hidden = !hasHeads();
    part("with-attention").hidden = !hasAttention();
    part("main").hidden = false;
    root.dataset.ready = "true";
    show();
  }

  // What stands below belongs to another text than the field's: it goes until that is translated, too.
  function change() {
    fit();
    if (!model) return;
    const text = asRead(part("text").value);
    if (text === sentence) translate();
    else hide(problemOf(text) || "Press Enter or “Translate”.");
  }

  function hide(why) {
    part("main").hidden = true;
    part("translation").textContent = "";
    say(why);
  }

  // The field is as high as its text.
  function fit() {
    const field = part("text");
    field.style.height = "auto";
    field.style.height = `${field.scrollHeight + field.offsetHeight - field.clientHeight}px`;
  }

  // Showing: the words with a head's weights on them, what comes next, where the head looks, and how its weights are computed

  function show() {
    showLook();
    showNext();
  }

  function showLook() {
    showWords();
    if (hasAttention()) showHeads();
    if (hasHeads()) showSteps();
  }

  // The rows and columns of an attention's table, what every head saw in each row, and the row that is shown.
  function attention({ kind, layer, from }) {
    const source = ids.map(shown);
    if (!hasHeads()) {
      return { rows: targets().map(shown), columns: source, seen: steps.map(({ seen }) => [{ weights: seen }]), row: chosen };
    }
    if (kind === "encoder") return { rows: source, columns: source, seen: steps[0].source[`encoder ${layer}`], row: from };
    const read = ["BOS", ...targets().slice(0, -1).map(shown)]; // one subword before each step
    const columns = kind === "source" ? source : read;
    return { rows: targets().map(shown), columns, seen: steps.map((step) => step.seen[`${kind} ${layer}`]), row: chosen };
  }

  const headShown = () => (hasHeads() ? look.head : 0);
  const nameOf = ({ kind, layer, head }) => `${kind} ${layer} head ${head}`; // as the model calls a head

  // The same for people, who count from 1.
  function calledIn(name) {
    const [kind, layer, , head] = name.split(" ");
    return `layer ${Number(layer) + 1}, head ${Number(head) + 1}, ${KINDS[kind]}`;
  }

  // The source above the translation. Those words that the head looks at carry its weights; those that can look are buttons.
  function showWords() {
    const { rows, columns, seen, row } = attention(look);
    const { weights = [] } = seen[row][headShown()];
    const isEncoder = hasHeads() && look.kind === "encoder", isOwn = hasHeads() && look.kind === "decoder";
    showRow("source", ids.map(shown), isOwn ? [] : weights, isEncoder ? look.from : -1, isEncoder && ((s) => (look.from = s)));
    showRow("words", targets().map(shown), isOwn ? steps.map((_, t) => weights[t + 1] ?? 0) : [], chosen, (t) => (chosen = t));
    steps.forEach((step, t) => part("words").children[t].classList.toggle("forced", t < forced.length && step.id !== step.best));
    const most = columns.map((_, i) => i).filter((i) => weights[i] >= 0.05).sort((i, j) => weights[j] - weights[i]);
    const looks = most.slice(0, 4).map((i) => `“${columns[i]}” (${percent(weights[i])})`).join(", ");
    const who = isEncoder ? `From “${rows[row]}”` : `To write “${rows[row]}”`;
    const off = model.off.has(nameOf(look)) ? " It is switched off, and adds nothing." : "";
    if (!isOwn) keepInSight(part("source"), most[0] ?? 0);
    const head = hasHeads() ? `head ${look.head + 1} of layer ${look.layer + 1}` : "the model";
    part("looks").textContent = hasAttention()
      ? `${who}, ${head} looks at ${looks || "all words a little"}.${off}`
      : `${who}, the model cannot look at your sentence: it has only the vector.`;
  }

  // A long caption is moved inside its row.
  function keepInSight(row, place) {
    row.tabIndex = row.scrollHeight > row.clientHeight ? 0 : -1;
    row.scrollTop = row.children[place].offsetTop - row.clientHeight / 2;
  }

  const percent = (weight) => `${Math.round(100 * weight)}%`;

  function showRow(name, words, weights, pressed, choose) {
    part(name).replaceChildren(
      ...words.map((word, place) => {
        const weight = weights[place];
        const attributes = { style: weight !== undefined && `--weight: ${weight.toFixed(3)}` };
        const content = weight === undefined ? word : [`${word} `, element("span", percent(weight))];
        if (!choose) return element("span", content, { ...attributes, class: "word" });
        const onclick = () => {
          choose(place);
          show();
          part(name).children[place].focus();
        };
        return element("button", content, { ...attributes, class: "word", type: "button", "aria-pressed": String(place === pressed), onclick });
      }),
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
            part("next").querySelector("[aria-pressed=true]").focus();
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

  function showHeads() {
    const { rows: words, columns, seen, row } = attention(look);
    const head = nameOf(look), called = calledIn(head), isEncoder = hasHeads() && look.kind === "encoder";
    const caption =
      (hasHeads() ? `${called[0].toUpperCase()}${called.slice(1)}. ` : "") +
      (isEncoder ? "Each row is a subword that looks" : "Each row is the step that writes this subword") +
      ", each column a subword that it can look at; weights in hundredths." +
      (model.off.has(head) ? " This head is switched off: it looks, and adds nothing." : "");
    const rows = words.map((word, place) => [word, seen[place][headShown()].weights]);
    showWeights(part("heads"), caption, columns, rows, row);
    part("off").checked = model.off.has(head);
  }

  function showSteps() {
    const { rows, columns, seen, row } = attention(look);
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

  function begin() {
    const { heads, decoder_layers: layers } = loaded["transformer-en-de"].model.config;
    const counted = (count) => Array.from({ length: count }, (_, i) => i + 1);
    const looking = (key, values) => (place) => {
      look[key] = values ? values[place] : place;
      showLook();
    };
    part("choices").append(
      choice("Which attention?", Object.values(KINDS), 0, looking("kind", Object.keys(KINDS))),
      choice("Which layer?", counted(layers), look.layer, looking("layer")),
      choice("Which head?", counted(heads), look.head, looking("head")),
    );
    part("off").addEventListener("change", () => {
      const name = nameOf(look);
      part("off").checked ? model.off.add(name) : model.off.delete(name);
      translate();
    });
    part("all-on").addEventListener("click", () => {
      model.off.clear();
      translate();
    });
    part("temperature").addEventListener("input", showNext);
    for (const radio of part("models").querySelectorAll("input")) {
      radio.checked = radio.value === name;
      radio.addEventListener("change", () => use(radio.value));
    }
    part("form").addEventListener("submit", (event) => {
      event.preventDefault();
      read();
    });
    part("text").addEventListener("input", change);
    part("text").addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      if (matchMedia("(pointer: coarse)").matches) part("text").blur(); // a keyboard on the screen hides the translation
      read();
    });
    for (const example of part("examples").children) example.addEventListener("click", () => put(example.textContent));
    part("examples").hidden = false;
    window.addEventListener("resize", fit);
    use(name);
    window.addEventListener("load", () => use(name)); // by then, all models are there
  }

  // Translate with this model, or as soon as it is there.
  function use(wanted) {
    name = wanted;
    if (!window.COURSE_MODELS[name] && document.readyState !== "complete") {
      model = null;
      return hide("The model is being read.");
    }
    try {
      loaded[name] ??= load(name);
    } catch (error) {
      model = null;
      return hide(`This browser could not read the model (${error.message}).`);
    }
    const isNew = model !== loaded[name].model;
    ({ model, subwords } = loaded[name]);
    if (!isNew) return;
    part("with-attention").open = !hasHeads(); // the only table of an attention is the whole of it
    read();
  }

  function load(name) {
    const { weights, config, subwords } = window.COURSE_MODELS[name];
    return { model: new Attention[CLASSES[name]](Attention.load(weights), config), subwords: new Subwords(subwords) };
  }

  function start() {
    try {
      loaded["transformer-en-de"] = load("transformer-en-de");
    } catch (error) {
      say(`This browser could not read the model (${error.message}). The text of this page and the lessons need no model.`);
      return;
    }
    begin();
  }

  // This sentence appears before the browser is busy.
  say("The model is being read: 1.9 million numbers.");
  document.addEventListener("DOMContentLoaded", () => setTimeout(start, 0));
})();
