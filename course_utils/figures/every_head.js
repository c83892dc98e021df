// Two groups of radio buttons above the table of `every_head.py`: which attention, and which word asks. They answer to the arrow keys.
(function () {
  const root = document.currentScript.parentElement;
  const { attentions, asking } = DATA;
  const OURS = { "data-lm-suppress-shortcuts": "true" }; // or JupyterLab takes the arrow keys for itself
  const titles = Object.keys(attentions);
  const group = "heads-" + Math.random().toString(36).slice(2);
  const table = root.querySelector("table");
  const caption = table.querySelector("caption");

  function element(name, text = "", attributes = {}) {
    const made = document.createElement(name);
    made.textContent = text;
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    return made;
  }

  function choice(question, texts, chosen, onChange) {
    const fieldset = element("fieldset");
    fieldset.append(element("legend", question));
    texts.forEach((text, place) => {
      const label = element("label");
      const radio = element("input", "", { type: "radio", name: group + question, ...OURS });
      radio.checked = place === chosen;
      radio.addEventListener("change", () => onChange(place));
      label.append(radio, " " + text);
      fieldset.append(label);
    });
    return fieldset;
  }

  function show(title, word) {
    const { asks, asked, heads } = attentions[title];
    caption.textContent = `${title}: where each head looks from “${asks[word]}”, in hundredths`;
    const top = element("tr");
    top.append(element("td"), ...asked.map((text) => element("th", text, { scope: "col" })));
    table.tHead.replaceChildren(top);
    table.tBodies[0].replaceChildren(
      ...Object.entries(heads).map(([name, weights]) => {
        const row = element("tr");
        const cells = weights[word].map((weight) =>
          element("td", weight >= 5 ? weight : "", { style: `--weight: ${weight / 100}` }),
        );
        row.append(element("th", name, { scope: "row" }), ...cells);
        return row;
      }),
    );
  }

  let words = null;
  function open(title, word) {
    const made = choice("Which word asks?", attentions[title].asks, word, (place) => show(title, place));
    words ? words.replaceWith(made) : table.before(made);
    words = made;
    show(title, word);
  }

  table.before(choice("Which attention?", titles, 0, (place) => open(titles[place], 0)));
  open(titles[0], asking);
})();
