// Copies a table as Markdown, or a link, and says so to who sees it and who hears it.
// Without a script, or where the browser gives no clipboard, the links open the same.
(() => {
  "use strict";
  const SHOWN_MS = 2500;
  if (!navigator.clipboard) return;

  const status = document.createElement("p");
  status.className = "visually-hidden";
  status.setAttribute("role", "status");
  document.body.append(status);

  const say = (button, text) => {
    const shown = button.firstChild;
    button.dataset.label ??= shown.textContent;
    shown.textContent = text;
    status.textContent = text; // stays: who hears it may be slower than the label
    setTimeout(() => { shown.textContent = button.dataset.label; }, SHOWN_MS);
  };

  const tableText = async (address) => {
    const answer = await fetch(address, { headers: { Accept: "text/markdown" } });
    if (!answer.ok) throw new Error(`${answer.status}`);
    return answer.text();
  };

  // A promise, as some browsers forget the click while the table is fetched.
  const write = (text) => {
    if (!window.ClipboardItem) return text.then((t) => navigator.clipboard.writeText(t));
    const blob = text.then((t) => new Blob([t], { type: "text/plain" }));
    return navigator.clipboard.write([new window.ClipboardItem({ "text/plain": blob })]);
  };

  const copy = async (button, text, done) => {
    status.textContent = ""; // the same words again are news too
    try {
      await write(text);
      say(button, done);
    } catch {
      say(button, "Not copied: open the link instead");
    }
  };

  document.addEventListener("click", (event) => {
    const table = event.target.closest("[data-copy-table]");
    const link = event.target.closest("[data-copy-link]");
    if (table) {
      const files = table.closest("[data-table-files]");
      const file = files.querySelector("[data-markdown]");
      if ("follows" in file.dataset) file.search = window.location.search;
      copy(table, tableText(file.href), "Table copied");
    } else if (link) {
      const { href } = link.closest("[data-permalink]").querySelector("a");
      copy(link, Promise.resolve(href), "Link copied");
    }
  });
})();
