// The view of the vocabulary: what is asked is a form, what is found a page of a table.

import { make, plainChip } from "./chips.js";

const form = document.getElementById("query");
const rows = document.getElementById("rows");
const found = document.getElementById("found");
const steps = document.querySelectorAll("[data-page]");
let page = 0;
let waiting = 0;

/** Fill a list of choices, and keep the one that is chosen. */
function choices(select, counts, of = (name) => name) {
  const chosen = select.value;
  const options = Object.entries(counts).map(([name, count]) =>
    make("option", { value: name }, `${of(name)} (${count.toLocaleString("en")})`));
  select.replaceChildren(make("option", { value: "" }, "all"), ...options);
  select.value = chosen in counts ? chosen : "";
}

function row(token) {
  const use = token.use === null ? "–" : token.use.toLocaleString("en");
  return make("tr", {},
    make("td", { class: "number" }, String(token.id)),
    make("td", {}, plainChip(token.text, token.born, token.letter)),
    make("td", {}, token.born),
    make("td", { class: "number" }, String(token.characters)),
    make("td", {}, token.script),
    make("td", { class: "number" }, use));
}

function show(answer) {
  choices(form.born, answer.births);
  choices(form.script, answer.scripts);
  rows.replaceChildren(...answer.rows.map(row));
  const of = answer.size.toLocaleString("en");
  const all = answer.total === answer.size;
  const those = all ? `${of} tokens; ${answer.phrases.toLocaleString("en")} of them are phrases` : `${answer.total.toLocaleString("en")} of ${of} tokens`;
  found.textContent = `${those}. ${answer.use ?? "The file has no counts"}.`;
  page = answer.page;
  document.getElementById("page").textContent = `page ${page + 1} of ${answer.pages.toLocaleString("en")}`;
  steps[0].disabled = page === 0;
  steps[1].disabled = page + 1 >= answer.pages;
}

/** The view; `ask(name, question)` asks the server. */
export function vocabulary(ask) {
  async function find() {
    const question = {
      card: +form.card.value, text: form.text.value, born: form.born.value, script: form.script.value,
      sort: form.sort.value, phrases: form.phrases.checked, page,
    };
    const answer = await ask("vocabulary", question);
    if (answer) show(answer);
  }
  const later = (delay) => {
    clearTimeout(waiting);
    waiting = setTimeout(find, delay);
  };
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", (event) => {
    page = 0;
    later(event.target.type === "search" ? 120 : 0);
  });
  for (const step of steps) step.addEventListener("click", () => {
    page += +step.dataset.page;
    later(0);
  });
  return find;
}
