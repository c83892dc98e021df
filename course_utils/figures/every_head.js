// Two groups of radio buttons above the table of `every_head.py`: which attention, and which word asks. They answer to the arrow keys.
const { attentions, asking } = DATA;
const titles = Object.keys(attentions);
const table = root.querySelector("table");

function show(title, word) {
  const { asks, asked, heads } = attentions[title];
  const caption = `${title}: where each head looks from “${asks[word]}”, in hundredths`;
  showWeights(table, caption, asked, Object.entries(heads).map(([name, weights]) => [name, weights[word].map((weight) => weight / 100)]));
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
