// The tokens of a text as chips: to build them, to walk over them, to link what lies at the same
// place of the text in all tokenizers, and to tell what a token is made of.

const BLANKS = { " ": "space", "\t": "tab", "\n": "newline" };

/** A new element: make("p", {class: "note"}, "text", other). Text is never read as markup. */
export function make(name, attributes = {}, ...inside) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...inside);
  return element;
}

/** A text whose blanks can be made visible by the style sheet. A newline is a sign; it also ends the
 * line where tokens stand in their text (`breaks`). */
export function withBlanks(text, breaks = false) {
  const parts = text.split(/([ \t\n])/).filter((part) => part !== "");
  const inside = (part) => (part === "\n" && !breaks ? "" : part);
  return parts.map((part) => (BLANKS[part] ? make("i", { class: BLANKS[part] }, inside(part)) : part));
}

/** How a screen reader and a heading say a token. */
export function spoken(text) {
  return `“${text.replaceAll("\n", "⏎").replaceAll("\t", "→")}”`;
}

/** One token that does not take part in the walk, as in lists and trees. */
export function plainChip(text, born, letter) {
  return make("span", { class: `k b-${born}` }, make("span", { class: "t" }, ...withBlanks(text)),
    make("sub", {}, letter));
}

/** The chip of a token in a text. */
export function chip([id, start, end], [text, born, letter]) {
  const tail = /\n*$/.exec(text)[0]; // behind the letter, so that this stays on the line of the text
  const made = make("span", { class: `k b-${born}` },
    make("span", { class: "t" }, ...withBlanks(text.slice(0, text.length - tail.length), true), ...withBlanks(tail)),
    make("sub", {}, letter), make("span", { class: "id" }, String(id)));
  if (tail) made.append(tail);
  if (text.includes("\n")) made.classList.add("breaking");
  Object.assign(made.dataset, { i: id, s: start, e: end });
  prepare(made, text, id, born);
  return made;
}

/** What a chip needs for keyboards and screen readers; a page without script lacks it. */
function prepare(made, text, id, born) {
  made.setAttribute("role", "option");
  made.setAttribute("aria-label", `${spoken(text)}, ${born}, id ${id}`);
  made.tabIndex = -1;
}

/** Make chips that came with the page usable. */
export function adopt(list) {
  list.setAttribute("role", "listbox");
  for (const made of list.children) {
    const born = [...made.classList].find((name) => name.startsWith("b-")).slice(2);
    const end = made.lastChild.nodeType === Node.TEXT_NODE ? made.lastChild.data : "";
    prepare(made, made.querySelector(".t").textContent + end, made.dataset.i, born);
    made.removeAttribute("title");
  }
  enter(list);
}

/** Show these tokens in a list; the ones in front that stay the same are kept. */
export function fill(list, rows, known) {
  const old = list.rows ?? [];
  const most = Math.min(old.length, rows.length);
  let same = 0;
  while (same < most && rows[same].every((value, at) => value === old[same][at])) same++;
  while (list.children.length > same) list.lastChild.remove();
  const added = document.createDocumentFragment();
  for (const row of rows.slice(same)) added.append(chip(row, known[row[0]]));
  list.append(added);
  list.rows = rows;
  enter(list);
}

/** One chip of a list can be reached by Tab: the one last walked to, or the first. */
function enter(list) {
  if (!list.querySelector('[tabindex="0"]') && list.firstElementChild) list.firstElementChild.tabIndex = 0;
}

/** Chips that cover any of the characters from start to end. */
export function over(list, start, end) {
  return [...list.children].filter((made) => +made.dataset.s < end && +made.dataset.e > start);
}

/**
 * Walk over chips by mouse and keyboard. `active(chip or null, meant)` is called with every step;
 * `meant`: by a key or a click, and not only because the mouse came by. A pinned chip stays active
 * until Escape, a second click, or until another one is pinned.
 */
export function walk(root, active) {
  const lists = () => [...root.querySelectorAll(".tokens")];
  let now = null;
  let pinned = false;

  function activate(made, pin = false) {
    for (const one of root.querySelectorAll(".linked, .active, .pinned")) {
      one.classList.remove("linked", "active", "pinned");
      one.removeAttribute("aria-selected");
    }
    now = made;
    pinned = pin && made !== null;
    if (made) {
      const [start, end] = [+made.dataset.s, +made.dataset.e];
      for (const list of lists()) for (const one of over(list, start, end)) one.classList.add("linked");
      made.classList.add("active");
      made.classList.toggle("pinned", pinned);
      if (pinned) made.setAttribute("aria-selected", "true");
    }
    active(made, pinned || (made !== null && made === document.activeElement));
  }

  const chipOf = (event) => event.target.closest?.(".tokens > .k");
  root.addEventListener("pointerover", (event) => {
    const made = chipOf(event);
    if (made && !pinned && made !== now) activate(made);
  });
  root.addEventListener("pointerleave", () => {
    if (!pinned && now !== document.activeElement) activate(null);
  });
  root.addEventListener("focusin", (event) => {
    const made = chipOf(event);
    if (made && made !== now) activate(made);
  });
  root.addEventListener("click", (event) => {
    const made = chipOf(event);
    if (!made) return;
    const again = made.classList.contains("pinned");
    step(made);
    activate(again ? null : made, !again);
  });
  root.addEventListener("keydown", (event) => {
    const made = chipOf(event);
    if (!made || event.altKey || event.ctrlKey || event.metaKey) return;
    const next = target(made, event.key);
    if (next) step(next);
    else if (event.key === "Enter" || event.key === " ") activate(made, !made.classList.contains("pinned"));
    else if (event.key === "Escape") activate(made);
    else return;
    event.preventDefault();
  });

  function step(made) {
    for (const one of made.parentElement.querySelectorAll('[tabindex="0"]')) one.tabIndex = -1;
    made.tabIndex = 0;
    made.focus();
  }

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && pinned && !chipOf(event)) activate(null);
  });
  return { clear: () => activate(null) };
}

/** The chip that a key leads to. */
function target(made, key) {
  const list = made.parentElement;
  if (key === "ArrowRight") return made.nextElementSibling ?? made;
  if (key === "ArrowLeft") return made.previousElementSibling ?? made;
  if (key === "Home") return list.firstElementChild;
  if (key === "End") return list.lastElementChild;
  if (key === "ArrowDown") return inLine(made, "nextElementSibling");
  if (key === "ArrowUp") return inLine(made, "previousElementSibling");
  return null;
}

/** The chip of the next line (or the one before) that is nearest from left to right. */
function inLine(made, way) {
  const from = made.getClientRects()[0];
  let best = made;
  let line = null;
  for (let one = made[way]; one; one = one[way]) {
    const at = one.getClientRects()[0];
    if (Math.abs(at.top - from.top) < from.height / 2) continue;
    if (line !== null && Math.abs(at.top - line) > from.height / 2) break;
    line ??= at.top;
    const nearer = Math.abs(at.left - from.left) < Math.abs(best.getClientRects()[0].left - from.left);
    if (best === made || nearer) best = one;
  }
  return best;
}

// --- What a token is -------------------------------------------------------------------------

/** A token and what it is made of, as nested lists that the style sheet draws as rows of boxes. */
export function tree(tokens, id) {
  const token = tokens[id];
  const item = make("li", {}, plainChip(token.text, token.born, token.letter));
  item.style.flexGrow = Math.max(1, token.text.length);
  if (token.parts.length) item.append(make("ul", {}, ...token.parts.map((part) => tree(tokens, part))));
  return item;
}

/** Write the facts of a token into a panel. `rows` are more of them: [name, value]. */
export function tell(panel, name, tokens, id, joined, meanings, rows, close) {
  const token = tokens[id];
  const facts = [["id", String(id)], ["born", `${token.letter} ${token.born}, ${meanings[token.born] ?? "of another origin"}`]];
  if (token.count !== null) facts.push(["count when made", token.count.toLocaleString("en")]);
  const list = make("dl");
  for (const [term, value] of [...facts, ...rows]) list.append(make("div", {}, make("dt", {}, term), make("dd", {}, value)));
  const title = make("p", { class: "title" }, plainChip(token.text, token.born, token.letter), make("span", { class: "of" }, name));
  const closing = make("button", { type: "button", class: "close" }, "Close");
  closing.addEventListener("click", close);
  panel.replaceChildren(closing, title, list);
  if (!token.parts.length) return;
  const how = joined ? "Joined from" : "Other tokens that spell it";
  panel.append(make("h3", {}, how), make("div", { class: "tree", tabindex: "0", role: "group", "aria-label": how },
    make("ul", {}, tree(tokens, id))));
}
