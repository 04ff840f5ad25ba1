(function svmnbLiving(w, PRESETS, own) {
  'use strict';
  // Living figures: <svmnb-figure data="moons"></svmnb-figure> becomes a picture of a machine
  // that trains again when a reader moves a point or a slider. Until then it is a still
  // picture, and nothing is loaded. The machine is Go: in a worker of the page or, in a
  // notebook, in the kernel. Both answer the same questions, which ask() writes.
  if (!w.customElements || w.customElements.get('svmnb-figure')) return;
  const L = w.svmnbLiving = { engines: {}, presets: PRESETS };

  // ---- numbers and words.
  function num(v, digits) { // 4 significant digits, a true minus, no trailing zeros
    if (v === null || v === undefined || isNaN(v)) return '–';
    if (!isFinite(v)) return (v < 0 ? '\u2212' : '') + '∞';
    const a = Math.abs(v);
    const s = a !== 0 && (a < 1e-3 || a >= 1e5) ? a.toExponential((digits || 4) - 1).replace(/\.?0+e/, 'e').replace('e+', 'e') : String(+a.toPrecision(digits || 4));
    return (v < 0 ? '\u2212' : '') + s;
  }
  function go(v) { // as Go's fmt writes a float64
    const m = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(v.toExponential()), e = +m[4];
    if (e < -4 || e >= 6) return m[1] + m[2] + (m[3] ? '.' + m[3] : '') + 'e' + (e < 0 ? '-' : '+') + String(Math.abs(e)).padStart(2, '0');
    return plain(m[1], m[2] + (m[3] || ''), e);
  }
  function plain(sign, digits, e) {
    if (e < 0) return sign + '0.' + '0'.repeat(-e - 1) + digits;
    if (digits.length <= e + 1) return sign + digits.padEnd(e + 1, '0');
    return sign + digits.slice(0, e + 1) + '.' + digits.slice(e + 1);
  }
  function digits(v, n) { return v === 0 ? 0 : +v.toPrecision(n); }
  function several(n, one) { return n + ' ' + one + (n === 1 ? '' : 's'); }
  function decode(text) { // base64 → bytes
    const s = atob(text), b = new Uint8Array(s.length);
    for (let i = 0; i < s.length; i++) b[i] = s.charCodeAt(i);
    return b;
  }
  function make(parent, tag, attributes, text) {
    const e = parent.appendChild(document.createElement(tag));
    for (const k in attributes) e.setAttribute(k, attributes[k]);
    if (text !== undefined) e.textContent = text;
    return e;
  }
  const svgNS = 'http://www.w3.org/2000/svg';
  function makeSVG(parent, tag, attributes) {
    const e = parent.appendChild(document.createElementNS(svgNS, tag));
    for (const k in attributes) e.setAttribute(k, attributes[k]);
    return e;
  }

  // ---- colours: those of the other figures, for the page behind the element.
  const light = { page: '#ffffff', ink: '#1b2733', soft: '#59646e', axis: '#8b95a0', grid: '#e4e8ec', card: '#f4f6f8', line: '#d5dae0', pos: '#dd5f0d', neg: '#1d64ad', bad: '#b00040', accent: '#5a2ca0',
    series: ['#0072b2', '#d55e00', '#009e73', '#a8559a', '#56b4e9', '#b98600'] };
  const dark = { page: '#181a1b', ink: '#e6eaee', soft: '#a3adb7', axis: '#737e89', grid: '#333a42', card: '#22272c', line: '#3d454e', pos: '#f5984f', neg: '#62aeea', bad: '#ff6f91', accent: '#c09cf0',
    series: ['#56a9e0', '#f0894a', '#2fc19a', '#db8fc3', '#9ad0f5', '#e8b93c'] };
  function rgb(css) {
    let m = /^#(..)(..)(..)$/.exec(css);
    if (m) return [parseInt(m[1], 16), parseInt(m[2], 16), parseInt(m[3], 16), 1];
    m = (/^rgba?\(([^)]*)\)/.exec(css) || ['', ''])[1].split(/[\s,/]+/).map(Number);
    return m.length < 3 ? null : [m[0], m[1], m[2], m.length > 3 ? m[3] : 1];
  }
  function palette(el) {
    let behind = null;
    for (let e = el; e && !behind; e = e.parentElement || (e.getRootNode() || {}).host) {
      const c = rgb(getComputedStyle(e).backgroundColor);
      if (c && c[3] > 0.5) behind = c;
    }
    const ink = rgb(getComputedStyle(el).color) || [0, 0, 0], bright = c => (0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]) / 255;
    const isDark = behind ? bright(behind) < 0.5 : bright(ink) > 0.5;
    return Object.assign({}, isDark ? dark : light, behind ? { page: 'rgb(' + behind.slice(0, 3).join(',') + ')' } : {});
  }
  function mix(p, name, t) { // a share of a colour, on the page
    const a = rgb(p.page), b = rgb(p[name]);
    return 'rgb(' + [0, 1, 2].map(i => Math.round(a[i] + (b[i] - a[i]) * t)).join(',') + ')';
  }

  // ---- contours, as svmnb/internal/contour makes them: rings around {z ≥ t} of a field on an
  // even grid, by marching squares. A place is [x, y] in cells of the grid.
  function rings(z, nx, ny, t) {
    const W = nx + 2, above = new Uint8Array(W * (ny + 2)), next = new Int32Array(2 * W * (ny + 2)).fill(-1), saddles = new Map();
    let any = false;
    for (let j = 0; j < ny; j++) for (let i = 0; i < nx; i++) if (z[j * nx + i] >= t) any = above[(j + 1) * W + i + 1] = 1;
    if (!any) return [];
    for (let j = 0; j <= ny; j++) for (let i = 0; i <= nx; i++) {
      const k = j * W + i, c = above[k] | above[k + 1] << 1 | above[k + W + 1] << 2 | above[k + W] << 3;
      if (c === 0 || c === 15) continue;
      const bottom = 2 * k, left = 2 * k + 1, top = 2 * (k + W), right = 2 * (k + 1) + 1;
      switch (c) {
        case 1: next[bottom] = left; break;
        case 2: next[right] = bottom; break;
        case 3: next[right] = left; break;
        case 4: next[top] = right; break;
        case 6: next[top] = bottom; break;
        case 7: next[top] = left; break;
        case 8: next[left] = top; break;
        case 9: next[bottom] = top; break;
        case 11: next[right] = top; break;
        case 12: next[left] = right; break;
        case 13: next[bottom] = right; break;
        case 14: next[left] = bottom; break;
        case 5: { // two opposite nodes are above t; the areas around them may be joined
          const s = saddle(z, nx, i, j, t);
          next[bottom] = s.joined ? right : left;
          next[top] = s.joined ? left : right;
          saddles.set(bottom, s.at).set(top, s.at);
          break;
        }
        case 10: {
          const s = saddle(z, nx, i, j, t);
          next[right] = s.joined ? top : bottom;
          next[left] = s.joined ? bottom : top;
          saddles.set(right, s.at).set(left, s.at);
        }
      }
    }
    function crossing(edge) {
      const k = edge >> 1, i = k % W, j = (k - i) / W, i2 = edge & 1 ? i : i + 1, j2 = edge & 1 ? j + 1 : j;
      if (i === 0 || j === 0) return [i2 - 1, j2 - 1];
      if (i2 > nx || j2 > ny) return [i - 1, j - 1];
      const from = z[(j - 1) * nx + i - 1], to = z[(j2 - 1) * nx + i2 - 1], f = (t - from) / (to - from);
      return [i - 1 + f * (i2 - i), j - 1 + f * (j2 - j)];
    }
    const all = [];
    for (let start = 0; start < next.length; start++) {
      if (next[start] < 0) continue;
      const ring = [], add = p => { const q = ring[ring.length - 1]; if (!q || q[0] !== p[0] || q[1] !== p[1]) ring.push(p); };
      for (let e = start; next[e] >= 0;) {
        const at = saddles.get(e), to = next[e];
        add(crossing(e));
        if (at) add(bend(at, crossing(e), crossing(to)));
        next[e] = -1;
        e = to;
      }
      while (ring.length > 1 && ring[0][0] === ring[ring.length - 1][0] && ring[0][1] === ring[ring.length - 1][1]) ring.pop();
      if (ring.length > 2) all.push(ring);
    }
    return all;
  }
  function saddle(z, nx, i, j, t) {
    const a = z[(j - 1) * nx + i - 1] - t, b = z[(j - 1) * nx + i] - t, c = z[j * nx + i] - t, d = z[j * nx + i - 1] - t;
    const sum = Math.abs(a) + Math.abs(b) + Math.abs(c) + Math.abs(d), value = (a * c - b * d) * (a < 0 || c < 0 ? -1 : 1);
    return { at: [i - 1 + Math.abs(a - d) / sum, j - 1 + Math.abs(a - b) / sum], joined: value >= 0 };
  }
  function bend(o, p, q) { // the middle of the hyperbola's branch from p to q
    return [0, 1].map(k => o[k] + Math.sign(p[k] - o[k] + (q[k] - o[k])) * Math.sqrt(Math.abs((p[k] - o[k]) * (q[k] - o[k]))));
  }
  function isolines(list, nx, ny) { // the rings without what runs along the border
    const border = (p, q) => p[0] === q[0] && (p[0] === 0 || p[0] === nx - 1) || p[1] === q[1] && (p[1] === 0 || p[1] === ny - 1), lines = [];
    for (const ring of list) {
      const n = ring.length;
      let first = -1, line = null;
      for (let i = 0; i < n; i++) if (border(ring[i], ring[(i + 1) % n])) first = i;
      if (first < 0) { lines.push(ring.concat([ring[0]])); continue; }
      for (let s = 1; s <= n; s++) {
        const p = ring[(first + s) % n], q = ring[(first + s + 1) % n];
        if (border(p, q)) {
          if (line) lines.push(line);
          line = null;
        } else (line = line || [p]).push(q);
      }
      if (line) lines.push(line);
    }
    return lines;
  }

  // ---- pens: what a picture is drawn with, on a canvas or as the text of an SVG.
  function canvasPen(ctx) {
    function trace(paths, close) {
      ctx.beginPath();
      for (const p of paths) {
        p.forEach((c, i) => ctx[i ? 'lineTo' : 'moveTo'](c[0], c[1]));
        if (close) ctx.closePath();
      }
    }
    return {
      area: (paths, fill) => { trace(paths, true); ctx.fillStyle = fill; ctx.fill(); },
      line: (paths, stroke, width, dash) => { trace(paths); ctx.strokeStyle = stroke; ctx.lineWidth = width; ctx.lineJoin = 'round'; ctx.setLineDash(dash || []); ctx.stroke(); },
      text: (x, y, s, fill, size, align, turn) => {
        ctx.save();
        ctx.translate(x, y);
        if (turn) ctx.rotate(-Math.PI / 2);
        ctx.font = size + 'px ' + sans;
        ctx.fillStyle = fill;
        ctx.textAlign = { start: 'left', middle: 'center', end: 'right' }[align];
        ctx.fillText(s, 0, 0);
        ctx.restore();
      },
      clip: (x, y, width, height, draw) => { ctx.save(); ctx.beginPath(); ctx.rect(x, y, width, height); ctx.clip(); draw(); ctx.restore(); }
    };
  }
  function svgPen() {
    const out = [], f = v => v.toFixed(1).replace(/\.0$/, ''), esc = s => String(s).replace(/[&<>"]/g, c => '&#' + c.charCodeAt(0) + ';');
    const d = (paths, close) => paths.map(p => p.map((c, i) => (i ? 'L' : 'M') + f(c[0]) + ' ' + f(c[1])).join('') + (close ? 'Z' : '')).join('');
    let clips = 0;
    return {
      area: (paths, fill) => out.push('<path d="' + d(paths, true) + '" fill="' + fill + '"/>'),
      line: (paths, stroke, width, dash) => out.push('<path d="' + d(paths) + '" fill="none" stroke="' + stroke + '" stroke-width="' + width + '" stroke-linejoin="round"' + (dash ? ' stroke-dasharray="' + dash.join(' ') + '"' : '') + '/>'),
      text: (x, y, s, fill, size, align, turn) => out.push('<text transform="translate(' + f(x) + ' ' + f(y) + ')' + (turn ? ' rotate(-90)' : '') + '" fill="' + fill + '" font-size="' + size + '" text-anchor="' + align + '">' + esc(s) + '</text>'),
      clip: (x, y, width, height, draw) => {
        const id = 'c' + ++clips;
        out.push('<clipPath id="' + id + '"><rect x="' + f(x) + '" y="' + f(y) + '" width="' + f(width) + '" height="' + f(height) + '"/></clipPath><g clip-path="url(#' + id + ')">');
        draw();
        out.push('</g>');
      },
      svg: (width, height, title, background) => '<svg xmlns="' + svgNS + '" width="' + width + '" height="' + height + '" viewBox="0 0 ' + width + ' ' + height + '" role="img" font-family="' + esc(sans) + '"><title>' + esc(title) + '</title><rect width="100%" height="100%" fill="' + background + '"/>' + out.join('\n') + '</svg>'
    };
  }
  const sans = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
  function circle(x, y, r) {
    const p = [];
    for (let k = 0; k < 24; k++) p.push([x + r * Math.cos(k * Math.PI / 12), y + r * Math.sin(k * Math.PI / 12)]);
    return p;
  }
  function diamond(x, y, r) { return [[x, y - r], [x + r, y], [x, y + r], [x - r, y]]; }
  function cross(x, y, r) { return [[[x - r, y - r], [x - 0.45 * r, y - 0.45 * r]], [[x + r, y - r], [x + 0.45 * r, y - 0.45 * r]], [[x + r, y + r], [x + 0.45 * r, y + 0.45 * r]], [[x - r, y + r], [x - 0.45 * r, y + 0.45 * r]]]; }

  // ---- questions and answers: the lists of wire.go.
  const ASKED = ['task', 'n', 'd', 'c', 'epsilon', 'tol', 'warm', 'limit', 'trace', 'moment', 'x0', 'x1', 'y0', 'y1', 'nx', 'ny', 'certain'];
  const ANSWERED = ['n', 'nx', 'ny', 'trace', 'sd', 'slack', 'converged', 'iterations', 'evaluations', 'bias', 'primal', 'dual', 'gap', 'relgap', 'maxkkt', 'norm2', 'free', 'atupper', 'evidence', 'millis'];
  const TASKS = ['classify', 'regress', 'oneclass', 'process'];
  function read(v) { // an answer from its numbers
    const a = {};
    ANSWERED.forEach((name, i) => { a[name] = v[i]; });
    let at = ANSWERED.length;
    const cut = n => v.subarray(at, at += n), nodes = a.nx * a.ny;
    a.samples = cut(5 * a.trace);
    a.alpha = cut(a.n);
    a.f = cut(a.n);
    a.field = cut(nodes);
    a.sd = a.sd ? cut(nodes) : null;
    a.slack = a.slack ? cut(nodes) : null;
    return a;
  }

  // ---- the engine in a worker: one for all figures of the page, started by the first that
  // needs it. One question is under way; of each figure only the newest waits.
  L.engines.worker = (function () {
    let worker = null, starting = null, inflight = null;
    const waiting = new Map();
    function source() {
      const inside = document.getElementById('svmnb-living-engine');
      if (inside) return Promise.resolve(JSON.parse(inside.textContent));
      if (w.svmnbLivingEngine) return Promise.resolve(w.svmnbLivingEngine);
      return new Promise((ok, no) => {
        const s = document.createElement('script');
        s.src = own;
        s.onload = () => ok(w.svmnbLivingEngine);
        s.onerror = () => no(new Error('The engine cannot be loaded: ' + own + ' should stand beside living.js.'));
        document.head.append(s);
      });
    }
    function start() {
      starting = starting || source().then(s => new Promise((ok, no) => {
        worker = new w.Worker(w.URL.createObjectURL(new Blob([s.script], { type: 'text/javascript' })));
        worker.onerror = e => no(new Error(e.message || 'The worker cannot start.'));
        worker.onmessage = e => {
          const m = e.data;
          if (m.ready) return ok();
          if (m.failed) return no(new Error(m.failed));
          const q = inflight;
          inflight = null;
          next();
          if (q) q.done(m.error ? { error: m.error } : read(new w.Float64Array(m.answer)));
        };
        worker.postMessage({ module: s.module });
      }));
      return starting;
    }
    function next() {
      if (inflight || !waiting.size) return;
      const [who, q] = waiting.entries().next().value;
      waiting.delete(who);
      inflight = q;
      worker.postMessage({ kernel: q.kernel, method: q.method, numbers: q.numbers }, [q.numbers.buffer]);
    }
    return {
      start: start,
      ask: function (who, kernel, method, numbers, done) {
        waiting.set(who, { kernel: kernel, method: method, numbers: numbers, done: done });
        start().then(next, e => { waiting.delete(who); done({ error: e.message }); });
      }
    };
  })();

  // ---- what is drawn: a specification, which has the data, the kernels, the dials and the
  // solvers, and a state, which has the points and the choices.
  function logDial(name, v, kernel) {
    const d = { name: name, kernel: kernel, values: [], at: 30 };
    for (let k = -30; k <= 30; k++) d.values.push(go(k ? digits(v * Math.pow(10, k / 10), 3) : v));
    return d;
  }
  function evenDial(name, v, from, to, step, kernel) {
    const d = { name: name, kernel: kernel, values: [], at: 0 };
    for (let k = 0; from + k * step <= to * (1 + 1e-9); k++) d.values.push(digits(from + k * step, 3));
    if (!d.values.includes(v)) d.values = d.values.concat([v]).sort((a, b) => a - b);
    d.at = d.values.indexOf(v);
    d.values = d.values.map(go);
    return d;
  }
  const METHODS = ['SMO', 'SMO, worst pair', 'conjugate SMO', 'decomposition', 'chunking', 'interior point'];
  const USING = { 'SMO': '', 'SMO, worst pair': 'solvers.SMO{Selection: solvers.WorstPair}', 'conjugate SMO': 'solvers.ConjugateSMO{}', 'decomposition': 'solvers.Decomposition{}', 'chunking': 'solvers.Chunking{}', 'interior point': 'solvers.PrimalDual{}' };
  function dialsOf(p) { // of a preset, which gives the values alone
    const k = p.kernels, scale = k.scale ? 'Scale(' + go(k.scale) + ', ' : '', end = k.scale ? ')' : '', list = [], dials = [];
    const kernel = (name, form, ds) => { ds.forEach(d => dials.push(Object.assign(d, { kernel: list.length }))); list.push({ name: name, form: scale + form + end }); };
    const first = { classify: () => logDial('C', p.c, -1), regress: () => logDial('C', p.c, -1), oneclass: () => evenDial('nu', p.c, 0.02, 0.98, 0.02, -1), process: () => logDial('NoiseVariance', p.c, -1) }[p.task]();
    dials.push(first);
    if (p.task === 'regress') dials.push(evenDial('epsilon', p.epsilon, 0, 10 * p.epsilon, p.epsilon / 5, -1));
    const length = digits(1 / Math.sqrt(2 * k.gamma), 3), kinds = {
      RBF: () => kernel('RBF', 'RBF($gamma)', [logDial('gamma', k.gamma)]),
      Linear: () => kernel('Linear', 'Linear()', []),
      Polynomial: () => kernel('Polynomial', 'Polynomial($degree, $gamma, 1)', [evenDial('degree', 3, 1, 10, 1), logDial('gamma', k.gamma)]),
      Laplacian: () => kernel('Laplacian', 'Laplacian($gamma)', [logDial('gamma', digits(Math.sqrt(k.gamma), 3))]),
      Matern52: () => kernel('Matern52', 'Matern52($length)', [logDial('length', length)]),
      Exponential: () => kernel('Exponential', 'Exponential($length)', [logDial('length', length)])
    };
    const order = p.task === 'process' ? ['RBF', 'Matern52', 'Exponential'] : ['RBF', 'Linear', 'Polynomial', 'Laplacian', 'Matern52'];
    order.sort((a, b) => (b === k.first) - (a === k.first)).forEach(name => kinds[name]());
    return { kernels: list, dials: dials };
  }
  function specOf(p) { // complete, from a preset or from play.Explore
    const s = Object.assign({ tol: 1e-3, epsilon: 0, methods: p.task === 'process' ? ['Cholesky'] : METHODS, features: [], classes: ['−1', '+1'] }, p);
    if (!Array.isArray(p.kernels)) Object.assign(s, dialsOf(p));
    const numbers = new w.Float64Array(decode(p.data).buffer), d = s.d, n = numbers.length / (d + 1);
    s.points = [];
    for (let i = 0; i < n; i++) s.points.push({ x: numbers[d * i], x2: d > 1 ? numbers[d * i + 1] : 0, y: numbers[d * n + i], from: i });
    s.features = [0, 1].map(j => s.features[j] || (d > 1 ? ['x₁', 'x₂'][j] : ['x', 'y'][j]));
    return s;
  }
  function start(s) {
    return { spec: s, points: s.points.map(p => Object.assign({}, p)), at: s.dials.map(d => d.at), kernel: 0, method: 0, moment: -1 };
  }
  function dialValue(st, name) {
    const i = st.spec.dials.findIndex(d => d.name === name && d.kernel < 0);
    return i < 0 ? undefined : +st.spec.dials[i].values[st.at[i]];
  }
  function cost(st) { return ['C', 'nu', 'NoiseVariance'].map(n => dialValue(st, n)).find(v => v !== undefined) || st.spec.c; }
  function epsilonOf(st) {
    const v = dialValue(st, 'epsilon');
    return v === undefined ? st.spec.epsilon : v;
  }
  function kernelText(st) {
    let text = st.spec.kernels[st.kernel].form;
    st.spec.dials.forEach((d, i) => { if (d.kernel === st.kernel) text = text.replace('$' + d.name, () => d.values[st.at[i]]); });
    return text;
  }
  // The address of a state: what differs from the data set, as text. A run of points as they
  // were is from–to; another point is x,x2,y.
  function address(st) {
    const s = st.spec, parts = ['data=' + encodeURIComponent(s.name)], runs = [];
    const own = p => p.from >= 0 && s.points[p.from].x === p.x && s.points[p.from].x2 === p.x2 && s.points[p.from].y === p.y;
    st.points.forEach(p => {
      const last = runs[runs.length - 1];
      if (!own(p)) runs.push([go(p.x), go(p.x2), go(p.y)].join(','));
      else if (Array.isArray(last) && last[1] === p.from - 1) last[1] = p.from;
      else runs.push([p.from, p.from]);
    });
    if (runs.length !== 1 || String(runs[0]) !== '0,' + (s.points.length - 1)) parts.push('p=' + runs.map(r => Array.isArray(r) ? r.join('-') : r).join(';'));
    if (st.kernel) parts.push('kernel=' + s.kernels[st.kernel].name);
    if (st.method) parts.push('solver=' + st.method);
    s.dials.forEach((d, i) => { if (st.at[i] !== d.at && (d.kernel < 0 || d.kernel === st.kernel)) parts.push(d.name + '=' + d.values[st.at[i]]); });
    if (st.moment >= 0) parts.push('moment=' + st.moment);
    return parts.join('&');
  }
  function fromAddress(text, otherwise) { // a state, or null
    const q = {};
    text.split('&').forEach(part => { const at = part.indexOf('='); if (at > 0) q[part.slice(0, at)] = decodeURIComponent(part.slice(at + 1)); });
    const p = q.data === undefined || otherwise && q.data === otherwise.name ? otherwise : PRESETS[q.data] && specOf(Object.assign({ name: q.data }, PRESETS[q.data]));
    if (!p) return null;
    const st = start(p);
    if (q.p) {
      st.points = [];
      q.p.split(';').slice(0, 5000).forEach(r => {
        const run = /^(\d+)-(\d+)$/.exec(r), v = r.split(',').map(Number);
        if (run) for (let i = +run[1]; i <= +run[2] && i < p.points.length; i++) st.points.push(Object.assign({}, p.points[i]));
        else if (v.length === 3 && v.every(isFinite)) st.points.push({ x: v[0], x2: v[1], y: v[2], from: -1 });
      });
    }
    st.kernel = Math.max(0, p.kernels.findIndex(k => k.name === q.kernel));
    st.method = Math.min(Math.max(0, Math.floor(+q.solver) || 0), p.methods.length - 1);
    p.dials.forEach((d, i) => {
      if (q[d.name] === undefined || d.kernel >= 0 && d.kernel !== st.kernel) return;
      const near = v => Math.abs(v - q[d.name]);
      d.values.forEach((v, j) => { if (near(v) < near(d.values[st.at[i]])) st.at[i] = j; });
    });
    if (q.moment !== undefined && isFinite(q.moment)) st.moment = Math.max(0, Math.floor(+q.moment));
    return st;
  }
  function program(st, how) { // the Go code that makes the state
    const s = st.spec, changed = address(Object.assign({}, st, { moment: -1 })).includes('&p='), n = st.points.length;
    const list = v => '{' + v.map(go).join(', ') + '}';
    const data = !changed && s.source ? 'ds := ' + s.source : 'ds := datasets.New(\n\t[][]float64{' + st.points.map(p => list(s.d > 1 ? [p.x, p.x2] : [p.x])).join(', ') + '},\n\t[]float64' + list(st.points.map(p => s.task === 'oneclass' ? 0 : p.y)) + ')';
    const kernel = kernelText(st).replace(/[A-Z][A-Za-z0-9]*\(/g, 'kernels.$&'), c = go(cost(st));
    let line = { classify: 'svmnb.Classify(ds).Kernel(' + kernel + ').C(' + c + ')', regress: 'svmnb.Regress(ds).Kernel(' + kernel + ').C(' + c + ').Epsilon(' + go(epsilonOf(st)) + ')',
      oneclass: 'svmnb.OneClass(ds).Kernel(' + kernel + ').Nu(' + c + ')', process: 'gp.Regress(ds).Kernel(' + kernel + ').NoiseVariance(' + c + ')' }[s.task];
    if (s.task !== 'process') line += how ? '.Using(' + how + ')' : s.task === 'regress' ? '.Using(solvers.TubeSMO{})' : '.SMO()';
    if (s.tol !== 1e-3) line += '.Tol(' + go(s.tol) + ')';
    return { n: n, data: data, line: line, show: '.MustFit().Show(' + { classify: 'svmnb.Margins', regress: 'svmnb.Tube', oneclass: 'svmnb.Margins', process: 'gp.Posterior' }[s.task] + ')' };
  }

  // ---- questions of a state. hurry is while the reader drags: a coarser picture.
  function question(st, view, o) {
    const s = st.spec, n = st.points.length, d = s.d, v = new w.Float64Array(ASKED.length + n * (d + 1)), set = (name, x) => { v[ASKED.indexOf(name)] = x; };
    set('task', TASKS.indexOf(s.task));
    set('n', n);
    set('d', d);
    set('c', cost(st));
    set('epsilon', epsilonOf(st));
    set('tol', o.hurry ? Math.max(1e-2, s.tol) : s.tol);
    set('warm', o.hurry || o.more ? 1 : 0);
    set('limit', o.hurry ? 40 : 400);
    set('trace', o.hurry || o.more ? 0 : 1);
    set('moment', o.hurry || o.more ? -1 : st.moment);
    ['x0', 'x1'].forEach((name, i) => set(name, view.xs[i]));
    ['y0', 'y1'].forEach((name, i) => set(name, view.ys[i]));
    set('nx', d > 1 ? o.hurry ? 60 : 120 : 160);
    set('ny', d > 1 ? o.hurry ? 40 : 80 : 1);
    set('certain', o.certain ? 1 : 0);
    st.points.forEach((p, i) => {
      v[ASKED.length + d * i] = p.x;
      if (d > 1) v[ASKED.length + d * i + 1] = p.x2;
      v[ASKED.length + d * n + i] = p.y;
    });
    let method = s.methods[st.method];
    if (s.task === 'process') method = '';
    else if (o.hurry) method = s.task === 'classify' && cost(st) >= 300 ? 'conjugate SMO' : 'SMO';
    return { kernel: kernelText(st), method: o.method || method, numbers: v };
  }
  L.parts = { num: num, go: go, rings: rings, isolines: isolines, read: read, specOf: specOf, start: start, address: address, fromAddress: fromAddress, question: question, program: program, asked: ASKED, answered: ANSWERED };

  // ---- the element.
  const STYLE = `
:host { display: block; margin: 1.2em 0; font: 15px/1.45 ${sans}; color: var(--ink); container-type: inline-size; }
:host([hidden]), [hidden] { display: none !important; }
* { box-sizing: border-box; }
.title { font-weight: 600; font-size: 1.0625rem; margin: 0; text-wrap: balance; }
.sub, .proof { margin: .15em 0 0; color: var(--soft); font-size: .875rem; font-variant-numeric: tabular-nums; }
.proof b { font-weight: 600; color: var(--ink); }
.key { display: flex; flex-wrap: wrap; gap: .1em 1.1em; margin: .5em 0 .3em; padding: 0; list-style: none; color: var(--soft); font-size: .8125rem; }
.key svg { width: 1.25em; height: 1.25em; vertical-align: -.3em; margin-right: .35em; overflow: visible; }
.body { display: grid; grid-template-columns: minmax(0, 1fr); gap: .6em 1.6em; align-items: start; }
@container (min-width: 760px) { .body { grid-template-columns: minmax(0, 1fr) 15.5rem; } }
.plot { position: relative; }
.plot canvas { display: block; width: 100%; }
.plot > svg { position: absolute; inset: 0; width: 100%; height: 100%; overflow: hidden; }
.plot.draw > svg { cursor: crosshair; touch-action: none; }
.point { cursor: grab; touch-action: none; outline: none; }
.point .reach { fill: transparent; stroke: none; }
.point .mark { stroke: var(--page); stroke-width: 1; }
.point.pos .mark { fill: var(--pos); }
.point.neg .mark { fill: var(--neg); }
.point.one .mark { fill: var(--neg); }
.point .ring { fill: none; stroke: none; }
.point.free .ring { stroke: var(--ink); stroke-width: 2.2; }
.point.bound .ring { stroke: var(--soft); stroke-width: 1.6; }
.point .cross { display: none; stroke: var(--bad); stroke-width: 2; fill: none; }
.point.wrong .cross { display: inline; }
.point .focus { display: none; fill: none; stroke: var(--accent); stroke-width: 3; }
.point:focus .focus, .point.held .focus { display: inline; }
.point.held { cursor: grabbing; }
.tip { position: absolute; z-index: 2; pointer-events: none; max-width: 17em; background: var(--page); color: var(--ink); border: 1px solid var(--axis); border-radius: 6px; padding: .35em .7em; font-size: .8125rem; box-shadow: 0 3px 14px rgba(0,0,0,.18); font-variant-numeric: tabular-nums; }
.tip p { margin: 0; }
.hint { position: absolute; right: 10px; top: 8px; margin: 0; padding: .15em .7em; border-radius: 99px; background: var(--page); color: var(--ink); border: 1px solid var(--line); font-size: .8125rem; pointer-events: none; }
.hint.bad { color: var(--bad); max-width: 70%; border-radius: 8px; }
.side { display: grid; gap: .75em; align-content: start; font-size: .875rem; }
@container (max-width: 759px) { .side { grid-template-columns: repeat(auto-fill, minmax(min(100%, 11rem), 1fr)); } }
label.dial { display: grid; grid-template-columns: 1fr auto; gap: .1em .6em; }
label.dial output { font-variant-numeric: tabular-nums; color: var(--soft); }
label.dial input { grid-column: 1 / -1; width: 100%; margin: 0; accent-color: var(--accent); min-height: 1.5rem; }
label.choice { display: grid; gap: .2em; }
label.check { display: flex; gap: .5em; align-items: center; min-height: 1.5rem; }
label.check input { accent-color: var(--accent); width: 1.05rem; height: 1.05rem; margin: 0; }
select, button, textarea { font: inherit; color: var(--ink); background: var(--card); border: 1px solid var(--line); border-radius: 7px; padding: .3em .65em; min-height: 2rem; }
select { width: 100%; }
button { cursor: pointer; }
button:hover:not(:disabled) { border-color: var(--axis); }
button:disabled { color: var(--soft); opacity: .55; cursor: default; }
button[aria-pressed=true] { background: var(--ink); color: var(--page); border-color: var(--ink); }
:is(button, select, input, textarea, summary):focus-visible { outline: 3px solid var(--accent); outline-offset: 1px; }
.row { display: flex; flex-wrap: wrap; gap: .35em; align-items: center; }
.bar { margin-top: .6em; font-size: .875rem; }
.bar .group { display: flex; flex-wrap: wrap; gap: .3em; padding-right: .5em; }
.run { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .2em .9em; align-items: center; margin-top: .5em; font-size: .875rem; }
.run input { width: 100%; accent-color: var(--accent); margin: 0; min-height: 1.5rem; }
.run .gap { grid-column: 1 / -1; height: 78px; width: 100%; overflow: visible; }
.run output { color: var(--soft); font-variant-numeric: tabular-nums; }
.run .at { grid-column: 1 / -1; margin: 0; color: var(--soft); font-variant-numeric: tabular-nums; }
.icon { display: inline-grid; place-items: center; min-width: 2.2rem; padding: .3em .4em; }
.code { position: relative; margin: .6em 0 0; padding: .7em .9em; background: var(--card); border-radius: 8px; overflow-x: auto; font: .8125rem/1.5 ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; max-height: 12em; tab-size: 4; }
details { margin-top: .5em; font-size: .875rem; }
summary { cursor: pointer; color: var(--soft); min-height: 1.5rem; }
textarea { width: 100%; min-height: 5.5em; font: .8125rem/1.4 ui-monospace, monospace; }
.pinned { margin: .8em 0 0; }
.pinned img { max-width: 100%; height: auto; display: block; border: 1px solid var(--line); border-radius: 8px; }
.pinned p { margin: .3em 0; color: var(--soft); font-size: .875rem; }
table { border-collapse: collapse; margin: .5em 0; font-size: .8125rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2em .8em .2em 0; text-align: right; border-bottom: 1px solid var(--line); font-weight: 400; }
th:first-child { text-align: left; }
thead th { color: var(--soft); }
.swatch { display: inline-block; width: .8em; height: .8em; border-radius: 3px; margin-right: .5em; }
.sr { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media print { .side, .bar, .run, .hint, details { display: none; } }
`;
  const KEY = { // the legend of each task
    classify: [['neg', 0], ['pos', 1], ['free', 'free support vector'], ['bound', 'at the bound'], ['wrong', 'error'], ['zero', 'f = 0'], ['one', 'f = ±1']],
    oneclass: [['pos', 'point'], ['free', 'free support vector'], ['bound', 'at the bound'], ['wrong', 'outside'], ['zero', 'f = 0']],
    regress: [['neg', 'inside the tube'], ['free', 'on its edge'], ['bound', 'outside: at the bound'], ['zero', 'f'], ['one', 'f ± ε']],
    process: [['neg', 'point'], ['zero', 'mean'], ['band', 'mean ± 2 standard deviations']]
  };
  const TOOLS = [['move', 'Move', 'drag points'], ['pos', 'Add ◆', 'place points of the second class'], ['neg', 'Add ●', 'place points of the first class'], ['flip', 'Flip', 'change the class of a point'], ['delete', 'Delete', 'delete points'], ['spray', 'Spray', 'spray noise on points']];

  const ICONS = { first: 'M2 2h2v12H2zM14 2v12L5 8z', back: 'M11 3v10L4 8z', play: 'M4 2v12l9-6z', pause: 'M3 2h4v12H3zM9 2h4v12H9z', on: 'M5 3v10l7-5z', last: 'M12 2h2v12h-2zM2 2v12l9-6z' };

  class Figure extends w.HTMLElement {
    connectedCallback() {
      if (this.shadowRoot) return;
      let spec = null;
      try {
        const text = this.getAttribute('spec');
        spec = text ? specOf(JSON.parse(text)) : PRESETS[this.getAttribute('data') || 'moons'] && specOf(Object.assign({ name: this.getAttribute('data') || 'moons' }, PRESETS[this.getAttribute('data') || 'moons']));
      } catch (e) { spec = null; }
      if (!spec) {
        this.textContent = 'This figure has no data: data is one of ' + Object.keys(PRESETS).join(', ') + '.';
        return;
      }
      this.first = spec;
      this.engine = L.engines[this.getAttribute('engine') || 'worker'];
      this.full = this.getAttribute('tools') === 'all';
      this.undone = [];
      this.answer = null;
      this.draws = 0;
      this.tool = 'move';
      this.build();
      let st = null;
      const shared = this.shared();
      if (shared) st = fromAddress(shared, spec);
      const state = this.getAttribute('state');
      if (!st && state) st = fromAddress(state, spec);
      this.load(st || start(spec));
      if (st) this.ask();
      w.addEventListener('hashchange', () => {
        const text = this.shared(), next = text && text !== this.saved && fromAddress(text, this.first);
        if (!next) return;
        this.load(next);
        this.ask();
        const box = this.getBoundingClientRect();
        if (box.bottom < 80 || box.top > w.innerHeight - 80) this.scrollIntoView({ block: 'nearest' });
      });
      new ResizeObserver(() => this.resize()).observe(this.plot);
      w.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.recolour());
    }
    // The address of the page has the state of a figure with an id: #id=…
    shared() {
      const at = w.location.hash.slice(1);
      return this.id && at.startsWith(this.id + '=') ? at.slice(this.id.length + 1) : '';
    }

    // build makes the parts that every state has.
    build() {
      const root = this.attachShadow({ mode: 'open' });
      make(root, 'style', {}, STYLE);
      this.title_ = make(root, 'p', { class: 'title' });
      this.sub = make(root, 'p', { class: 'sub' });
      this.key = make(root, 'ul', { class: 'key', 'aria-label': 'Legend' });
      const body = make(root, 'div', { class: 'body' }), main = make(body, 'div');
      this.plot = make(main, 'div', { class: 'plot' });
      this.canvas = make(this.plot, 'canvas', { 'aria-hidden': 'true' });
      this.svg = makeSVG(this.plot, 'svg', { role: 'group', 'aria-label': 'Points. Arrow keys move one, n and p choose another, Enter changes its class, Delete removes it, + adds one beside it.' });
      this.tip = make(this.plot, 'div', { class: 'tip', hidden: '' });
      this.hint = make(this.plot, 'p', { class: 'hint' }, 'Drag a point: it trains again');
      this.proof = make(main, 'p', { class: 'proof' });
      this.run = make(main, 'div', { class: 'run', hidden: '' });
      this.tools = make(main, 'div', { class: 'row bar', role: 'group', 'aria-label': 'Tools' });
      this.side = make(body, 'div', { class: 'side' });
      this.below = make(root, 'div');
      this.said = make(root, 'p', { class: 'sr', role: 'status', 'aria-live': 'polite' });
      this.buildRun();
      this.buildTools();
      this.buildBelow();
      this.pointers();
      this.recolour();
    }
    recolour() {
      this.colours = palette(this);
      for (const k in this.colours) if (k !== 'series') this.style.setProperty('--' + k, this.colours[k]);
      if (this.state) this.draw();
    }
    button(parent, text, label, act) {
      const b = make(parent, 'button', { type: 'button' }, text);
      if (label) b.setAttribute(/^[\w ◆●]+$/.test(text) ? 'title' : 'aria-label', label);
      b.onclick = () => act(b);
      return b;
    }
    buildRun() {
      const row = make(this.run, 'div', { class: 'row', role: 'group', 'aria-label': 'The run of the solver' }), b = (icon, label, act) => {
        const e = this.button(row, '', '', act);
        e.classList.add('icon');
        e.setAttribute('aria-label', label);
        makeSVG(makeSVG(e, 'svg', { viewBox: '0 0 16 16', width: 15, height: 15, 'aria-hidden': 'true' }), 'path', { d: ICONS[icon], fill: 'currentColor' });
        return e;
      };
      b('first', 'To the start of the run', () => this.goTo(0));
      b('back', 'One step back', () => this.goTo(this.at() - 1));
      this.play = b('play', 'Play the run', () => this.toggle());
      b('on', 'One step on', () => this.goTo(this.at() + 1));
      b('last', 'To the answer', () => this.goTo(Infinity));
      this.moments = make(this.run, 'input', { type: 'range', min: 0, max: 0, value: 0, 'aria-label': 'Moment of the run' });
      this.moments.oninput = () => this.goTo(+this.moments.value);
      this.gap = makeSVG(this.run, 'svg', { class: 'gap', role: 'img', 'aria-label': 'Duality gap over the iterations' });
      this.when = make(this.run, 'p', { class: 'at' });
    }
    buildTools() {
      if (this.full) {
        this.toolset = make(this.tools, 'div', { class: 'group', role: 'group', 'aria-label': 'What a click does' });
      }
      this.changes = make(this.tools, 'div', { class: 'group' });
      if (this.full) this.button(this.changes, 'Noise', 'Move all points a little', () => { this.keep(); this.shake(this.state.points.map((p, i) => i)); this.ask(); });
      this.undo = this.button(this.changes, 'Undo', 'Take back the last change of the points', () => this.back());
      this.button(this.changes, 'Reset', 'Back to the beginning', () => { this.load(start(this.state.spec)); this.ask(); });
    }
    buildBelow() {
      const more = make(this.below, 'details'), row = make(make(more, 'div'), 'div', { class: 'row bar' });
      make(more, 'summary', {}, 'Go code, download, compare');
      more.prepend(more.lastChild);
      this.button(row, 'Copy Go code', '', b => this.copy(this.code.textContent, b));
      if (this.id) this.button(row, 'Copy link', 'A link to this state', b => { this.share(); this.copy(w.location.href, b); });
      this.button(row, 'SVG', 'Download as SVG', () => this.download('svg', Promise.resolve(new Blob([this.picture()], { type: 'image/svg+xml' }))));
      this.button(row, 'PNG', 'Download as PNG', () => this.download('png', this.png()));
      this.button(row, 'Pin beside', 'Keep this picture to compare', () => this.pin());
      this.raceButton = this.button(row, 'Race the solvers', 'Solve the problem by each solver', () => this.race());
      if (this.full) {
        const csv = make(more, 'details');
        make(csv, 'summary', {}, 'Paste a small CSV');
        const label = make(csv, 'label', {}, 'Lines of x1, x2, class; or of x, y. A first line of names is allowed. '), area = make(label, 'textarea', { spellcheck: 'false', placeholder: '1.2, 0.4, a\n0.3, 0.9, b' });
        this.button(csv, 'Use these points', '', () => this.paste(area.value));
      }
      this.code = make(more, 'pre', { class: 'code', tabindex: '0', 'aria-label': 'Go code of this figure' });
      this.results = make(this.below, 'div');
    }

    // load shows another state, of this or of another data set.
    load(st) {
      this.stop();
      const s = st.spec, fresh = !this.state || this.state.spec !== s;
      this.state = st;
      this.answer = null;
      this.best = null;
      this.undone = [];
      if (fresh) {
        this.buildSide();
        this.legend();
        this.raceButton.hidden = s.task === 'process' || s.task === 'regress';
        this.setTool('move');
      }
      if (fresh || !inside(this.view, st)) this.frame();
      this.sync();
      this.placeAll();
      const beginning = start(s);
      if (s.still && address(st) === address(beginning)) {
        const a = read(w.Float64Array.from(new w.Float32Array(decode(s.still).buffer)));
        a.view = stillView(viewOf(s, s.points), s.d);
        this.take(a, true);
      } else this.draw();
    }
    buildSide() {
      const side = this.side, st = this.state, s = st.spec;
      side.textContent = '';
      this.syncs = [];
      const choice = (name, options, get, set) => {
        const label = make(side, 'label', { class: 'choice' }, name), e = make(label, 'select', { 'data-choice': name });
        options.forEach(o => make(e, 'option', {}, o));
        e.onchange = () => set(e.selectedIndex);
        this.syncs.push(() => { e.selectedIndex = get(); });
      };
      if (this.full) {
        const names = Object.keys(PRESETS);
        choice('data', names.map(n => PRESETS[n].label).concat(names.includes(s.name) ? [] : [s.label || s.name]), () => names.includes(s.name) ? names.indexOf(s.name) : names.length, i => {
          if (i < names.length) this.load(start(specOf(Object.assign({ name: names[i] }, PRESETS[names[i]]))));
          this.ask();
        });
      }
      if (s.kernels.length > 1) choice('kernel', s.kernels.map(k => k.name), () => this.state.kernel, i => this.change(() => { this.state.kernel = i; }));
      s.dials.forEach((d, i) => {
        const label = make(side, 'label', { class: 'dial' }), name = { NoiseVariance: 'noise variance', 'Scale.c': 'scale', gamma: 'γ (gamma)', epsilon: 'ε (epsilon)', nu: 'ν (nu)' }[d.name] || d.name;
        make(label, 'span', {}, name);
        const out = make(label, 'output'), input = make(label, 'input', { type: 'range', min: 0, max: d.values.length - 1, 'data-dial': d.name });
        input.oninput = () => this.change(() => { this.state.at[i] = +input.value; }, true);
        input.onchange = () => this.ask();
        this.syncs.push(() => {
          input.value = this.state.at[i];
          out.textContent = num(+d.values[this.state.at[i]], 3);
          input.setAttribute('aria-valuetext', d.name + ' ' + d.values[this.state.at[i]]);
          label.hidden = d.kernel >= 0 && d.kernel !== this.state.kernel;
          label.style.display = label.hidden ? 'none' : '';
        });
      });
      if (s.methods.length > 1) choice('solver', s.methods, () => this.state.method, i => this.change(() => { this.state.method = i; }));
      this.certain = null;
      if (s.task === 'classify') {
        const label = make(side, 'label', { class: 'check' });
        this.certain = make(label, 'input', { type: 'checkbox' });
        make(label, 'span', {}, 'where labels are certain');
        label.title = 'Outside of the hatched band, the duality gap proves that the label is that of the optimal machine.';
        this.certain.onchange = () => this.ask();
      }
    }
    sync() {
      this.syncs.forEach(f => f());
      this.undo.disabled = !this.undone.length;
      this.stepping();
    }
    legend() {
      const s = this.state.spec;
      this.key.textContent = '';
      KEY[s.task].forEach(([kind, text]) => {
        const li = make(this.key, 'li'), g = makeSVG(li, 'svg', { viewBox: '-10 -10 20 20', 'aria-hidden': 'true' });
        const mark = (k, classes) => this.glyph(makeSVG(g, 'g', { class: 'point ' + classes }), k, 6);
        if (kind === 'zero' || kind === 'one') makeSVG(g, 'path', { d: 'M-10 0H10', stroke: 'var(--ink)', 'stroke-width': kind === 'zero' ? 2.6 : 1.6, 'stroke-dasharray': kind === 'one' ? '6 3' : 'none' });
        else if (kind === 'band') makeSVG(g, 'rect', { x: -10, y: -5, width: 20, height: 10, fill: 'var(--neg)', opacity: 0.25 });
        else if (kind === 'neg' || kind === 'pos') mark(kind, kind);
        else if (kind === 'wrong') mark('none', 'wrong');
        else mark('none', kind);
        li.append(typeof text === 'number' ? s.classes[text] : text);
      });
      if (this.full && this.toolset) {
        this.toolset.textContent = '';
        const two = s.task === 'classify';
        TOOLS.filter(t => two || t[0] !== 'neg' && t[0] !== 'flip').forEach(([name, text, label]) => {
          const b = this.button(this.toolset, !two && name === 'pos' ? 'Add' : text, !two && name === 'pos' ? 'place points' : label, () => this.setTool(name));
          b.dataset.tool = name;
        });
      }
    }
    setTool(name) {
      this.tool = name;
      this.plot.classList.toggle('draw', name === 'pos' || name === 'neg' || name === 'spray');
      if (this.toolset) this.toolset.querySelectorAll('button').forEach(b => b.setAttribute('aria-pressed', b.dataset.tool === name));
    }

    // ---- the points.
    glyph(g, kind, r) {
      makeSVG(g, 'circle', { class: 'reach', r: 15 });
      makeSVG(g, 'circle', { class: 'focus', r: r + 8 });
      if (kind === 'pos') makeSVG(g, 'path', { class: 'mark', d: 'M0 ' + -(r + 1) + 'L' + (r + 1) + ' 0 0 ' + (r + 1) + ' ' + -(r + 1) + ' 0Z' });
      else if (kind !== 'none') makeSVG(g, 'circle', { class: 'mark', r: r });
      makeSVG(g, 'circle', { class: 'ring', r: r + 3.2 });
      const c = r + 3.5, k = 0.4 * c;
      makeSVG(g, 'path', { class: 'cross', d: [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(q => 'M' + q[0] * c + ' ' + q[1] * c + 'L' + q[0] * k + ' ' + q[1] * k).join('') });
    }
    radius() {
      const n = this.state.points.length, r = n > 400 ? 3.2 : n > 150 ? 4.2 : 5.2;
      return this.width < 520 ? Math.max(3, r - 1) : r;
    }
    kindOf(p) { return this.state.spec.task === 'oneclass' || this.state.spec.task === 'classify' && p.y > 0 ? 'pos' : 'neg'; }
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
    }
    put(i) {
      const p = this.state.points[i], c = this.to(p.x, this.vertical(p));
      this.dots[i].setAttribute('transform', 'translate(' + c[0].toFixed(1) + ' ' + c[1].toFixed(1) + ')');
      this.label(i);
    }
    label(i) {
      const p = this.state.points[i], s = this.state.spec, where = num(p.x, 3) + ', ' + num(this.vertical(p), 3);
      this.dots[i].setAttribute('aria-label', 'point ' + i + (s.task === 'classify' ? ', class ' + s.classes[p.y > 0 ? 1 : 0] : '') + ', at ' + where + (this.rested() ? ', ' + this.kkt(i).join(', ') : ''));
    }
    vertical(p) { return this.state.spec.d > 1 ? p.x2 : p.y; }
    focusPoint(i) {
      this.dots.forEach((g, k) => g.setAttribute('tabindex', k === i ? 0 : -1));
      this.dots[i].focus({ preventScroll: true });
    }
    to(x, y) {
      const v = this.view, b = this.box;
      return [b.x + (x - v.xs[0]) / (v.xs[1] - v.xs[0]) * b.w, b.y + b.h - (y - v.ys[0]) / (v.ys[1] - v.ys[0]) * b.h];
    }
    from(px, py) {
      const v = this.view, b = this.box, snap = (x, e) => { const unit = Math.pow(10, Math.floor(Math.log10(e[1] - e[0])) - 3); return +(Math.round(x / unit) * unit).toPrecision(12); };
      const clip = t => Math.max(0, Math.min(1, t));
      return [snap(v.xs[0] + clip((px - b.x) / b.w) * (v.xs[1] - v.xs[0]), v.xs), snap(v.ys[0] + clip((b.y + b.h - py) / b.h) * (v.ys[1] - v.ys[0]), v.ys)];
    }
    moveTo(i, x, y) {
      const p = this.state.points[i];
      p.x = x;
      if (this.state.spec.d > 1) p.x2 = y; else p.y = y;
      this.put(i);
    }
    keep() { // for Undo
      this.undone.push(this.state.points.map(p => Object.assign({}, p)));
      if (this.undone.length > 50) this.undone.shift();
      this.undo.disabled = false;
      this.end();
    }
    back() {
      if (!this.undone.length) return;
      this.end();
      this.state.points = this.undone.pop();
      this.undo.disabled = !this.undone.length;
      this.placeAll();
      this.ask();
    }
    end() { // a change of the data ends the look at a moment
      this.stop();
      this.state.moment = -1;
    }
    add(x, y, label) {
      if (this.state.points.length >= 2000) return;
      const s = this.state.spec;
      this.state.points.push(s.d > 1 ? { x: x, x2: y, y: label, from: -1 } : { x: x, x2: 0, y: y, from: -1 });
      this.answer = null;
      this.placeAll();
    }
    remove(i) {
      if (this.state.points.length < 3) return;
      this.keep();
      this.state.points.splice(i, 1);
      this.answer = null;
      this.placeAll();
      this.ask();
    }
    flip(i) {
      if (this.state.spec.task !== 'classify') return;
      this.keep();
      this.state.points[i].y *= -1;
      this.placeAll();
      this.ask();
    }
    shake(list) {
      const normal = () => Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
      list.forEach(i => {
        const c = this.to(this.state.points[i].x, this.vertical(this.state.points[i])), s = 0.012 * this.box.w, q = this.from(c[0] + s * normal(), c[1] + s * normal());
        this.moveTo(i, q[0], q[1]);
      });
    }
    near(px, py, reach) { // the point nearest to a place, or −1
      let best = -1, least = reach * reach;
      this.state.points.forEach((p, i) => {
        const c = this.to(p.x, this.vertical(p)), d = (c[0] - px) * (c[0] - px) + (c[1] - py) * (c[1] - py);
        if (d <= least) { least = d; best = i; }
      });
      return best;
    }

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
        if (this.tool === 'pos' || this.tool === 'neg') {
          if (c[0] < this.box.x || c[0] > this.box.x + this.box.w || c[1] < this.box.y || c[1] > this.box.y + this.box.h) return;
          this.keep();
          const q = this.from(c[0], c[1]);
          this.add(q[0], q[1], this.tool === 'pos' ? 1 : -1);
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
    }
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
    }
    // point shows what is known of a point: its multiplier and the state of its KKT condition.
    point(i) {
      if (i < 0 || !this.answer || this.answer.n !== this.state.points.length) {
        this.tip.hidden = true;
        return;
      }
      const p = this.state.points[i], s = this.state.spec, c = this.to(p.x, this.vertical(p)), lines = ['point ' + i + (s.task === 'classify' ? ' · ' + s.classes[p.y > 0 ? 1 : 0] : '') + ' · (' + num(p.x) + ', ' + num(this.vertical(p)) + ')'].concat(this.kkt(i));
      this.tip.textContent = '';
      lines.forEach(t => make(this.tip, 'p', {}, t));
      this.tip.hidden = false;
      const wide = this.tip.offsetWidth, high = this.tip.offsetHeight;
      this.tip.style.left = Math.max(0, Math.min(this.width - wide, c[0] > this.width / 2 ? c[0] - wide - 14 : c[0] + 14)) + 'px';
      this.tip.style.top = Math.max(0, Math.min(this.height - high, c[1] - high / 2)) + 'px';
    }
    kkt(i) {
      const a = this.answer, p = this.state.points[i], s = this.state.spec, alpha = a.alpha[i], f = a.f[i], most = s.task === 'oneclass' ? 1 : cost(this.state);
      const kind = this.support(i), names = ['no support vector', 'free support vector', 'at the bound'];
      if (s.task === 'process') return ['mean ' + num(f), 'residual ' + num(p.y - f)];
      if (s.task === 'regress') return ['β = ' + num(alpha) + ', bound ±' + num(most), 'residual ' + num(p.y - f) + ', tube ±' + num(epsilonOf(this.state)), ['inside the tube', 'on the edge of the tube', 'outside, at the bound'][kind]];
      const yf = (s.task === 'oneclass' ? 1 : p.y) * f, edge = s.task === 'oneclass' ? 0 : 1, name = s.task === 'oneclass' ? 'f' : 'y·f';
      const off = kind === 0 ? Math.max(0, edge - yf) : kind === 1 ? Math.abs(edge - yf) : Math.max(0, yf - edge);
      return ['α = ' + num(alpha) + ' of at most ' + num(most), names[kind] + ': wants ' + name + ' ' + ['≥ ', '= ', '≤ '][kind] + edge, name + ' = ' + num(yf) + (off > 1e-12 ? ', off by ' + num(off, 2) : '') + (yf < 0 ? s.task === 'oneclass' ? ', outside' : ', an error' : '')];
    }
    support(i) { // 0 none, 1 free, 2 at the bound
      const a = Math.abs(this.answer.alpha[i]), most = this.state.spec.task === 'oneclass' ? 1 : cost(this.state);
      return this.state.spec.task === 'process' ? 0 : a <= 0 ? 0 : a >= most * (1 - 1e-12) ? 2 : 1;
    }

    // ---- questions and answers.
    wake() {
      if (this.awake) return;
      this.awake = true;
      this.hint.textContent = 'starting …';
      this.hint.hidden = false;
    }
    change(f, hurry) {
      this.end();
      f();
      this.sync();
      this.ask(hurry);
    }
    // ask wants a picture of the state: a coarse one at once while the reader drags (hurry), or
    // a fine one. An answer that stopped at its time limit is continued (more).
    ask(hurry, more) {
      this.wake();
      if (!more) this.rounds = 0;
      const st = this.state, view = this.view, asked = this.asked = { hurry: !!hurry, points: st.points.length, moment: hurry || more ? -1 : st.moment, since: w.performance.now() };
      if (!st.points.length) return this.take({ error: 'There are no points: place some.' });
      const q = question(st, view, { hurry: hurry, more: more, certain: this.certain && this.certain.checked });
      this.engine.ask(this, q.kernel, q.method, q.numbers, a => {
        if (asked.points !== this.state.points.length || st !== this.state) return;
        a.hurry = asked.hurry;
        a.asked = asked;
        a.view = view;
        this.take(a);
        if (this.log) this.log.push({ since: asked.since, drawn: w.performance.now(), hurry: asked.hurry });
        if (!hurry && asked === this.asked && !a.error) {
          if (!a.converged && ++this.rounds < 40) this.ask(false, true);
          else this.rest();
        }
      });
    }
    rested() { return this.answer && !this.answer.hurry && this.answer.n === this.state.points.length; }
    take(a, still) {
      if (a.error) {
        this.hint.textContent = a.error.replace(/^[a-z]+: /, '');
        this.hint.hidden = false;
        this.hint.classList.add('bad');
        return;
      }
      if (!still) {
        this.hint.hidden = true;
        this.hint.classList.remove('bad');
      }
      this.still = !!still;
      this.answer = a;
      if (a.trace) this.best = { samples: a.samples.slice(), count: a.trace };
      else if (a.hurry || this.rounds === 0) this.best = null;
      this.draw();
      this.draws++;
    }
    rest() { // the picture is final: say so, and write the state into the address
      const st = this.state;
      if (st.moment >= 0 && this.best && st.moment >= this.best.count - 1 && !this.playing) st.moment = -1;
      this.dots.forEach((g, i) => this.label(i));
      this.said.textContent = this.title_.textContent + '. ' + this.proof.textContent;
      this.share();
      this.write();
      this.dispatchEvent(new w.CustomEvent('svmnb-rest', { bubbles: true }));
    }
    share() {
      if (!this.id) return;
      this.saved = address(this.state);
      try {
        w.history.replaceState(w.history.state, '', '#' + this.id + '=' + this.saved);
      } catch (e) { /* a page without an address */ }
    }
    write() {
      const p = program(this.state, USING[this.state.spec.methods[this.state.method]]);
      this.code.textContent = p.data + '\n' + p.line + p.show;
    }

    // ---- the run of the solver.
    at() { return this.state.moment < 0 ? this.best ? this.best.count - 1 : 0 : this.state.moment; }
    goTo(k) {
      if (!this.playing) this.stop();
      if (!this.best) return;
      const last = this.best.count - 1;
      this.state.moment = k >= last ? -1 : Math.max(0, k);
      this.ask();
    }
    toggle() {
      if (this.playing) return this.stop();
      const step = () => {
        if (!this.playing) return;
        if (this.best && this.asked && !this.busy()) {
          if (this.state.moment < 0) return this.stop();
          this.goTo(this.at() + Math.max(1, Math.round(this.best.count / 160)));
        }
        this.playing = w.setTimeout(step, w.matchMedia('(prefers-reduced-motion: reduce)').matches ? 600 : 70);
      };
      this.playing = w.setTimeout(step, 30);
      if (this.at() >= (this.best ? this.best.count : 1) - 1) this.goTo(0);
      this.playLooks('pause', 'Pause');
    }
    busy() { return !this.answer || this.answer.asked !== this.asked; }
    stop() {
      if (this.playing) w.clearTimeout(this.playing);
      this.playing = 0;
      this.playLooks('play', 'Play the run');
    }
    playLooks(icon, label) {
      this.play.setAttribute('aria-label', label);
      this.play.querySelector('path').setAttribute('d', ICONS[icon]);
    }
    stepping() { this.run.hidden = this.state.spec.task === 'process' || !this.best || this.best.count < 2; }
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
    }
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
    }
    raceDone(out) {
      this.raceButton.disabled = false;
      this.hint.hidden = true;
      const box = this.results, old = box.querySelector('.race');
      if (old) old.remove();
      const part = make(box, 'div', { class: 'race' }), table = make(part, 'table'), head = make(make(table, 'thead'), 'tr'), body = make(table, 'tbody');
      ['solver', 'iterations', 'kernel values', 'gap', 'ms'].forEach(t => make(head, 'th', { scope: 'col' }, t));
      this.raced = [];
      out.forEach((o, k) => {
        const tr = make(body, 'tr'), th = make(tr, 'th', { scope: 'row' }), colour = this.colours.series[k % this.colours.series.length];
        make(th, 'span', { class: 'swatch' }).style.background = colour;
        th.append(o.name);
        if (o.a.error) make(tr, 'td', { colspan: 4 }, o.a.error);
        else {
          [o.a.iterations, o.a.evaluations, num(o.a.gap, 3), o.a.millis.toFixed(1)].forEach(v => make(tr, 'td', {}, String(v)));
          this.raced.push({ samples: o.a.samples, count: o.a.trace, colour: colour });
        }
      });
      this.drawGap();
      this.button(part, 'Close the race', '', () => { part.remove(); this.raced = null; this.drawGap(); });
    }

    // ---- the picture.
    resize() {
      const width = Math.round(this.plot.clientWidth);
      if (!width || width === this.width) return;
      this.width = width;
      this.layout();
      this.placeAll();
      this.draw();
      if (this.answer && !this.still) this.ask();
    }
    layout() {
      const s = this.state.spec, narrow = this.width < 520, left = narrow ? 40 : 52, right = 10, top = 8, bottom = narrow ? 38 : 44, wide = this.width - left - right;
      const high = Math.round(Math.max(narrow ? 0.8 * wide : 260, Math.min(580, wide * (s.d > 1 ? 0.66 : 0.58))));
      this.height = high + top + bottom;
      this.box = { x: left, y: top, w: wide, h: high };
      this.frame();
      this.svg.setAttribute('viewBox', '0 0 ' + this.width + ' ' + this.height);
      this.canvas.style.height = this.height + 'px';
    }
    frame() { // chooses the part of the plane to show: the data set's, and all points
      const s = this.state.spec, v = viewOf(s, s.points.concat(this.state.points));
      this.view = s.d > 1 && s.alike !== false && this.box ? equal(v, this.box.w / this.box.h) : v;
    }
    draw() {
      if (!this.width || !this.state) return;
      if (!this.box) this.layout();
      const ratio = w.devicePixelRatio || 1, cw = Math.round(this.width * ratio), ch = Math.round(this.height * ratio), ctx = this.canvas.getContext('2d');
      if (this.canvas.width !== cw || this.canvas.height !== ch) { this.canvas.width = cw; this.canvas.height = ch; }
      ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
      ctx.clearRect(0, 0, this.width, this.height);
      this.scene(canvasPen(ctx));
      this.words();
      if (!this.answer || this.answer.n !== this.state.points.length) return;
      const task = this.state.spec.task;
      this.dots.forEach((g, i) => {
        const p = this.state.points[i], k = this.support(i), wrong = task === 'classify' ? p.y * this.answer.f[i] < 0 : task === 'oneclass' && this.answer.f[i] < 0;
        const c = 'point ' + this.kindOf(p) + ['', ' free', ' bound'][k] + (wrong ? ' wrong' : '') + (g.classList.contains('held') ? ' held' : '');
        if (g.getAttribute('class') !== c) g.setAttribute('class', c);
      });
      if (!this.answer.hurry || this.best) this.drawGap();
    }
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
    }
    plane(pen, a) {
      let z = a.field;
      const c = this.colours, b = this.box, nx = a.nx, ny = a.ny, corner = this.to(a.view.xs[0], a.view.ys[0]), far = this.to(a.view.xs[1], a.view.ys[1]), place = paths => paths.map(p => p.map(q => [corner[0] + q[0] * (far[0] - corner[0]) / (nx - 1), corner[1] + q[1] * (far[1] - corner[1]) / (ny - 1)]));
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
      if (this.state.spec.task === 'classify') pen.line(one(1).concat(one(-1)), c.ink, 1.6, [6, 4]);
      pen.line(one(0), c.ink, 2.6);
    }
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
    }
    curve(pen, a) {
      const c = this.colours, v = a.view, n = a.nx, X = i => v.xs[0] + (v.xs[1] - v.xs[0]) * i / (n - 1), path = f => { const p = []; for (let i = 0; i < n; i++) p.push(this.to(X(i), f(i))); return p; };
      const half = a.sd ? i => 2 * a.sd[i] : () => epsilonOf(this.state), up = path(i => a.field[i] + half(i)), down = path(i => a.field[i] - half(i));
      ticks(this.view.ys, this.box.h / 50).forEach(t => pen.line([[this.to(this.view.xs[0], t), this.to(this.view.xs[1], t)]], c.grid, 1));
      pen.area([up.concat(down.slice().reverse())], mix(c, 'neg', 0.16));
      pen.line([up, down], a.sd ? mix(c, 'neg', 0.45) : c.ink, a.sd ? 1 : 1.4, a.sd ? null : [6, 4]);
      pen.line([path(i => a.field[i])], c.ink, 2.6);
    }
    words() {
      const a = this.answer, st = this.state, s = st.spec, n = st.points.length, kernel = kernelText(st);
      const C = { classify: 'C = ', regress: 'C = ', oneclass: 'ν = ', process: 'noise variance ' }[s.task] + num(cost(st));
      this.sub.textContent = (s.label || s.name) + ' · ' + kernel + ' · ' + C + (s.task === 'regress' ? ' · ε = ' + num(epsilonOf(st)) : '') + (a && s.task === 'classify' ? ' · margin 1/‖w‖ = ' + num(1 / Math.sqrt(a.norm2)) : '');
      if (!a || a.n !== n) {
        if (!a) this.title_.textContent = several(n, 'point');
        return;
      }
      let free = 0, bound = 0, wrong = 0;
      for (let i = 0; i < n; i++) {
        const k = this.support(i);
        free += k === 1;
        bound += k === 2;
        wrong += s.task === 'classify' ? st.points[i].y * a.f[i] < 0 : s.task === 'oneclass' && a.f[i] < 0;
      }
      this.title_.textContent = {
        classify: () => free + bound ? free + bound + ' of ' + several(n, 'point') + ' carry the boundary: ' + free + ' free, ' + bound + ' at the bound; ' + several(wrong, 'error') : 'No support vectors yet: f is constant on ' + several(n, 'point'),
        oneclass: () => free + bound + ' of ' + several(n, 'point') + ' carry the region; ' + wrong + ' outside',
        regress: () => free + bound + ' of ' + several(n, 'point') + ' carry the curve: ' + free + ' on the edge of the tube, ' + bound + ' outside',
        process: () => 'Posterior of ' + several(n, 'point') + ': log marginal likelihood ' + num(a.evidence, 5)
      }[s.task]();
      this.proof.textContent = '';
      const proof = this.proof, say = (t, strong) => strong ? make(proof, 'b', {}, t) : proof.append(t);
      if (this.still) return proof.append('Gap ' + num(a.gap, 3) + '. A still picture: drag a point or move a slider, and it trains in this page.');
      if (s.task === 'process') {
        say('Certificate: ', true);
        return say('‖error‖² in the norm of K + noise ≤ ' + num(a.gap, 3) + ' · residual ' + num(a.maxkkt, 2));
      }
      if (st.moment >= 0) {
        say('On the way: ', true);
        return say('iteration ' + a.iterations + ', gap ' + num(a.gap, 3) + ', largest KKT violation ' + num(a.maxkkt, 3));
      }
      say(a.hurry ? 'While you drag: ' : a.converged ? 'Certificate: ' : 'Still training: ', true);
      // The optimum lies between the dual and the primal objective.
      const share = a.primal * a.dual > 0 ? 100 * a.gap / Math.min(Math.abs(a.primal), Math.abs(a.dual)) : NaN;
      say('gap ' + num(a.gap, 3) + (share < 100 ? ', so the objective is at most ' + num(share, 2) + ' % from its optimum' : '') + ' · KKT violation ' + num(a.maxkkt, 2) + ' · ' + several(a.iterations, 'iteration') + ' · ' + a.millis.toFixed(1) + ' ms');
    }

    // ---- out of the page.
    picture() { // the whole figure as SVG
      const pen = svgPen(), c = this.colours;
      const shift = 46;
      const moved = { area: (p, f) => pen.area(p.map(q => q.map(down)), f), line: (p, st, wd, ds) => pen.line(p.map(q => q.map(down)), st, wd, ds), text: (x, y, t, f, sz, al, tu) => pen.text(x, y + shift, t, f, sz, al, tu), clip: (x, y, wd, h, d) => pen.clip(x, y + shift, wd, h, d) };
      function down(q) { return [q[0], q[1] + shift]; }
      pen.text(12, 20, this.title_.textContent, c.ink, 15, 'start');
      pen.text(12, 38, this.sub.textContent, c.soft, 12, 'start');
      this.scene(moved);
      this.pointsWith(moved);
      return pen.svg(this.width, this.height + shift, this.title_.textContent + '. ' + this.sub.textContent, c.page);
    }
    pointsWith(pen) {
      const c = this.colours, r = this.radius(), task = this.state.spec.task, known = this.answer && this.answer.n === this.state.points.length;
      this.state.points.forEach((p, i) => {
        const q = this.to(p.x, this.vertical(p)), kind = this.kindOf(p), k = known ? this.support(i) : 0;
        pen.area([kind === 'pos' ? diamond(q[0], q[1], r + 1) : circle(q[0], q[1], r)], c[kind]);
        if (k) pen.line([circle(q[0], q[1], r + 3.2).concat([[q[0] + r + 3.2, q[1]]])], k === 1 ? c.ink : c.soft, k === 1 ? 2.2 : 1.6);
        if (known && (task === 'classify' && p.y * this.answer.f[i] < 0 || task === 'oneclass' && this.answer.f[i] < 0)) pen.line(cross(q[0], q[1], r + 3.5), c.bad, 2);
      });
    }
    png() {
      const canvas = document.createElement('canvas'), k = 2;
      canvas.width = this.width * k;
      canvas.height = (this.height + 46) * k;
      const ctx = canvas.getContext('2d'), pen = canvasPen(ctx);
      ctx.scale(k, k);
      ctx.fillStyle = this.colours.page;
      ctx.fillRect(0, 0, this.width, this.height + 46);
      pen.text(12, 20, this.title_.textContent, this.colours.ink, 15, 'start');
      pen.text(12, 38, this.sub.textContent, this.colours.soft, 12, 'start');
      ctx.translate(0, 46);
      this.scene(pen);
      this.pointsWith(pen);
      return new Promise(ok => canvas.toBlob(ok, 'image/png'));
    }
    download(kind, blob) {
      blob.then(data => {
        const a = document.createElement('a');
        a.href = w.URL.createObjectURL(data);
        a.download = 'svmnb-' + this.state.spec.name + '.' + kind;
        a.click();
        w.setTimeout(() => w.URL.revokeObjectURL(a.href), 10000);
      });
    }
    copy(text, button) {
      const said = button.textContent, done = ok => { button.textContent = ok ? 'Copied' : 'Select the text below'; w.setTimeout(() => { button.textContent = said; }, 1500); };
      if (!navigator.clipboard) return done(false);
      navigator.clipboard.writeText(text).then(() => done(true), () => done(false));
    }
    pin() {
      const box = make(this.results, 'div', { class: 'pinned' }), text = this.title_.textContent + '. ' + this.sub.textContent;
      make(box, 'img', { src: 'data:image/svg+xml,' + encodeURIComponent(this.picture()), alt: text, width: this.width });
      make(box, 'p', {}, this.proof.textContent);
      this.button(box, 'Remove', 'Remove this picture', () => box.remove());
    }
    paste(text) {
      const rows = text.trim().split(/\r?\n/).map(l => l.split(/[,;\t]/).map(v => v.trim())).filter(r => r.length > 1);
      if (rows.length && isNaN(parseFloat(rows[0][0]))) rows.shift();
      const wrong = (i, why) => this.take({ error: 'Line ' + (i + 1) + ': ' + why });
      if (rows.length < 2) return wrong(0, 'a figure needs at least two points.');
      if (rows.length > 1000) return wrong(1000, 'a figure takes at most 1000 points.');
      const d = rows[0].length - 1, classes = [], x = [], y = [];
      if (d < 1 || d > 2) return wrong(0, 'give two or three columns.');
      for (let i = 0; i < rows.length; i++) {
        const r = rows[i];
        if (r.length !== d + 1) return wrong(i, 'it has ' + several(r.length, 'column') + ', the first has ' + (d + 1) + '.');
        for (let j = 0; j < d + (d < 2); j++) if (r[j] === '' || !isFinite(r[j])) return wrong(i, JSON.stringify(r[j]) + ' is not a number.');
        if (d > 1) {
          if (!classes.includes(r[2])) classes.push(r[2]);
          if (classes.length > 2) return wrong(i, 'there are more than two classes.');
        }
        for (let j = 0; j < d; j++) x.push(+r[j]);
        y.push(d > 1 ? 2 * classes.indexOf(r[2]) - 1 : +r[1]);
      }
      if (d > 1 && classes.length < 2) return wrong(0, 'there is one class only; a machine needs two.');
      const numbers = w.Float64Array.from(x.concat(y)), bytes = new Uint8Array(numbers.buffer);
      let s = '';
      bytes.forEach(b => { s += String.fromCharCode(b); });
      let mean = 0, square = 0;
      x.forEach(v => { mean += v / x.length; });
      x.forEach(v => { square += (v - mean) * (v - mean) / x.length; });
      const gamma = digits(1 / (d * (square || 1)), 3);
      this.load(start(specOf({ name: 'pasted', label: 'pasted points', task: d > 1 ? 'classify' : 'regress', d: d, data: w.btoa(s), c: 10, epsilon: 0.1, classes: classes.length ? classes : ['−1', '+1'], kernels: { first: 'RBF', gamma: gamma } })));
      this.ask();
    }
  }

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
  // stillView is where svmnb/living draws the field of a still picture: so much that it fills a
  // wide figure and a narrow one.
  function stillView(v, d) { return d > 1 ? { xs: equal(v, 1.55).xs, ys: equal(v, 1.2).ys } : v; }
  function inside(v, st) { return st.points.every(p => { const y = st.spec.d > 1 ? p.x2 : p.y; return p.x >= v.xs[0] && p.x <= v.xs[1] && y >= v.ys[0] && y <= v.ys[1]; }); }
  function ticks(e, most) {
    const raw = (e[1] - e[0]) / Math.max(2, most), unit = Math.pow(10, Math.floor(Math.log10(raw))), step = unit * [1, 2, 5, 10].find(k => k * unit >= raw), out = [];
    for (let k = Math.ceil(e[0] / step); k * step <= e[1]; k++) out.push(+(k * step).toPrecision(12));
    return out;
  }
  w.customElements.define('svmnb-figure', Figure);
})(window, $presets, $engine);
