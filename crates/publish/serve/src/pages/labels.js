// Opens the form for the labels of a run below its row; without scripts, or in a narrow window, the
// link leads to a page.
document.addEventListener("click", async (event) => {
  const link = event.target.closest("a.edit");
  const row = link?.closest("tr");
  // A narrow window has no room for it within the list.
  if (!row || innerWidth < 768) return;
  event.preventDefault();
  if (row.nextElementSibling?.classList.contains("edited")) {
    row.nextElementSibling.remove();
    return;
  }
  const answer = await fetch(link.href);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const form = page.querySelector("form.labels") ?? page.querySelector("main");
  const cell = document.createElement("td");
  cell.colSpan = row.cells.length;
  const below = document.createElement("tr");
  below.className = "edited";
  below.append(cell);
  row.after(below);
  // A form within the form of the comparison would be part of that one.
  for (const field of form.querySelectorAll("input, button")) field.setAttribute("form", "labels");
  const own = document.getElementById("labels") ?? document.createElement("form");
  own.id = "labels";
  own.method = "post";
  own.action = form.getAttribute("action") ?? link.href;
  document.body.append(own);
  cell.append(...form.childNodes);
  cell.querySelector("input")?.focus();
});
