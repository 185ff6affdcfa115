// Draws the charts of a key, lights the rows of what is hovered, saves pictures.
(() => {
  "use strict";
  const { Chart } = window.Frontierboard;

  const light = (holder, id, on) => {
    const table = document.querySelector(`[data-rows="${holder.dataset.figure}"]`);
    const row = table && table.querySelector(`tr[data-point="${id}"]`);
    if (row) row.classList.toggle("is-lit", on);
  };

  const bindZoom = (chart, part) => {
    const button = part.querySelector("[data-reset-zoom]");
    // Given only where there is one date, and one value.
    const { xaxis: { range }, yaxis: { range: high } } = chart.figure.layout;
    const reset = async () => {
      const x = range ? { "xaxis.range": range } : { "xaxis.autorange": true };
      const y = high ? { "yaxis.range": high } : { "yaxis.autorange": true };
      await window.Plotly.relayout(chart.plot, { ...x, ...y });
      button.hidden = true;
    };
    chart.plot.on("plotly_relayout", (change) => {
      const isZoom = Object.keys(change).some((name) => name.includes(".range["));
      if (isZoom) button.hidden = false;
    });
    chart.plot.on("plotly_doubleclick", reset);
    button.addEventListener("click", reset);
  };

  const bindExports = (chart, part) => {
    for (const button of part.querySelectorAll("[data-export]")) {
      button.hidden = false;
      button.addEventListener("click", () =>
        chart.save(button.dataset.export, null, chart.holder.dataset.filename));
    }
  };

  const bindHover = (chart) => {
    const lit = (on) => (event) =>
      event.points.forEach((point) => light(chart.holder, point.customdata[0], on));
    chart.plot.on("plotly_hover", lit(true));
    chart.plot.on("plotly_unhover", lit(false));
    // Only the points of the frontier chart have a page of their own.
    if (chart.holder.dataset.figure !== "frontier-figure") return;
    chart.plot.on("plotly_click", (event) =>
      window.location.assign(`/points/${event.points[0].customdata[0]}`));
  };

  const enter = async (holder) => {
    holder.dataset.entered = "";
    const chart = new Chart(holder, new Set());
    const part = holder.closest(".chart");
    chart.plot.replaceChildren();
    await chart.refresh();
    bindZoom(chart, part);
    bindExports(chart, part);
    bindHover(chart);
    document.addEventListener("themechange", () => chart.refresh());
    chart.plot.dataset.drawn = "";
  };

  // Only the questions that the chosen history asks; without a script all are shown.
  const bindAsk = (form) => {
    const choice = form.querySelector("[data-chooses]");
    const show = () => {
      for (const field of form.querySelectorAll("[data-for]")) {
        field.hidden = field.dataset.for !== choice.value;
        for (const input of field.querySelectorAll("input, select")) {
          input.disabled = field.hidden;
        }
      }
    };
    choice.addEventListener("change", show);
    // After tidy.js has made every field usable again.
    window.addEventListener("pageshow", show);
    show();
  };

  const enterAll = () =>
    document.querySelectorAll("[data-figure]:not([data-entered])").forEach(enter);

  enterAll();
  // A part of the page may come anew, with its charts.
  document.addEventListener("htmx:afterSettle", enterAll);
  document.querySelectorAll(".key-ask").forEach(bindAsk);
})();
