// A drawer beside the page: it takes the focus, closes, and gives the focus back.
(() => {
  "use strict";
  const drawer = document.getElementById("drawer");
  let opener = null;

  const close = () => {
    drawer.replaceChildren();
    if (opener) opener.focus();
    opener = null;
  };

  document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.detail.target === drawer && !drawer.contains(event.detail.elt)) {
      opener = event.detail.elt;
    }
  });
  // An answer that comes after the drawer was closed does not open it again.
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.target === drawer && !opener) event.detail.shouldSwap = false;
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target !== drawer) return;
    drawer.scrollTop = 0;
    drawer.focus();
  });
  drawer.addEventListener("click", (event) => {
    if (event.target.closest("[data-close-drawer]")) close();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && drawer.hasChildNodes()) close();
  });
})();
