// The playground: send the text, show its tokens, keep all views in step.

import { fill, make, over, plainChip, tell, walk, withBlanks } from "./chips.js";
import { vocabulary } from "./vocabulary.js";

const by = (id) => document.getElementById(id);
const source = by("source");
const detail = by("detail");
const cards = [...document.querySelectorAll(".card")];
const names = cards.map((card) => card.querySelector("h3").textContent);
const letters = cards.map((card) => card.querySelector(".letter").textContent);
const meanings = JSON.parse(by("meanings").textContent);
const hint = detail.firstElementChild;
const mirror = document.querySelector(".mirror");
const MIRRORED = 20_000; // characters up to which a token is also marked in the text itself
const KEPT = 200_000; // characters of a text that a reload brings back
const number = (value, most = 0) => value.toLocaleString("en", { maximumFractionDigits: most, minimumFractionDigits: most });

// --- Asking the server -------------------------------------------------------------------------

const running = {};

/** The answer to a question, or null if it came too late or went wrong; the page says why. */
async function ask(name, question) {
  running[name]?.abort();
  const mine = (running[name] = new AbortController());
  try {
    const answer = await fetch(`api/${name}`, {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(question), signal: mine.signal,
    });
    const told = await answer.json();
    if (mine.signal.aborted) return null;
    complain(answer.ok ? "" : told.error);
    return answer.ok ? told : null;
  } catch (error) {
    if (error.name !== "AbortError") complain("The playground does not answer. Is `supratok play` still running in the terminal?");
    return null;
  }
}

function complain(why) {
  const said = why ? `${why[0].toUpperCase()}${why.slice(1)}` : "";
  if (by("problem").textContent !== said) by("problem").textContent = said;
  by("problem").hidden = !why;
}

// --- The text and its tokens -------------------------------------------------------------------

let shown = null; // the answer that is on the page
let text = "";
let from = 0;
let timer = 0;
let saying = 0;

function changed(delay) {
  clearTimeout(timer);
  timer = setTimeout(update, delay ?? (source.value.length > MIRRORED ? 250 : 40));
}

async function update() {
  const now = source.value;
  document.body.classList.add("waiting");
  const answer = await ask("text", { text: wellFormed(now), from });
  if (!answer) return;
  text = now;
  shown = answer;
  document.body.classList.remove("waiting");
  walking.clear();
  answer.cards.forEach((facts, place) => fill(cards[place].querySelector(".tokens"), facts.spans, facts.known));
  figures();
  turn();
  legend();
  keep(now);
  followCaret();
  showCuts(await ask("cuts", { text: wellFormed(now) }));
}

/** Half of a character, which a browser lets one type or paste, is no text. */
const wellFormed = (value) => (value.toWellFormed ? value.toWellFormed() : value);

function figures() {
  const counts = shown.cards.map((facts) => facts.count);
  const most = Math.max(...counts);
  const price = Number.parseFloat(by("price").value);
  shown.cards.forEach((facts, place) => {
    const card = cards[place];
    const put = (what, value) => (card.querySelector(what).textContent = value);
    put(".count output", number(facts.count));
    put(".ratio output", facts.count ? number(shown.characters / facts.count, 2) : "–");
    put(".cost output", price >= 0 ? cost((facts.count * price) / 1e6) : "–");
    card.querySelector(".bar .part").setAttribute("width", `${most ? (100 * facts.count) / most : 0}%`);
    put(".versus", versus(facts, most, letters[counts.indexOf(most)]));
  });
  clearTimeout(saying);
  saying = setTimeout(say, 300);
}

const cost = (value) => value.toLocaleString("en", { maximumSignificantDigits: 3, maximumFractionDigits: 20 });

function versus(facts, most, worst) {
  const loss = facts.lossless === false ? "decoding does not give the text back" : "";
  let said = "";
  if (cards.length > 1 && most) said = facts.count < most ? `${number(100 * (1 - facts.count / most), 1)}% fewer than ${worst}` : "the most tokens";
  return [said, loss].filter(Boolean).join("; ");
}

/** What a screen reader hears when typing stops. */
function say() {
  const counts = shown.cards.map((facts, place) => `${letters[place]} ${number(facts.count)}`).join(", ");
  by("status").textContent = `${number(shown.characters)} characters, ${number(shown.bytes)} bytes. Tokens: ${counts}.`;
}

function legend() {
  const used = new Set(shown.cards.flatMap((facts) => Object.values(facts.known).map((known) => known[1])));
  for (const item of document.querySelectorAll(".legend li")) item.hidden = !used.has(item.dataset.born);
}

function keep(value) {
  try {
    if (value.length <= KEPT) sessionStorage.setItem("text", value);
  } catch { /* storage may be off */ }
}

// --- Which part of a long text is shown --------------------------------------------------------

const pager = by("pager");
const slider = pager.querySelector("input");

function turn() {
  const { characters, from: first, to: last } = shown;
  from = first;
  pager.hidden = first === 0 && last === characters;
  slider.max = String(Math.max(0, characters - 1));
  slider.step = "1";
  slider.value = String(first);
  pager.querySelector("p").textContent = `Tokens of the characters ${number(Math.min(first + 1, last))} to ${number(last)} of ${number(characters)}; the counts are those of the whole text.`;
  pager.querySelector('[data-step="-1"]').disabled = first === 0;
  pager.querySelector('[data-step="1"]').disabled = last === characters;
}

function goTo(place) {
  from = Math.max(0, Math.min(place, shown ? shown.characters - 1 : 0));
  changed(60);
}

for (const button of pager.querySelectorAll("button")) button.addEventListener("click", () => {
  goTo(+button.dataset.step > 0 ? shown.to : shown.from - shown.window);
});
slider.addEventListener("input", () => goTo(+slider.value));

// --- Text and tokens, linked -------------------------------------------------------------------

/** The server counts characters, the browser units of UTF-16: those beyond U+FFFF have two. */
const isPlain = (value) => !/[\ud800-\udbff]/.test(value);

function unitsOf(value, characters) {
  if (isPlain(value)) return characters;
  let units = 0;
  for (let left = characters; left > 0 && units < value.length; left--) units += value.codePointAt(units) > 0xffff ? 2 : 1;
  return units;
}

function charactersOf(value, units) {
  if (isPlain(value)) return units;
  let characters = 0;
  for (let at = 0; at < units; characters++) at += value.codePointAt(at) > 0xffff ? 2 : 1;
  return characters;
}

function markInText(start, end) {
  if (start === null || source.value !== text || text.length > MIRRORED) return mirror.replaceChildren();
  const [first, last] = [unitsOf(text, start), unitsOf(text, end)];
  mirror.replaceChildren(text.slice(0, first), make("mark", {}, text.slice(first, last)), `${text.slice(last)}\n`);
  mirror.scrollTop = source.scrollTop;
}

source.addEventListener("scroll", () => (mirror.scrollTop = source.scrollTop));

const known = new Map();

async function factsOf(place, id) {
  const key = `${place} ${id}`;
  if (!known.has(key)) {
    const answer = await ask("token", { card: place, id });
    if (!answer) return null;
    known.set(key, answer);
  }
  return known.get(key);
}

let wanted = null;

const walking = walk(by("cards"), async (made, meant) => {
  wanted = made;
  detail.classList.toggle("floating", meant);
  markInText(made ? +made.dataset.s : null, made ? +made.dataset.e : null);
  if (!made) return detail.replaceChildren(hint);
  const place = +made.closest("[data-card]").dataset.card;
  const id = +made.dataset.i;
  const facts = await factsOf(place, id);
  if (!facts || wanted !== made) return;
  const at = [...made.parentElement.children].indexOf(made) + shown.cards[place].first + 1;
  const range = `${number(+made.dataset.s + 1)} to ${number(+made.dataset.e)}`;
  tell(detail, names[place], facts.tokens, id, facts.joined, meanings, [["place", `token ${number(at)}, characters ${range}`]], () => walking.clear());
  const select = make("button", { type: "button" }, "Select in the text");
  select.addEventListener("click", () => {
    source.focus();
    source.setSelectionRange(unitsOf(text, +made.dataset.s), unitsOf(text, +made.dataset.e));
  });
  detail.append(select);
});

/** Mark the tokens in which the caret is; in a long text, show that part of it. */
function followCaret() {
  if (document.activeElement !== source || !shown || source.value !== text) return;
  const at = Math.max(0, charactersOf(text, source.selectionStart) - 1);
  if (at < shown.from || at >= Math.max(shown.to, 1)) return goTo(at - 500);
  for (const one of document.querySelectorAll(".caret")) one.classList.remove("caret");
  for (const card of cards) for (const one of over(card.querySelector(".tokens"), at, at + 1)) one.classList.add("caret");
}

document.addEventListener("selectionchange", () => setTimeout(followCaret, 80));

// --- Where a prompt could be cut ---------------------------------------------------------------

const chips = (tokens) => tokens.map(([, value, born, letter]) => plainChip(value, born, letter));
const open = (rest) => make("span", { class: "k open" }, make("span", { class: "t" }, ...withBlanks(rest)));

function cover(one) {
  const line = make("li", {}, ...chips(one.tokens));
  if (!one.rest) {
    line.append(one.tokens.length ? "" : "nothing more", make("small", {}, `A token ends with the text; then any of ${number(one.next)} tokens.`));
    return line;
  }
  line.append(open(`${one.rest}…`), make("small", {}, one.next === 1 ? "This token crosses the end: " : `One of ${number(one.next)} tokens crosses the end, such as `, ...chips(one.examples)));
  return line;
}

function cutOf(facts, place) {
  const badge = cards[place].querySelector(".letter").cloneNode(true);
  const made = make("article", { class: "cut" }, make("header", {}, badge, make("h3", {}, cards[place].querySelector("h3").lastChild.textContent)));
  if (facts.why) {
    made.append(make("p", { class: "note" }, facts.why));
    return made;
  }
  const ways = facts.covers.length + facts.more;
  made.append(make("p", {}, `${number(facts.ids)} token${facts.ids === 1 ? " stays" : "s stay"} whatever follows`, facts.ids ? ": " : ".", facts.ids > facts.tail.length ? "… " : "", ...chips(facts.tail)));
  if (facts.rest) made.append(make("p", {}, "Open end: ", open(facts.rest)));
  made.append(make("p", {}, ways === 1 ? "One way on:" : `${ways} ways on; every continuation takes exactly one of them:`));
  made.append(make("ol", {}, ...facts.covers.map(cover)));
  if (facts.more) made.append(make("p", { class: "note" }, `and ${facts.more} more`));
  return made;
}

function showCuts(answer) {
  if (answer) by("cuts").replaceChildren(...answer.cards.map(cutOf));
}

// --- Views -------------------------------------------------------------------------------------

const tabs = [...document.querySelectorAll('[role="tab"]')];
const find = vocabulary(ask);

function view(name, focus = false) {
  const chosen = tabs.find((tab) => tab.dataset.view === name) ?? tabs[0];
  for (const tab of tabs) {
    const is = tab === chosen;
    tab.setAttribute("aria-selected", String(is));
    tab.tabIndex = is ? 0 : -1;
    by(tab.getAttribute("aria-controls")).hidden = !is;
  }
  if (focus) chosen.focus();
  if (chosen.dataset.view === "vocabulary") find();
}

for (const tab of tabs) tab.addEventListener("click", () => (location.hash = tab.dataset.view));
document.querySelector('[role="tablist"]').addEventListener("keydown", (event) => {
  const at = tabs.indexOf(document.activeElement);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
  if (to === undefined || at < 0) return;
  event.preventDefault();
  const next = tabs[(to + tabs.length) % tabs.length];
  view(next.dataset.view, true);
  location.hash = next.dataset.view;
});
addEventListener("hashchange", () => {
  const name = location.hash.slice(1);
  if (tabs.some((tab) => tab.dataset.view === name)) view(name);
});

// --- The first moment ----------------------------------------------------------------------------

try {
  source.value = sessionStorage.getItem("text") ?? source.defaultValue;
} catch { /* storage may be off */ }
source.addEventListener("input", () => {
  markInText(null, null);
  changed();
});
// A browser takes minutes to paste a megabyte of lines into a field, as if they were typed, and a
// moment to set them.
source.addEventListener("paste", (event) => {
  const pasted = event.clipboardData?.getData("text/plain") ?? "";
  if (pasted.length <= MIRRORED) return;
  event.preventDefault();
  source.setRangeText(pasted.replaceAll("\r\n", "\n"), source.selectionStart, source.selectionEnd, "end");
  source.dispatchEvent(new Event("input"));
});
by("price").addEventListener("input", () => shown && figures());
view(location.hash.slice(1));
update();
