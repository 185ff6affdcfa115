// The ranking cursor: a line across the chart that is dragged, clicked or stepped.
(() => {
  "use strict";
  const STEPS = 100; // arrow keys move by a hundredth of what is shown
  const SLOP = 4; // px that a click may move before it is a zoom

  class Cursor {
    // `chosen(at)` is called with a new value once the reader has let go.
    constructor(chart, handle, at, chosen) {
      this.chart = chart;
      this.handle = handle;
      this.value = handle.querySelector("[data-cursor-value]");
      this.at = at;
      this.chosen = chosen;
      this.bind();
      this.show();
    }

    get axis() {
      return this.chart.plot._fullLayout.xaxis;
    }

    // Three digits are finer than a pixel.
    rounded(value) {
      return Number(value.toPrecision(3));
    }

    valueAt(clientX) {
      const { left } = this.chart.plot.getBoundingClientRect();
      const place = clientX - left - this.axis._offset;
      return this.rounded(this.axis.p2d(Math.min(Math.max(place, 0), this.axis._length)));
    }

    show() {
      const { handle, at, axis } = this;
      const ends = [0, axis._length].map((place) => axis.p2d(place));
      const low = Math.max(Math.min(...ends), 0);
      const high = Math.max(...ends);
      const shown = at === null ? low : at;
      handle.setAttribute("aria-valuemin", String(this.rounded(low)));
      handle.setAttribute("aria-valuemax", String(this.rounded(high)));
      handle.setAttribute("aria-valuenow", String(shown));
      handle.setAttribute("aria-valuetext", at === null ? "not set" : String(at));
      const place = axis.d2p(shown);
      handle.hidden = !(place >= 0 && place <= axis._length);
      handle.classList.toggle("is-set", at !== null);
      const { yaxis } = this.chart.plot._fullLayout;
      handle.style.left = `${axis._offset + place}px`;
      handle.style.top = `${yaxis._offset}px`;
      handle.style.height = `${yaxis._length}px`;
      this.value.textContent = at === null ? "" : String(at);
    }

    move(at) {
      if (!(at > 0)) return;
      this.at = at;
      this.show();
    }

    clear(at) {
      this.at = at;
      this.show();
    }

    bind() {
      const { handle, chart } = this;
      handle.addEventListener("pointerdown", (event) => {
        handle.setPointerCapture(event.pointerId);
        event.preventDefault();
        handle.focus();
      });
      handle.addEventListener("pointermove", (event) => {
        if (handle.hasPointerCapture(event.pointerId)) this.move(this.valueAt(event.clientX));
      });
      handle.addEventListener("pointerup", () => this.chosen(this.at));
      handle.addEventListener("keydown", (event) => this.step(event));
      this.bindClick(chart.plot);
    }

    // Plotly tells of clicks on points only, so a press and release in place counts.
    bindClick(plot) {
      let pressed = null;
      const isInside = (event) => event.target.closest(".draglayer .nsewdrag") !== null;
      plot.addEventListener("mousedown", (event) => {
        pressed = event.button === 0 && isInside(event) ? event : null;
      }, true);
      plot.addEventListener("click", (event) => this.click(pressed, event), true);
      // While plotly looks for a drag, a cover takes the release.
      window.addEventListener("mouseup", (event) => {
        if (pressed && plot.isConnected) this.click(pressed, event);
        pressed = null;
      }, true);
    }

    click(pressed, event) {
      if (!pressed || event.detail > 1) return;
      const far = Math.hypot(event.clientX - pressed.clientX, event.clientY - pressed.clientY);
      if (far > SLOP) return;
      this.move(this.valueAt(event.clientX));
      this.chosen(this.at);
    }

    step(event) {
      const [low, high] = [0, this.axis._length].map((place) => this.axis.p2d(place));
      const size = this.rounded((high - low) / STEPS);
      const from = this.at === null ? Math.max(low, 0) : this.at;
      const steps = {
        ArrowRight: from + size, ArrowUp: from + size,
        ArrowLeft: from - size, ArrowDown: from - size,
        PageUp: from + 10 * size, PageDown: from - 10 * size,
        Home: Math.max(low, size), End: high,
      };
      if (!(event.key in steps)) return;
      event.preventDefault();
      this.move(this.rounded(steps[event.key]));
      this.chosen(this.at);
    }
  }

  window.Frontierboard = { ...window.Frontierboard, Cursor };
})();
