// A page that stands alone: its tokens are in the page, and so is what they are made of.

const facts = JSON.parse(document.getElementById("facts").textContent);
const panel = document.getElementById("detail");
const hint = panel.firstElementChild;
panel.hidden = false;
for (const list of document.querySelectorAll(".tokens")) adopt(list);
const walking = walk(document.getElementById("cards"), (made, meant) => {
  panel.classList.toggle("floating", meant);
  if (!made) return panel.replaceChildren(hint);
  const place = +made.closest("[data-card]").dataset.card;
  const card = facts.cards[place];
  const number = [...made.parentElement.children].indexOf(made) + 1;
  const where = `token ${number.toLocaleString("en")}, characters ${+made.dataset.s + 1} to ${made.dataset.e}`;
  tell(panel, `${card.letter} ${card.name}`, card.tokens, +made.dataset.i, card.joined, facts.meanings, [["place", where]], () => walking.clear());
});
