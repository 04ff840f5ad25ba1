const ROUNDS = 40; // parts of a run, of limits.rest each, after which a figure gives up

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
    this.full = ['all', 'points'].includes(this.getAttribute('tools')); // to change the points
    this.more = this.getAttribute('tools') === 'all'; // to choose others
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
    if (st || this.dataset.touched !== undefined || this.engine !== L.engines.worker) this.ask(); // a kernel needs no touch
    w.addEventListener('hashchange', () => {
      const text = this.shared();
      if (!text || text === this.saved) return;
      this.goWhere(text);
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

  where() { return address(this.state); }
  goWhere(text) { // to the state of an address
    const next = fromAddress(text, this.first);
    if (!next) return;
    this.load(next);
    this.ask();
  }

  // build makes the parts that every state has.
  build() {
    const root = this.attachShadow({ mode: 'open' });
    make(root, 'style', {}, STYLE);
    // A still picture in the page stays until there is an answer.
    this.early = this.childElementCount ? make(root, 'slot') : null;
    const all = this.all = make(root, 'div', Object.assign({ role: 'group', 'aria-labelledby': 'title' }, this.early ? { class: 'early' } : {}));
    this.title_ = make(all, 'p', { class: 'title', id: 'title' });
    this.sub = make(all, 'p', { class: 'sub' });
    this.key = make(all, 'ul', { class: 'key', 'aria-label': 'Legend' });
    const body = make(all, 'div', { class: 'body' }), main = make(body, 'div');
    this.plot = make(main, 'div', { class: 'plot' });
    this.canvas = make(this.plot, 'canvas', { 'aria-hidden': 'true' });
    this.svg = makeSVG(this.plot, 'svg', { role: 'group' });
    this.tip = make(this.plot, 'div', { class: 'tip', hidden: '' });
    this.hint = make(this.plot, 'p', { class: 'hint' }, 'Drag a point: it trains again');
    this.proof = make(main, 'p', { class: 'proof' });
    this.note = make(main, 'p', { class: 'proof', hidden: '' });
    this.run = make(main, 'div', { class: 'run', hidden: '' });
    this.tools = make(main, 'div', { class: 'row bar', role: 'group', 'aria-label': 'Tools' });
    this.beside = make(body, 'div', { class: 'beside', hidden: '' });
    this.side = make(body, 'div', { class: 'side' });
    this.below = make(all, 'div');
    this.said = make(root, 'p', { class: 'sr', role: 'status', 'aria-live': 'polite' });
    this.buildRun();
    this.buildTools();
    this.buildBelow();
    this.pointers();
    this.recolour();
  }
  recolour() {
    this.colours = palette(this);
    for (const k in this.colours) this.style.setProperty('--' + k, this.colours[k]);
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
    if (this.more) {
      const csv = make(more, 'details');
      make(csv, 'summary', {}, 'Paste a small CSV');
      const label = make(csv, 'label', {}, 'Lines of x1, x2, class; or of x, y. A first line of names is allowed. '), area = make(label, 'textarea', { spellcheck: 'false', placeholder: '1.2, 0.4, a\n0.3, 0.9, b' });
      this.button(csv, 'Use these points', '', () => this.paste(area.value));
    }
    this.code = make(more, 'pre', { class: 'code', tabindex: '0', role: 'group', 'aria-label': 'Go code of this figure' });
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
      this.raceButton.hidden = s.methods.length < 3 || tubed(s) || !!s.scheme;
      this.note.textContent = s.note || '';
      this.note.hidden = !s.note;
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
    if (this.more) {
      const names = Object.keys(PRESETS);
      choice('data', names.map(n => PRESETS[n].label).concat(names.includes(s.name) ? [] : [s.label || s.name]), () => names.includes(s.name) ? names.indexOf(s.name) : names.length, i => {
        if (i < names.length) this.load(start(specOf(Object.assign({ name: names[i] }, PRESETS[names[i]]))));
        this.ask();
      });
    }
    if (s.kernels.length > 1) choice('kernel', s.kernels.map(k => k.name), () => this.state.kernel, i => this.change(() => { this.state.kernel = i; }));
    s.dials.forEach((d, i) => {
      const label = make(side, 'label', { class: 'dial' }), name = { NoiseVariance: 'noise variance', lambda: 'λ (lambda)', 'Scale.c': 'scale', gamma: 'γ (gamma)', epsilon: 'ε (epsilon)', nu: 'ν (nu)' }[d.name] || d.name;
      make(label, 'span', {}, name);
      // A label names the first control in it, and an output is one; screen readers have the value from the slider.
      const out = make(label, 'span', { class: 'value', 'aria-hidden': 'true' }), input = make(label, 'input', { type: 'range', min: 0, max: d.values.length - 1, 'data-dial': d.name });
      input.oninput = () => this.change(() => { this.state.at[i] = +input.value; }, true);
      input.onchange = () => this.ask();
      this.syncs.push(() => {
        input.value = this.state.at[i];
        out.textContent = num(+d.values[this.state.at[i]], 3);
        input.setAttribute('aria-valuetext', d.values[this.state.at[i]]);
        label.hidden = d.kernel >= 0 && d.kernel !== this.state.kernel;
        label.style.display = label.hidden ? 'none' : '';
      });
    });
    if (s.methods.length > 1) choice('solver', s.methods, () => this.state.method, i => this.change(() => { this.state.method = i; }));
    this.certain = null;
    if (s.task === 'classify' && labelled(s) && !weighted(s) && s.bias === undefined && !s.tau2) {
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
    this.svg.setAttribute('aria-label', 'Points. Arrow keys move one, n and p choose another, ' + (labelled(s) || s.scheme ? 'Enter changes its class, ' : '') + 'Delete removes it, + adds one beside it.');
    this.key.textContent = '';
    keyOf(s).forEach(([kind, text]) => {
      const li = make(this.key, 'li'), g = makeSVG(li, 'svg', { viewBox: '-10 -10 20 20', 'aria-hidden': 'true' });
      const mark = (k, classes) => this.glyph(makeSVG(g, 'g', { class: 'point ' + classes }), k, 6);
      if (kind === 'zero' || kind === 'one') makeSVG(g, 'path', { d: 'M-10 0H10', stroke: 'var(--ink)', 'stroke-width': kind === 'zero' ? 2.6 : 1.6, 'stroke-dasharray': kind === 'one' ? '6 3' : 'none' });
      else if (kind === 'band') makeSVG(g, 'rect', { x: -10, y: -5, width: 20, height: 10, fill: 'var(--neg)', opacity: 0.25 });
      else if (kind === 'neg' || kind === 'pos' || kind.startsWith('class')) mark(kind, kind);
      else if (kind === 'wrong') mark('none', 'wrong');
      else mark('none', kind);
      li.append(typeof text === 'number' ? s.classes[text] : text);
    });
    if (this.full && this.toolset) {
      this.toolset.textContent = '';
      const two = labelled(s) || s.scheme, tools = s.scheme ? TOOLS.slice(0, 1).concat(s.classes.map((name, k) => ['class' + k, 'Add ' + name, 'place points of the class ' + name]), TOOLS.slice(3)) : TOOLS;
      tools.filter(t => two || t[0] !== 'neg' && t[0] !== 'flip').forEach(([name, text, label]) => {
        const b = this.button(this.toolset, !two && name === 'pos' ? 'Add' : text, !two && name === 'pos' ? 'place points' : label, () => this.setTool(name));
        b.dataset.tool = name;
      });
    }
  }
  setTool(name) {
    this.tool = name;
    this.plot.classList.toggle('draw', this.adds() !== null || name === 'spray');
    if (this.toolset) this.toolset.querySelectorAll('button').forEach(b => b.setAttribute('aria-pressed', b.dataset.tool === name));
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
    const q = question(st, view, { hurry: hurry, more: more ? this.rounds : 0, certain: this.certain && this.certain.checked });
    this.engine.ask(this, q.kernel, q.method, q.numbers, a => {
      if (asked.points !== this.state.points.length || st !== this.state) return;
      a.hurry = asked.hurry;
      a.asked = asked;
      a.view = view;
      this.take(a);
      if (this.log) this.log.push({ since: asked.since, drawn: w.performance.now(), hurry: asked.hurry });
      if (!hurry && asked === this.asked && !a.error) {
        if (!a.converged && ++this.rounds < ROUNDS) this.ask(false, true);
        else this.rest();
      }
    });
  }
  rested() { return this.answer && !this.answer.hurry && this.answer.n === this.state.points.length; }
  take(a, still) {
    if (this.early) {
      this.heir = this.contains(document.activeElement); // what has the focus goes, and the first point takes it
      this.early.remove();
      this.early = null;
      this.all.className = '';
      this.inherit();
    }
    if (a.error) {
      this.hint.textContent = a.error.replace(/^[a-z]+: /, '');
      this.hint.hidden = false;
      this.hint.classList.add('bad');
      this.said.textContent = this.hint.textContent;
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
  inherit() {
    if (!this.heir || this.early || !this.dots || !this.dots.length) return;
    this.heir = false;
    this.focusPoint(0);
  }
  rest() { // the picture is final: say so, and write the state into the address
    const st = this.state;
    if (st.moment >= 0 && this.best && st.moment >= this.best.count - 1 && !this.playing) st.moment = -1;
    if (!this.answer.converged) this.words();
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

  // ---- the picture.
  resize() {
    const width = Math.round(this.plot.clientWidth);
    if (!width || width === this.width) return;
    this.width = width;
    this.layout();
    this.placeAll();
    this.draw();
    if (this.asked) this.ask();
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
    const s = this.state.spec;
    this.view = equalIn(s, viewOf(s, s.points.concat(this.state.points)), this.box);
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
    this.dots.forEach((g, i) => {
      const p = this.state.points[i], k = this.support(i), wrong = this.wrong(i);
      const c = 'point ' + this.kindOf(p) + ['', ' free', ' bound'][k] + (wrong ? ' wrong' : '') + (g.classList.contains('held') ? ' held' : '');
      if (g.getAttribute('class') !== c) g.setAttribute('class', c);
    });
    if (!this.answer.hurry || this.best) this.drawGap();
  }
  words() {
    const a = this.answer, st = this.state, s = st.spec;
    this.sub.textContent = this.setting();
    if (a && a.n !== st.points.length) return;
    this.title_.textContent = this.heading();
    if (!a) return;
    this.proof.textContent = '';
    const proof = this.proof, say = (t, strong) => strong ? make(proof, 'b', {}, t) : proof.append(t);
    if (this.still) return proof.append(this.invitation());
    if (s.task === 'process') {
      say('Certificate: ', true);
      return say('‖error‖² in the norm of K + noise ≤ ' + num(a.gap, 3) + ' · residual ' + num(a.maxkkt, 2));
    }
    if (st.moment >= 0) {
      say('On the way: ', true);
      return say('iteration ' + a.iterations + ', gap ' + num(a.gap, 3) + ', largest KKT violation ' + num(a.maxkkt, 3));
    }
    if (s.scheme && s.scheme !== 'joint') {
      say(a.hurry ? 'While you drag: ' : a.converged ? 'Certificate: ' : this.rounds < ROUNDS ? 'Still training: ' : 'Stopped before its end; another solver may be faster: ', true);
      return say('the gaps of ' + several(a.machines, 'machine') + ' are ' + num(a.gap, 3) + ' together; relative to 1 + primal the worst is ' + num(100 * a.relgap, 2) + ' % · KKT violation ' + num(a.maxkkt, 2) + ' · ' + several(a.iterations, 'iteration') + ' · ' + a.millis.toFixed(1) + ' ms');
    }
    say(a.hurry ? 'While you drag: ' : a.converged ? 'Certificate: ' : this.rounds < ROUNDS ? 'Still training: ' : 'Stopped before its end; another solver may be faster: ', true);
    // The optimum lies between the dual and the primal objective.
    const share = a.primal * a.dual > 0 ? 100 * a.gap / Math.min(Math.abs(a.primal), Math.abs(a.dual)) : NaN;
    say('gap ' + num(a.gap, 3) + (share < 100 ? ', so the objective is at most ' + num(share, 2) + ' % from its optimum' : '') + ' · KKT violation ' + num(a.maxkkt, 2) + ' · ' + several(a.iterations, 'iteration') + ' · ' + a.millis.toFixed(1) + ' ms');
  }
}
Object.assign(Figure.prototype, Picture, Points, Run, Takeaway);
