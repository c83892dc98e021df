// Under each page that the search finds: the first sentences with the words searched for. They come from scripts beside the pages,
// since a page that is opened from a disk may load nothing else.
//
// Not here: which pages are found, which is Sphinx's work, and the scripts (`course_utils/site/search_index.py`).
"use strict";

window.COURSE_TEXTS = {};

document.addEventListener("DOMContentLoaded", () => {
  const results = document.querySelector("#search-results");
  const query = new URLSearchParams(location.search).get("q");
  if (!results || !query) return;
  const words = query.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  const MOST = 3; // sentences for a page
  const loading = {};

  function textOf(page) {
    loading[page] ??= new Promise((resolve) => {
      const made = element("script", "", { src: `texts/${page}.js` });
      made.onload = () => resolve(window.COURSE_TEXTS[page]);
      document.head.append(made);
    });
    return loading[page];
  }

  function marked(sentence) {
    const parts = sentence.split(new RegExp(`(${words.join("|")})`, "i"));
    return parts.map((part, place) => (place % 2 ? element("mark", part) : part));
  }

  // An address that also has the browser show the sentence's beginning, where it can.
  function addressOf(page, id, sentence) {
    const beginning = sentence.split(" ").slice(0, 8).join(" ");
    return `${page}.html#${id}:~:text=${encodeURIComponent(beginning).replaceAll("-", "%2D")}`;
  }

  async function quote(found) {
    const [page, anchor] = found.querySelector("a").getAttribute("href").split(".html");
    const sections = (await textOf(page)).filter(([id]) => !anchor || `#${id}` === anchor);
    const held = (sentence) => words.filter((word) => sentence.toLowerCase().includes(word)).length;
    const sentences = sections.flatMap(([id, texts]) => texts.map((sentence) => ({ id, sentence, count: held(sentence) })));
    const different = [...new Map(sentences.map((one) => [one.sentence, one])).values()];
    const best = different.filter(({ count }) => count).sort((a, b) => b.count - a.count).slice(0, MOST);
    found.append(...best.map(({ id, sentence }) => element("p", element("a", marked(sentence), { href: addressOf(page, id, sentence) }))));
  }

  new MutationObserver((changes) => {
    const added = changes.flatMap((change) => [...change.addedNodes]);
    added.filter((one) => one.matches?.("#search-results li")).forEach(quote);
  }).observe(results, { childList: true, subtree: true });
});
