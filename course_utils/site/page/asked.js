// Predictions and questions that are answered in the page. What a reader answers is kept in this browser alone.
//
// Here: what `pages.py` has written into a page as facts becomes a form. Without scripts, questions show their text and options.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const KEPT = "course-answers";

  // A browser may refuse to keep anything, as for pages opened from a disk: then an answer lasts as long as the page.
  const answers = (() => {
    try {
      return JSON.parse(localStorage.getItem(KEPT)) ?? {};
    } catch {
      return {};
    }
  })();

  function keep(id, answer, state) {
    answers[id] = { answer, state };
    try {
      localStorage.setItem(KEPT, JSON.stringify(answers));
    } catch {}
  }

  function asNumber(text) {
    const number = text.trim() ? Number(text.trim().replace(",", ".")) : NaN;
    return Number.isFinite(number) ? number : null;
  }

  // A text with what stands between backticks as code.
  const coded = (text) => text.split("`").map((part, place) => (place % 2 ? element("code", part) : part));

  // What is said of an answer: its state, "passed", "failed" or "none", and a sentence.
  const JUDGES = {
    options({ options, letters }, answer) {
      const place = options.findIndex(([text]) => text === answer);
      if (place < 0) return ["none", "Choose one of the answers."];
      const [, why, isRight] = options[place];
      return [isRight ? "passed" : "failed", `${letters[place]}) is ${isRight ? "" : "not "}right. ${why}`];
    },
    number({ answer: right, tolerance, why, wrong, otherwise }, text) {
      const number = asNumber(text);
      if (number === null) return ["none", "Write a number, such as 0.5."];
      const isNear = (wanted) => Math.abs(number - wanted) <= tolerance + 1e-9 * Math.abs(wanted);
      if (isNear(right)) return ["passed", `${number} is right. ${why}`];
      const known = wrong.find(([wanted]) => isNear(wanted));
      return ["failed", `${number} is not right. ${known ? known[1] : otherwise}`];
    },
    prediction({ choices, isShare, answer }, text) {
      if (choices.length && !text) return ["none", "Choose one of the answers."];
      if (choices.length) return ["passed", `You said ${text}. ${text === answer ? "That is right." : `The answer is: ${answer}.`}`];
      const number = asNumber(text);
      if (number === null || (isShare && (number < 0 || number > 1))) {
        return ["none", `Write a number${isShare ? " from 0 to 1" : ""}, such as 0.5.`];
      }
      const off = number - answer, isNear = Math.abs(off) <= 0.005 * Math.max(1, Math.abs(answer));
      const verdict = isNear ? "That is a good guess." : `That is ${Number(Math.abs(off).toPrecision(3))} too ${off > 0 ? "high" : "low"}.`;
      return ["passed", `You said ${number}. ${verdict}`];
    },
  };

  function fields(facts, answer) {
    const options = facts.kind === "options" ? facts.options.map(([text]) => text) : facts.choices ?? [];
    if (!options.length) {
      const field = element("input", "", { type: "text", inputmode: "decimal", size: 8, name: facts.id, value: answer ?? "" });
      return [element("label", ["Your number ", field])];
    }
    return options.map((text, place) => {
      const radio = element("input", "", { type: "radio", name: facts.id, value: text });
      radio.checked = text === answer;
      const letter = facts.letters ? `${facts.letters[place]}) ` : "";
      return element("label", [radio, ` ${letter}`, element("span", coded(text))], { class: "option" });
    });
  }

  // The cell that shows what was predicted: the next one in the page with this tag.
  function revealing(asked) {
    const cells = [...document.querySelectorAll(".cell")];
    return cells.slice(cells.indexOf(asked.closest(".cell")) + 1).find((cell) => cell.matches(".tag_reveals"));
  }

  document.querySelectorAll(".course-asked").forEach((asked) => {
    const facts = JSON.parse(asked.querySelector("script").textContent);
    const isPrediction = facts.kind === "prediction";
    const form = element("form");
    const said = element("p", "", { role: "status" });
    const output = isPrediction ? revealing(asked)?.querySelector(".cell_output") : null;
    // What the page says of the output right below it waits, too.
    const waiting = output ? [output] : [];
    for (let next = output?.closest(".cell").nextElementSibling; next?.matches("p, ul, ol"); next = next.nextElementSibling) waiting.push(next);
    for (const one of waiting) one.hidden = true;

    function judge(answer, isNew) {
      const [state, sentence] = JUDGES[facts.kind](facts, answer);
      const below = output && state !== "none" ? " What comes out is below." : "";
      said.replaceChildren(...coded(sentence + below));
      asked.dataset.state = isPrediction && state === "passed" ? "told" : state;
      if (state === "none") return;
      if (isNew) keep(facts.id, answer, state);
      if (output) reveal();
    }

    function reveal() {
      for (const one of waiting) one.hidden = false;
      form.querySelector(".quiet")?.remove();
    }

    form.append(...fields(facts, answers[facts.id]?.answer), element("button", isPrediction ? "Predict" : "Check", { type: "submit" }));
    if (output) {
      const show = element("button", "Show it without a prediction", { type: "button", class: "quiet" });
      show.addEventListener("click", () => {
        reveal();
        said.textContent = "What comes out is below.";
      });
      form.append(show);
    }
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      judge(new FormData(form).get(facts.id) ?? "", true);
    });
    asked.append(form, said);
    if (answers[facts.id]) judge(answers[facts.id].answer, false);
  });

  // The first page says how far this reader has come.
  document.querySelectorAll(".course-progress").forEach((place) => {
    const { lesson, of } = place.dataset;
    const passed = Object.entries(answers).filter(([id, kept]) => id.startsWith(`${lesson}.q`) && kept.state === "passed").length;
    if (!passed) return;
    place.textContent = `${passed} of ${of} questions right`;
    place.parentElement.style.setProperty("--done", `${(100 * passed) / of}%`);
  });
  const [latest] = Object.keys(answers).map((id) => id.slice(0, 2)).sort().reverse();
  const lesson = document.querySelector(`.course-progress[data-lesson="${latest}"]`)?.closest("li").querySelector("a");
  const begin = document.querySelector(".course-begin a");
  if (lesson && begin) Object.assign(begin, { textContent: `Continue with lesson ${latest}`, href: lesson.href });
});
