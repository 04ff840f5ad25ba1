// ---- the run of the solver: stepped, played, and raced.
const Run = {
  at() { return this.state.moment < 0 ? this.best ? this.best.count - 1 : 0 : this.state.moment; },
  goTo(k) {
    if (!this.playing) this.stop();
    if (!this.best) return;
    const last = this.best.count - 1;
    this.state.moment = k >= last ? -1 : Math.max(0, k);
    this.ask();
  },
  toggle() {
    if (this.playing) return this.stop();
    const step = () => {
      if (!this.playing) return;
      if (this.best && this.asked && !this.busy()) {
        if (this.state.moment < 0) return this.stop();
        this.goTo(this.at() + Math.max(1, Math.round(this.best.count / 160)));
      }
      this.playing = w.setTimeout(step, w.matchMedia('(prefers-reduced-motion: reduce)').matches ? 10 * L.limits.step : L.limits.step);
    };
    this.playing = w.setTimeout(step, 30);
    if (this.at() >= (this.best ? this.best.count : 1) - 1) this.goTo(0);
    this.playLooks('pause', 'Pause');
  },
  busy() { return !this.answer || this.answer.asked !== this.asked; },
  stop() {
    if (this.playing) w.clearTimeout(this.playing);
    this.playing = 0;
    this.playLooks('play', 'Play the run');
  },
  playLooks(icon, label) {
    this.play.setAttribute('aria-label', label);
    this.play.querySelector('path').setAttribute('d', ICONS[icon]);
  },
  stepping() { this.run.hidden = this.state.spec.task === 'process' || !this.best || this.best.count < 2; },
  drawGap() {
    this.stepping();
    if (this.run.hidden) return;
    const b = this.best, W = Math.max(200, this.width), H = 78, x0 = 46, at = this.at(), svg = this.gap, curves = this.raced || [{ samples: b.samples, count: b.count, colour: 'var(--accent)' }];
    this.moments.max = b.count - 1;
    this.moments.value = at;
    this.moments.setAttribute('aria-valuetext', 'iteration ' + b.samples[5 * at]);
    const shown = this.answer && !this.still ? this.answer : { primal: b.samples[5 * at + 3], dual: b.samples[5 * at + 4], gap: b.samples[5 * at + 1] };
    this.when.textContent = 'iteration ' + b.samples[5 * at] + ' of ' + b.samples[5 * (b.count - 1)] + ' · primal ' + num(shown.primal, 6) + ' · dual ' + num(shown.dual, 6) + ' · gap ' + num(shown.gap, 3);
    svg.textContent = '';
    svg.setAttribute('viewBox', '0 0 ' + W + ' ' + H);
    let low = Infinity, high = -Infinity, most = 1;
    curves.forEach(c => { for (let k = 0; k < c.count; k++) { const g = c.samples[5 * k + 1]; if (g > 0 && isFinite(g)) { low = Math.min(low, g); high = Math.max(high, g); } most = Math.max(most, c.samples[5 * k]); } });
    if (!(low < high)) { low = high / 10 || 0.1; high = high > 0 ? high : 1; }
    const l0 = Math.floor(Math.log10(low)), l1 = Math.ceil(Math.log10(high)), X = it => x0 + (W - x0 - 8) * Math.log1p(it) / Math.log1p(most), Y = g => 8 + (H - 26) * (l1 - Math.log10(Math.max(g, Math.pow(10, l0)))) / Math.max(1, l1 - l0);
    const text = (x, y, t, anchor) => { makeSVG(svg, 'text', { x: x, y: y, fill: 'var(--soft)', 'font-size': 11, 'text-anchor': anchor }).textContent = t; };
    for (let l = l0; l <= l1; l += Math.max(1, Math.ceil((l1 - l0) / 3))) {
      const y = Y(Math.pow(10, l));
      makeSVG(svg, 'path', { d: 'M' + x0 + ' ' + y + 'H' + (W - 8), stroke: 'var(--grid)' });
      text(x0 - 6, y + 4, num(Math.pow(10, l)), 'end');
    }
    text(x0, H - 2, 'duality gap over the iterations, both logarithmic', 'start');
    text(W - 8, H - 2, String(most), 'end');
    curves.forEach(c => {
      let d = '';
      for (let k = 0; k < c.count; k++) { const g = c.samples[5 * k + 1]; if (g > 0 && isFinite(g)) d += (d ? 'L' : 'M') + X(c.samples[5 * k]).toFixed(1) + ' ' + Y(g).toFixed(1); }
      makeSVG(svg, 'path', { d: d || 'M0 0', fill: 'none', stroke: c.colour, 'stroke-width': 2, 'stroke-linejoin': 'round' });
    });
    const g = b.samples[5 * at + 1];
    if (!this.raced && g > 0) makeSVG(svg, 'circle', { cx: X(b.samples[5 * at]), cy: Y(g), r: 4.5, fill: 'var(--accent)', stroke: 'var(--page)', 'stroke-width': 1.5 });
  },
  // race solves the problem by each solver, one after the other.
  race() {
    const st = this.state, names = st.spec.methods, out = [];
    this.raceButton.disabled = true;
    this.wake();
    this.hint.textContent = 'racing …';
    const next = () => {
      if (st !== this.state) { this.raceButton.disabled = false; return; }
      if (out.length === names.length) return this.raceDone(out);
      const name = names[out.length], q = question(Object.assign({}, st, { moment: -1 }), this.view, { method: name });
      q.numbers[ASKED.indexOf('limit')] = 2000;
      this.engine.ask({}, q.kernel, name, q.numbers, a => { out.push({ name: name, a: a }); next(); });
    };
    next();
  },
  raceDone(out) {
    this.raceButton.disabled = false;
    this.hint.hidden = true;
    const box = this.results, old = box.querySelector('.race');
    if (old) old.remove();
    const part = make(box, 'div', { class: 'race' }), table = make(part, 'table', { 'aria-label': 'Race of the solvers' }), head = make(make(table, 'thead'), 'tr'), body = make(table, 'tbody');
    ['solver', 'iterations', 'kernel values', 'gap', 'ms'].forEach(t => make(head, 'th', { scope: 'col' }, t));
    this.raced = [];
    out.forEach((o, k) => {
      const tr = make(body, 'tr'), th = make(tr, 'th', { scope: 'row' }), colour = this.colours['series' + k % 8];
      make(th, 'span', { class: 'swatch' }).style.background = colour;
      th.append(o.name);
      if (o.a.error) make(tr, 'td', { colspan: 4 }, o.a.error);
      else {
        [o.a.iterations, o.a.evaluations, num(o.a.gap, 3), o.a.millis.toFixed(1)].forEach(v => make(tr, 'td', {}, String(v)));
        this.raced.push({ samples: o.a.samples, count: o.a.trace, colour: colour });
      }
    });
    this.said.textContent = 'The race is over; its table is below the figure.';
    this.drawGap();
    this.button(part, 'Close the race', '', () => { part.remove(); this.raced = null; this.drawGap(); });
  }
};
