// ---- the picture, without the page: what a pen draws of a state and its answer.
const Picture = {
  heading() { // the result in words
    const a = this.answer, st = this.state, s = st.spec, n = st.points.length;
    if (!a) return several(n, 'point');
    let free = 0, bound = 0, wrong = 0;
    if (s.scheme) {
      let carry = 0;
      for (let i = 0; i < n; i++) { carry += this.support(i) > 0; wrong += this.wrong(i); }
      return several(s.classes.length, 'class', 'classes') + ': ' + carry + ' of ' + several(n, 'point') + ' carry the boundaries; ' + several(wrong, 'error');
    }
    for (let i = 0; i < n; i++) {
      const k = this.support(i);
      free += k === 1;
      bound += k === 2;
      wrong += this.wrong(i);
    }
    return {
      twonorm: () => free + ' of ' + several(n, 'point') + ' carry the boundary; ' + several(wrong, 'error'),
      classify: () => free + bound ? free + bound + ' of ' + several(n, 'point') + ' carry the boundary: ' + free + ' free, ' + bound + ' at the bound; ' + several(wrong, 'error') : 'No support vectors yet: f is constant on ' + several(n, 'point'),
      oneclass: () => free + bound + ' of ' + several(n, 'point') + ' carry the region; ' + wrong + ' outside',
      hard: () => free + ' of ' + several(n, 'point') + ' carry the boundary, none inside the margin',
      regress: () => free + bound + ' of ' + several(n, 'point') + ' carry the curve: ' + free + ' on the edge of the tube, ' + bound + ' outside',
      squared: () => free + ' of ' + several(n, 'point') + ' carry the curve',
      process: () => 'Posterior of ' + several(n, 'point') + ': log marginal likelihood ' + num(a.evidence, 5)
    }[{ nu: 'classify', nuregress: 'regress' }[s.task] || s.task]();
  },
  wrong(i) { return this.state.spec.scheme ? this.answer.f[i] !== this.state.points[i].y : labelled(this.state.spec) ? this.state.points[i].y * this.answer.f[i] < 0 : this.state.spec.task === 'oneclass' && this.answer.f[i] < 0; },
  setting() { // data, kernel and parameters in words
    const a = this.answer, st = this.state, s = st.spec, v = num(cost(st)), e = num(epsilonOf(st));
    const C = isRidge(s) ? 'ridge, λ = ' + num(dialValue(st, 'lambda')) : { classify: 'C = ' + v, twonorm: '2-norm margin, C = ' + v, nu: 'ν = ' + v, hard: 'maximal margin', oneclass: 'ν = ' + v, regress: 'C = ' + v + ' · ε = ' + e,
      squared: 'quadratic loss, C = ' + v + ' · ε = ' + e, nuregress: 'C = ' + v + ' · ν = ' + e + (a ? ' · ε = ' + num(a.epsilon) : ''), process: s.weights ? 'noise of each point' : 'noise variance ' + v }[s.task];
    const more = (s.scheme ? ' · ' + SCHEMES[s.scheme][0] : '') + (s.balanced ? ' · balanced' : '') + (s.classWeights ? ' · class weights' : '') + (s.weights && s.task !== 'process' ? ' · weights' : '') + (s.tau2 ? ' · augmented' : s.bias !== undefined ? ' · bias ' + num(s.bias) : '') + (s.zeroMean ? ' · mean 0' : '') + (s.scaled ? ' · targets scaled' : '');
    return (s.label || s.name) + ' · ' + kernelText(st) + ' · ' + C + more + (a && labelled(s) && s.task !== 'nu' ? ' · margin 1/‖w‖ = ' + num(1 / Math.sqrt(a.norm2)) : '');
  },
  invitation() { return 'Gap ' + num(this.answer.gap, 3) + '. A still picture: touch it, and it trains in this page.'; },
  // scene draws what lies below the points.
  scene(pen) {
    const a = this.answer, c = this.colours, b = this.box, s = this.state.spec;
    pen.clip(b.x, b.y, b.w, b.h, () => {
      if (!a) return pen.area([[[b.x, b.y], [b.x + b.w, b.y], [b.x + b.w, b.y + b.h], [b.x, b.y + b.h]]], mix(c, 'grid', 0.35));
      if (s.d > 1) this.plane(pen, a); else this.curve(pen, a);
    });
    const v = this.view;
    pen.line([[[b.x, b.y], [b.x, b.y + b.h], [b.x + b.w, b.y + b.h]]], c.axis, 1);
    ticks(v.xs, b.w / 70).forEach(t => { const x = this.to(t, v.ys[0])[0]; pen.line([[[x, b.y + b.h], [x, b.y + b.h + 5]]], c.axis, 1); pen.text(x, b.y + b.h + 18, num(t), c.soft, 12, 'middle'); });
    ticks(v.ys, b.h / 50).forEach(t => { const y = this.to(v.xs[0], t)[1]; pen.line([[[b.x - 5, y], [b.x, y]]], c.axis, 1); pen.text(b.x - 8, y + 4, num(t), c.soft, 12, 'end'); });
    pen.text(b.x + b.w / 2, b.y + b.h + (this.width < 520 ? 33 : 37), s.features[0], c.soft, 13, 'middle');
    pen.text(12, b.y + b.h / 2, s.features[1], c.soft, 13, 'middle', true);
  },
  plane(pen, a) {
    if (a.fields > 1) return this.regions(pen, a);
    let z = a.field;
    const c = this.colours, b = this.box, nx = a.nx, ny = a.ny, corner = this.to(a.view.xs[0], a.view.ys[0]), far = this.to(a.view.xs[1], a.view.ys[1]), place = this.placed(a);
    let low = Infinity, high = -Infinity;
    for (let i = 0; i < z.length; i++) { if (z[i] < low) low = z[i]; if (z[i] > high) high = z[i]; }
    if (this.state.spec.task === 'oneclass') z = scaled(z, Math.max(high, -low / 2));
    const limit = Math.min(Math.max(1, Math.ceil(2 * Math.max(-low, high)) / 2), 2), bands = limit / 0.25;
    let first = true;
    for (let k = -bands; k < bands; k++) { // each band is {f ≥ t}, over the bands before
      const next = (k + 1) * 0.25;
      if (low > next && k + 1 < bands) continue;
      const t = first ? -Infinity : k * 0.25;
      if (t >= high) break;
      const mid = (k + 0.5) / bands;
      pen.area(first ? [[[b.x, b.y], [b.x + b.w, b.y], [b.x + b.w, b.y + b.h], [b.x, b.y + b.h]]] : place(rings(z, nx, ny, t)), mix(c, mid < 0 ? 'neg' : 'pos', 0.04 + 0.56 * Math.abs(mid)));
      first = false;
    }
    if (a.slack) { // where labels are not certain
      const unsure = new w.Float64Array(z.length);
      for (let i = 0; i < z.length; i++) unsure[i] = a.slack[i] - Math.abs(z[i]);
      const edge = rings(unsure, nx, ny, 0);
      this.hatch(pen, (x, y) => {
        const i = Math.round((x - corner[0]) / (far[0] - corner[0]) * (nx - 1)), j = Math.round((y - corner[1]) / (far[1] - corner[1]) * (ny - 1));
        return i >= 0 && j >= 0 && i < nx && j < ny && unsure[j * nx + i] >= 0;
      });
      pen.line(place(isolines(edge, nx, ny)), c.accent, 1.2);
    }
    const one = t => place(isolines(rings(z, nx, ny, t), nx, ny));
    if (labelled(this.state.spec)) pen.line(one(1).concat(one(-1)), c.ink, 1.6, [6, 4]);
    pen.line(one(0), c.ink, 2.6);
  },
  // placed returns the function that maps paths in cells of the grid to the picture.
  placed(a) {
    const from = this.to(a.view.xs[0], a.view.ys[0]), to = this.to(a.view.xs[1], a.view.ys[1]);
    return paths => paths.map(p => p.map(q => [from[0] + q[0] * (to[0] - from[0]) / (a.nx - 1), from[1] + q[1] * (to[1] - from[1]) / (a.ny - 1)]));
  },
  regions(pen, a) { // of several classes; each field says by how much a class wins
    const c = this.colours, place = this.placed(a), nodes = a.nx * a.ny, edges = [], margins = [];
    for (let k = 0; k < a.fields; k++) {
      const z = a.field.subarray(k * nodes, (k + 1) * nodes), inside = rings(z, a.nx, a.ny, 0);
      pen.area(place(inside), mix(c, 'series' + k, 0.22));
      edges.push(...place(isolines(inside, a.nx, a.ny)));
      if (this.state.spec.scheme !== 'rest') margins.push(...place(isolines(rings(z, a.nx, a.ny, 1), a.nx, a.ny)));
    }
    pen.line(margins, c.ink, 1.2, [6, 4]);
    pen.line(edges, c.ink, 2);
  },
  hatch(pen, within) { // lines of 45°
    const b = this.box, paths = [];
    for (let start = b.x - b.h; start < b.x + b.w; start += 9) {
      let line = null;
      for (let d = 0; d <= b.h; d += 3) {
        const x = start + d, y = b.y + b.h - d;
        if (within(x, y)) (line = line || [[x, y]])[1] = [x, y];
        else if (line) {
          if (line[1]) paths.push(line);
          line = null;
        }
      }
      if (line && line[1]) paths.push(line);
    }
    pen.line(paths, this.colours.accent, 0.9);
  },
  curve(pen, a) {
    const c = this.colours, v = a.view, n = a.nx, X = i => v.xs[0] + (v.xs[1] - v.xs[0]) * i / (n - 1), path = f => { const p = []; for (let i = 0; i < n; i++) p.push(this.to(X(i), f(i))); return p; };
    const half = a.sd ? i => 2 * a.sd[i] : () => a.epsilon, up = path(i => a.field[i] + half(i)), down = path(i => a.field[i] - half(i));
    ticks(this.view.ys, this.box.h / 50).forEach(t => pen.line([[this.to(this.view.xs[0], t), this.to(this.view.xs[1], t)]], c.grid, 1));
    pen.area([up.concat(down.slice().reverse())], mix(c, 'neg', 0.16));
    pen.line([up, down], a.sd ? mix(c, 'neg', 0.45) : c.ink, a.sd ? 1 : 1.4, a.sd ? null : [6, 4]);
    pen.line([path(i => a.field[i])], c.ink, 2.6);
  },
  radius() {
    const n = this.state.points.length, r = n > 400 ? 3.2 : n > 150 ? 4.2 : 5.2;
    return this.width < 520 ? Math.max(3, r - 1) : r;
  },
  kindOf(p) { return this.state.spec.scheme ? 'class' + p.y : this.state.spec.task === 'oneclass' || labelled(this.state.spec) && p.y > 0 ? 'pos' : 'neg'; },
  vertical(p) { return this.state.spec.d > 1 ? p.x2 : p.y; },
  to(x, y) {
    const v = this.view, b = this.box;
    return [b.x + (x - v.xs[0]) / (v.xs[1] - v.xs[0]) * b.w, b.y + b.h - (y - v.ys[0]) / (v.ys[1] - v.ys[0]) * b.h];
  },
  support(i) { // 0 none, 1 free, 2 at the bound
    if (this.state.spec.scheme) return this.answer.alpha.subarray(i * this.answer.machines, (i + 1) * this.answer.machines).some(a => a && !isNaN(a)) ? 1 : 0;
    const a = Math.abs(this.answer.alpha[i]), most = bound(this.state, i);
    return this.state.spec.task === 'process' ? 0 : a <= 0 ? 0 : a >= most * (1 - 1e-12) ? 2 : 1;
  },
  picture() { // the whole figure as SVG
    const pen = svgPen(), c = this.colours;
    this.above(pen);
    pen.below(46, () => {
      this.scene(pen);
      this.pointsWith(pen);
    });
    return pen.svg(this.width, this.height + 46, this.heading() + '. ' + this.setting(), c.page);
  },
  above(pen) { // the two lines above the picture, as large as there is room for them
    const size = (text, most) => +Math.max(8, Math.min(most, (this.width - 24) / (0.53 * text.length))).toFixed(1);
    pen.text(12, 20, this.heading(), this.colours.ink, size(this.heading(), 15), 'start');
    pen.text(12, 38, this.setting(), this.colours.soft, size(this.setting(), 12), 'start');
  },
  pointsWith(pen) {
    const c = this.colours, r = this.radius(), known = this.answer && this.answer.n === this.state.points.length;
    this.state.points.forEach((p, i) => {
      const q = this.to(p.x, this.vertical(p)), kind = this.kindOf(p), k = known ? this.support(i) : 0;
      if (kind.startsWith('class')) pen.area([symbol(p.y, r).map(t => [q[0] + t[0], q[1] + t[1]])], c['series' + p.y]);
      else if (kind === 'pos') pen.area([diamond(q[0], q[1], r + 1)], c.pos);
      else pen.circle(q[0], q[1], r, c.neg, 'none', 0);
      if (k) pen.circle(q[0], q[1], r + 3.2, 'none', k === 1 ? c.ink : c.soft, k === 1 ? 2.2 : 1.6);
      if (known && this.wrong(i)) pen.line(cross(q[0], q[1], r + 3.5), c.bad, 2);
    });
  }
};

function scaled(z, most) { // f of one class has no unit
  return most > 0 ? z.map(v => v / most) : z;
}
const FEW = 12; // so few points leave a Gaussian process wide bands
// viewOf returns the part of the plane that shows the points, with room to move them.
function viewOf(s, points) {
  const range = (f, pad) => {
    let low = Infinity, high = -Infinity;
    points.forEach(p => { low = Math.min(low, f(p)); high = Math.max(high, f(p)); });
    const d = high - low || 1;
    return [low - pad * d, high + pad * d];
  };
  return { xs: range(p => p.x, s.d > 1 ? 0.14 : 0.08), ys: range(p => s.d > 1 ? p.x2 : p.y, s.d > 1 ? 0.14 : s.task === 'process' && points.length <= FEW ? 0.6 : 0.25) };
}
function equal(v, ratio) { // widens a view until both axes have one scale
  const wide = v.xs[1] - v.xs[0], high = v.ys[1] - v.ys[0];
  if (wide / high > 4 || high / wide > 4) return v;
  const grow = (e, to) => { const m = (e[0] + e[1]) / 2; return [m - to / 2, m + to / 2]; };
  return wide / high < ratio ? { xs: grow(v.xs, high * ratio), ys: v.ys } : { xs: v.xs, ys: grow(v.ys, wide / ratio) };
}
function equalIn(s, v, box) { return s.d > 1 && s.alike !== false && box ? equal(v, box.w / box.h) : v; }
// stillView is where svmnb/living draws the field of a still picture: so much that it fills a
// wide figure and a narrow one.
function stillView(v, d) { return d > 1 ? { xs: equal(v, 1.55).xs, ys: equal(v, 1.2).ys } : v; }
function inside(v, st) { return st.points.every(p => { const y = st.spec.d > 1 ? p.x2 : p.y; return p.x >= v.xs[0] && p.x <= v.xs[1] && y >= v.ys[0] && y <= v.ys[1]; }); }
function ticks(e, most) {
  const raw = (e[1] - e[0]) / Math.max(2, most), unit = Math.pow(10, Math.floor(Math.log10(raw))), step = unit * [1, 2, 5, 10].find(k => k * unit >= raw), out = [];
  for (let k = Math.ceil(e[0] / step); k * step <= e[1]; k++) out.push(+(k * step).toPrecision(12));
  return out;
}

// still is a picture of a specification without the page that shows it: the text that stands
// above and below, and an SVG in the colours of CSS variables. The site has it in its pages,
// which load this script when a reader touches a figure.
L.still = function (given) {
  const s = specOf(given), colours = { page: 'var(--page)' };
  for (const k in light) if (k !== 'page') colours[k] = 'var(--svm-' + k + ')';
  const a = read(w.Float64Array.from(new w.Float32Array(decode(s.still).buffer))), box = { x: 52, y: 8, w: 598, h: s.d > 1 ? 395 : 347 }, pen = svgPen('still-' + s.name.replace(/\W/g, '') + '-');
  a.view = stillView(viewOf(s, s.points), s.d);
  const f = Object.assign({ state: start(s), answer: a, colours: colours, width: 660, height: box.h + 52, box: box, view: equalIn(s, viewOf(s, s.points), box) }, Picture);
  f.scene(pen);
  f.pointsWith(pen);
  return { title: f.heading(), sub: f.setting(), proof: f.invitation(), svg: pen.svg(f.width, f.height, f.heading() + '. ' + f.setting(), 'none') };
};
L.stillCSS = (function () {
  const list = c => Object.keys(c).filter(k => k !== 'page').map(k => '--svm-' + k + ':' + c[k]).join(';');
  return 'svmnb-figure{' + list(light) + '}@media (prefers-color-scheme:dark){svmnb-figure{' + list(dark) + '}}';
})();
