// Works through the list of regressions with the keyboard. Without it the same is done
// with links, boxes and the form below.
(() => {
  "use strict";
  const rows = [...document.querySelectorAll("[data-row]")];
  const help = document.querySelector("[data-keyboard-help]");
  const form = document.querySelector("[data-triage]");
  const state = document.getElementById("triage_state");
  const note = document.getElementById("triage_note");
  if (!rows.length) return;

  const states = {};
  if (state) {
    for (const key of help.querySelectorAll("[data-state-key]")) {
      states[key.textContent] = key.dataset.stateKey;
    }
  }
  help.hidden = false;

  const current = () => rows.indexOf(document.activeElement.closest("[data-row]"));
  const box = (row) => row.querySelector("input[type=checkbox]");
  const selected = () => rows.filter((row) => box(row) && box(row).checked);

  const count = () => {
    const shown = form.querySelector("[data-selected]");
    const number = selected().length;
    if (shown) shown.textContent = number ? `${number} selected` : "the selected";
  };

  const go = (step) => {
    const from = current();
    const to = from < 0 ? 0 : Math.min(Math.max(from + step, 0), rows.length - 1);
    rows[to].focus();
  };

  const toggle = (row) => {
    if (!row || !box(row)) return;
    box(row).checked = !box(row).checked;
    count();
  };

  // The state is chosen and the note is asked for; Enter there stores.
  let left = null;
  const decide = (value, row) => {
    if (!selected().length) {
      if (!row) return;
      box(row).checked = true;
      count();
    }
    left = row;
    state.value = value;
    note.focus();
  };

  const act = (key) => {
    const row = rows[current()];
    if (key === "j") go(1);
    else if (key === "k") go(-1);
    else if (key === "x") toggle(row);
    else if (key === "Enter" && row) row.querySelector("[data-open]").click();
    else if (key in states) decide(states[key], row);
    else return false;
    return true;
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target;
    if (target === note && event.key === "Escape") {
      (left || rows[0]).focus();
      return;
    }
    // Fields, links and buttons keep their own keys; boxes only the space bar.
    const isBox = target.matches("input[type=checkbox]");
    if (target.matches("input, select, textarea") && !isBox) return;
    if (event.key === "Enter" && !target.matches("[data-row]")) return;
    if (act(event.key)) event.preventDefault();
  });

  if (form) form.addEventListener("change", count);
})();
