// ---- the points: where they are, and what a hand or a key does with them.
const Points = {
  glyph(g, kind, r) {
    makeSVG(g, 'circle', { class: 'reach', r: 15 });
    makeSVG(g, 'circle', { class: 'focus', r: r + 8 });
    if (kind.startsWith('class')) makeSVG(g, 'path', { class: 'mark', d: 'M' + symbol(+kind.slice(5), r).map(q => q.map(v => v.toFixed(2)).join(' ')).join('L') + 'Z' });
    else if (kind === 'pos') makeSVG(g, 'path', { class: 'mark', d: 'M0 ' + -(r + 1) + 'L' + (r + 1) + ' 0 0 ' + (r + 1) + ' ' + -(r + 1) + ' 0Z' });
    else if (kind !== 'none') makeSVG(g, 'circle', { class: 'mark', r: r });
    makeSVG(g, 'circle', { class: 'ring', r: r + 3.2 });
    const c = r + 3.5, k = 0.4 * c;
    makeSVG(g, 'path', { class: 'cross', d: [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(q => 'M' + q[0] * c + ' ' + q[1] * c + 'L' + q[0] * k + ' ' + q[1] * k).join('') });
  },
  placeAll() {
    if (!this.width) return;
    const focused = this.dots ? this.dots.indexOf(this.shadowRoot.activeElement) : -1, r = this.radius();
    this.svg.textContent = '';
    this.dots = this.state.points.map((p, i) => {
      const g = makeSVG(this.svg, 'g', { role: 'button', tabindex: i === 0 ? 0 : -1 });
      this.glyph(g, this.kindOf(p), r);
      g.setAttribute('class', 'point ' + this.kindOf(p));
      g.dataset.i = i;
      return g;
    });
    this.state.points.forEach((p, i) => this.put(i));
    if (focused >= 0 && this.dots.length) this.focusPoint(Math.min(focused, this.dots.length - 1));
    this.inherit();
  },
  put(i) {
    const p = this.state.points[i], c = this.to(p.x, this.vertical(p));
    this.dots[i].setAttribute('transform', 'translate(' + c[0].toFixed(1) + ' ' + c[1].toFixed(1) + ')');
    this.label(i);
  },
  label(i) {
    const p = this.state.points[i], where = num(p.x, 3) + ', ' + num(this.vertical(p), 3);
    this.dots[i].setAttribute('aria-label', 'point ' + i + (this.named(p) ? ', class ' + this.named(p) : '') + ', at ' + where + (this.rested() ? ', ' + this.kkt(i).join(', ') : ''));
  },
  named(p) { const s = this.state.spec; return s.scheme || labelled(s) ? s.classes[classOf(s, p)] : ''; },
  focusPoint(i) {
    this.dots.forEach((g, k) => g.setAttribute('tabindex', k === i ? 0 : -1));
    this.dots[i].focus({ preventScroll: true });
  },
  from(px, py) {
    const v = this.view, b = this.box, snap = (x, e) => { const unit = Math.pow(10, Math.floor(Math.log10(e[1] - e[0])) - 3); return +(Math.round(x / unit) * unit).toPrecision(12); };
    const clip = t => Math.max(0, Math.min(1, t));
    return [snap(v.xs[0] + clip((px - b.x) / b.w) * (v.xs[1] - v.xs[0]), v.xs), snap(v.ys[0] + clip((b.y + b.h - py) / b.h) * (v.ys[1] - v.ys[0]), v.ys)];
  },
  moveTo(i, x, y) {
    const p = this.state.points[i];
    p.x = x;
    if (this.state.spec.d > 1) p.x2 = y; else p.y = y;
    this.put(i);
  },
  keep() { // for Undo
    this.undone.push(this.state.points.map(p => Object.assign({}, p)));
    if (this.undone.length > 50) this.undone.shift();
    this.undo.disabled = false;
    this.end();
  },
  back() {
    if (!this.undone.length) return;
    this.end();
    this.state.points = this.undone.pop();
    this.undo.disabled = !this.undone.length;
    this.placeAll();
    this.ask();
  },
  end() { // a change of the data ends the look at a moment
    this.stop();
    this.state.moment = -1;
  },
  add(x, y, label) {
    if (this.state.points.length >= 2000) return;
    const s = this.state.spec;
    this.state.points.push(Object.assign(s.d > 1 ? { x: x, x2: y, y: label, from: -1 } : { x: x, x2: 0, y: y, from: -1 }, s.weights ? { w: s.weight } : {}));
    this.answer = null;
    this.placeAll();
  },
  remove(i) {
    if (this.state.points.length < 3) return;
    this.keep();
    this.state.points.splice(i, 1);
    this.answer = null;
    this.placeAll();
    this.ask();
  },
  flip(i) {
    const s = this.state.spec, p = this.state.points[i];
    if (!labelled(s) && !s.scheme) return;
    this.keep();
    p.y = s.scheme ? (p.y + 1) % s.classes.length : -p.y;
    this.placeAll();
    this.ask();
  },
  shake(list) {
    const normal = () => Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
    list.forEach(i => {
      const c = this.to(this.state.points[i].x, this.vertical(this.state.points[i])), s = 0.012 * this.box.w, q = this.from(c[0] + s * normal(), c[1] + s * normal());
      this.moveTo(i, q[0], q[1]);
    });
  },
  adds() { // the label that the tool gives to new points; null if it places none
    return this.tool === 'pos' ? 1 : this.tool === 'neg' ? -1 : this.tool.startsWith('class') ? +this.tool.slice(5) : null;
  },
  near(px, py, reach) { // the point nearest to a place, or −1
    let best = -1, least = reach * reach;
    this.state.points.forEach((p, i) => {
      const c = this.to(p.x, this.vertical(p)), d = (c[0] - px) * (c[0] - px) + (c[1] - py) * (c[1] - py);
      if (d <= least) { least = d; best = i; }
    });
    return best;
  },

  // ---- pointer and keys.
  pointers() {
    const svg = this.svg, place = e => { const r = svg.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
    let held = -1, spraying = false, offset = [0, 0];
    svg.addEventListener('pointerdown', e => {
      if (e.button) return;
      const c = place(e), i = this.near(c[0], c[1], e.pointerType === 'mouse' ? 12 : 22);
      if (this.tool === 'spray') {
        this.keep();
        spraying = true;
        svg.setPointerCapture(e.pointerId);
        return;
      }
      const label = this.adds();
      if (label !== null) {
        if (c[0] < this.box.x || c[0] > this.box.x + this.box.w || c[1] < this.box.y || c[1] > this.box.y + this.box.h) return;
        this.keep();
        const q = this.from(c[0], c[1]);
        this.add(q[0], q[1], label);
        this.focusPoint(this.state.points.length - 1);
        this.ask();
        e.preventDefault();
        return;
      }
      if (i < 0) return;
      e.preventDefault();
      this.focusPoint(i);
      if (this.tool === 'flip') return this.flip(i);
      if (this.tool === 'delete') return this.remove(i);
      this.keep();
      held = i;
      const p = this.state.points[i], at = this.to(p.x, this.vertical(p));
      offset = [at[0] - c[0], at[1] - c[1]];
      this.dots[i].classList.add('held');
      svg.setPointerCapture(e.pointerId);
      this.wake();
    });
    svg.addEventListener('pointermove', e => {
      const c = place(e);
      if (held >= 0) {
        const q = this.from(c[0] + offset[0], c[1] + offset[1]);
        this.moveTo(held, q[0], q[1]);
        this.point(-1);
        return this.ask(true);
      }
      if (spraying) {
        const all = this.state.points.map((p, i) => i).filter(i => { const at = this.to(this.state.points[i].x, this.vertical(this.state.points[i])); return Math.hypot(at[0] - c[0], at[1] - c[1]) < 45; });
        this.shake(all);
        if (all.length) this.ask(true);
        return;
      }
      if (e.pointerType === 'mouse') this.point(this.near(c[0], c[1], 12));
    });
    const up = () => {
      if (held < 0 && !spraying) return;
      if (held >= 0 && this.dots[held]) this.dots[held].classList.remove('held');
      held = -1;
      spraying = false;
      this.ask();
    };
    // A finger on a point drags it; elsewhere it scrolls the page. touch-action of a part of
    // an SVG is not known to all browsers.
    svg.addEventListener('touchstart', e => {
      const c = place(e.touches[0]);
      if (e.cancelable && (this.tool === 'spray' || this.near(c[0], c[1], 22) >= 0)) e.preventDefault();
    }, { passive: false });
    svg.addEventListener('pointerup', up);
    svg.addEventListener('pointercancel', up);
    svg.addEventListener('pointerleave', () => this.point(-1));
    // On the SVG itself, these two would make it take the focus.
    this.plot.addEventListener('focusin', e => {
      const g = e.target.closest('.point');
      if (g && held < 0) this.point(+g.dataset.i);
    });
    this.plot.addEventListener('focusout', () => this.point(-1));
    svg.addEventListener('keydown', e => this.pressed(e));
    svg.addEventListener('keyup', e => { if (e.key.startsWith('Arrow')) this.ask(); });
  },
  pressed(e) {
    const g = e.target.closest('.point');
    if (!g || e.ctrlKey || e.metaKey || e.altKey) return;
    const i = +g.dataset.i, n = this.state.points.length, p = this.state.points[i], s = e.shiftKey ? 0.04 : 0.008;
    const d = { ArrowLeft: [-s, 0], ArrowRight: [s, 0], ArrowUp: [0, s], ArrowDown: [0, -s] }[e.key];
    if (d) {
      if (!e.repeat) this.keep();
      const c = this.to(p.x, this.vertical(p)), q = this.from(c[0] + d[0] * this.box.w, c[1] - d[1] * this.box.w);
      this.moveTo(i, q[0], q[1]);
      this.point(i);
      this.ask(true);
    } else if (e.key === 'n' || e.key === 'p') this.focusPoint((i + (e.key === 'n' ? 1 : n - 1)) % n);
    else if (e.key === 'Home') this.focusPoint(0);
    else if (e.key === 'End') this.focusPoint(n - 1);
    else if (e.key === 'Enter' || e.key === ' ') this.flip(i);
    else if (e.key === 'Delete' || e.key === 'Backspace') this.remove(i);
    else if (e.key === '+' || e.key === 'a') {
      this.keep();
      const c = this.to(p.x, this.vertical(p)), q = this.from(c[0] + 18, c[1] - 12);
      this.add(q[0], q[1], p.y);
      this.focusPoint(n);
      this.ask();
    } else if (e.key === 'Escape') this.point(-1);
    else return;
    e.preventDefault();
  },
  // point shows what is known of a point: its multiplier and the state of its KKT condition.
  point(i) {
    if (i < 0 || !this.answer || this.answer.n !== this.state.points.length) {
      this.tip.hidden = true;
      return;
    }
    const p = this.state.points[i], c = this.to(p.x, this.vertical(p)), lines = ['point ' + i + (this.named(p) ? ' · ' + this.named(p) : '') + ' · (' + num(p.x) + ', ' + num(this.vertical(p)) + ')'].concat(this.kkt(i));
    this.tip.textContent = '';
    lines.forEach(t => make(this.tip, 'p', {}, t));
    this.tip.hidden = false;
    const wide = this.tip.offsetWidth, high = this.tip.offsetHeight;
    this.tip.style.left = Math.max(0, Math.min(this.width - wide, c[0] > this.width / 2 ? c[0] - wide - 14 : c[0] + 14)) + 'px';
    this.tip.style.top = Math.max(0, Math.min(this.height - high, c[1] - high / 2)) + 'px';
  },
  kkt(i) {
    const a = this.answer, p = this.state.points[i], s = this.state.spec;
    if (s.scheme) return this.duels(i);
    const alpha = a.alpha[i], f = a.f[i], most = bound(this.state, i);
    const kind = this.support(i), names = ['no support vector', 'free support vector', 'at the bound'];
    if (s.task === 'process') return ['mean ' + num(f), 'residual ' + num(p.y - f)];
    if (s.task === 'squared') return ['β = ' + num(alpha), 'residual ' + num(p.y - f) + ', wants β = C (residual ∓ ε), C = ' + num(weighted(s) ? costOf(this.state, p, []) : cost(this.state))];
    if (tubed(s)) return ['β = ' + num(alpha) + ', bound ±' + num(most), 'residual ' + num(p.y - f) + ', tube ±' + num(a.epsilon), ['inside the tube', 'on the edge of the tube', 'outside, at the bound'][kind]];
    const yf = (s.task === 'oneclass' ? 1 : p.y) * f, edge = s.task === 'oneclass' ? 0 : s.task === 'twonorm' ? 1 - alpha / (weighted(s) ? costOf(this.state, p, counts(this.state)) : cost(this.state)) : 1, name = s.task === 'oneclass' ? 'f' : 'y·f';
    const off = kind === 0 ? Math.max(0, edge - yf) : kind === 1 ? Math.abs(edge - yf) : Math.max(0, yf - edge);
    return ['α = ' + num(alpha) + (most < Infinity ? ' of at most ' + num(most) : ''), names[kind] + ': wants ' + name + ' ' + ['≥ ', '= ', '≤ '][kind] + num(edge), name + ' = ' + num(yf) + (off > 1e-12 ? ', off by ' + num(off, 2) : '') + (yf < 0 ? s.task === 'oneclass' ? ', outside' : ', an error' : '')];
  },
  // duels says what the machines of several classes make of a point.
  duels(i) {
    const a = this.answer, s = this.state.spec, p = this.state.points[i], m = a.machines, lines = ['predicted: ' + s.classes[a.f[i]] + (this.wrong(i) ? ', an error' : '')], said = [];
    const pairs = [];
    if (s.scheme === 'pairs') for (let k = 0; k < s.classes.length; k++) for (let l = k + 1; l < s.classes.length; l++) pairs.push([k, l]);
    for (let k = 0; k < m; k++) {
      const alpha = a.alpha[i * m + k], f = a.values[i * m + k], name = pairs.length ? s.classes[pairs[k][0]] + '/' + s.classes[pairs[k][1]] : s.classes[k];
      if (!alpha || isNaN(alpha)) continue;
      const positive = pairs.length ? p.y === pairs[k][0] : p.y === k;
      said.push(name + ': α = ' + num(alpha) + (s.scheme === 'joint' ? ', f = ' + num(f) : ', y·f = ' + num(positive ? f : -f)));
    }
    return lines.concat(said.length ? said.slice(0, 4) : ['no support vector of any machine'], said.length > 4 ? ['and ' + (said.length - 4) + ' more'] : []);
  }
};
