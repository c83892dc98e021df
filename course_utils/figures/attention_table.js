// What a notebook's output and the web pages share: an element, a choice among radio buttons, and a table of attention's weights.
//
// Here: what a reader sees and operates. Not here: where the weights come from (`every_head.js`, `site/page/translator.js`).

// An element with its content and attributes. `onclick` is a function; false leaves an attribute out.
function element(name, content = "", attributes = {}) {
  const made = document.createElement(name);
  made.append(...[content].flat());
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "onclick") made.addEventListener("click", value);
    else if (value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  return made;
}

// A question with an answer on each radio button; `onChange` is given the place of the one that is chosen.
function choice(question, answers, chosen, onChange) {
  const name = `choice-${Math.random().toString(36).slice(2)}`;
  const labels = answers.map((answer, place) => {
    // The attribute keeps JupyterLab from taking the arrow keys for itself.
    const radio = element("input", "", { type: "radio", name, checked: place === chosen, "data-lm-suppress-shortcuts": "true" });
    radio.addEventListener("change", () => onChange(place));
    return element("label", [radio, ` ${answer}`]);
  });
  return element("fieldset", [element("legend", question), ...labels]);
}

// Fill a table of class course-heads with rows, each a name and its weights, from 0 to 1; those from 0.05 on are written, in hundredths.
function showWeights(table, caption, columns, rows, chosen = -1) {
  table.caption.textContent = caption;
  table.tHead.replaceChildren(element("tr", [element("td"), ...columns.map((word) => element("th", word, { scope: "col" }))]));
  table.tBodies[0].replaceChildren(
    ...rows.map(([name, weights], place) => {
      const cells = columns.map((_, column) => {
        const weight = weights[column] ?? 0; // a decoder's word sees none after itself
        return element("td", weight >= 0.05 ? String(Math.round(100 * weight)) : "", { style: `--weight: ${weight.toFixed(3)}` });
      });
      return element("tr", [element("th", name, { scope: "row" }), ...cells], { class: place === chosen && "chosen" });
    }),
  );
}
