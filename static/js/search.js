// The key "/" leads to the search field from anywhere but another field.
(() => {
  "use strict";
  const isWriting = (element) =>
    element.isContentEditable || element.matches("input, select, textarea");

  document.addEventListener("keydown", (event) => {
    const field = document.getElementById("site-search");
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!field || isWriting(event.target)) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
})();
