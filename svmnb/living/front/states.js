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
const SCHEMES = { pairs: ['one against one', '.OneVsOne()'], rest: ['one against the rest', '.OneVsRest()'], joint: ['Crammer–Singer', '.CrammerSinger()'] };
const USING = { 'SMO': '', 'SMO, worst pair': 'solvers.SMO{Selection: solvers.WorstPair}', 'conjugate SMO': 'solvers.ConjugateSMO{}', 'decomposition': 'solvers.Decomposition{}', 'chunking': 'solvers.Chunking{}', 'interior point': 'solvers.PrimalDual{}', 'gradient ascent': 'solvers.GradientAscent{}', 'Crammer–Singer': '-' };
function dialsOf(p) { // of a preset, which gives the values alone
  const k = p.kernels, scale = k.scale ? 'Scale(' + go(k.scale) + ', ' : '', end = k.scale ? ')' : '', list = [], dials = [];
  const kernel = (name, form, ds) => { ds.forEach(d => dials.push(Object.assign(d, { kernel: list.length }))); list.push({ name: name, form: scale + form + end }); };
  const first = { classify: () => logDial('C', p.c, -1), twonorm: () => logDial('C', p.c, -1), nu: () => evenDial('nu', p.c, 0.02, 0.98, 0.02, -1), regress: () => logDial('C', p.c, -1), oneclass: () => evenDial('nu', p.c, 0.02, 0.98, 0.02, -1), process: () => logDial('NoiseVariance', p.c, -1) }[p.task]();
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
  const s = Object.assign({ tol: 1e-3, epsilon: 0, methods: { process: ['Cholesky'], nu: METHODS.slice(0, 2), nuregress: METHODS.slice(0, 2) }[p.task] || METHODS, features: [], classes: ['−1', '+1'] }, p);
  if (!Array.isArray(p.kernels)) Object.assign(s, dialsOf(p));
  const numbers = new w.Float64Array(decode(p.data).buffer), d = s.d, n = numbers.length / (d + 1);
  const weights = s.weights ? new w.Float64Array(decode(s.weights).buffer) : null;
  // A new point of a process has the usual noise; of a machine, the weight 1.
  s.weight = !weights ? undefined : s.task === 'process' ? weights.reduce((a, b) => a + b) / n : 1;
  s.points = [];
  for (let i = 0; i < n; i++) s.points.push(Object.assign({ x: numbers[d * i], x2: d > 1 ? numbers[d * i + 1] : 0, y: numbers[d * n + i], from: i }, weights ? { w: weights[i] } : {}));
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
function cost(st) {
  const lambda = dialValue(st, 'lambda');
  if (lambda !== undefined) return 1 / lambda;
  return ['C', 'nu', 'NoiseVariance'].map(n => dialValue(st, n)).find(v => v !== undefined) || st.spec.c;
}
function isRidge(s) { return s.dials.some(d => d.name === 'lambda'); }
function weighted(s) { return !!(s.weights || s.classWeights || s.balanced); }
function counts(st) { // of the points of each class
  const n = (st.spec.classes || []).map(() => 0);
  st.points.forEach(p => n[classOf(st.spec, p)]++);
  return n;
}
function classOf(s, p) { return labelled(s) ? p.y > 0 ? 1 : 0 : p.y; }
// costOf returns the cost of a point as svmnb computes it, given the counts of the classes.
function costOf(st, p, all) {
  const s = st.spec;
  let c = ['nu', 'nuregress', 'oneclass', 'process'].includes(s.task) ? 1 : cost(st);
  if (s.classWeights) c *= s.classWeights[classOf(s, p)];
  if (s.weights) c *= p.w;
  if (s.balanced) c *= st.points.length / (all.length * all[classOf(s, p)]);
  return c;
}
function bound(st, i) { // of the multipliers of a point
  const s = st.spec, most = ['twonorm', 'squared', 'hard'].includes(s.task) ? Infinity : s.task === 'nuregress' ? cost(st) : 0;
  if (most === Infinity) return most;
  if (!weighted(s)) return most || { oneclass: 1, nu: 1 }[s.task] || cost(st);
  return (most || 1) * costOf(st, st.points[i], counts(st));
}
function epsilonOf(st) {
  const v = dialValue(st, st.spec.task === 'nuregress' ? 'nu' : 'epsilon');
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
      else if (v.length === 3 && v.every(isFinite)) st.points.push({ x: v[0], x2: v[1], y: v[2], w: p.weight, from: -1 });
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
  const kernel = kernelText(st).replace(/[A-Z][A-Za-z0-9]*\(/g, 'kernels.$&'), c = go(cost(st)), process = s.task === 'process';
  let line = (process ? 'gp.Regress' : tubed(s) ? 'svmnb.Regress' : s.task === 'oneclass' ? 'svmnb.OneClass' : 'svmnb.Classify') + '(ds).Kernel(' + kernel + ')' + {
    classify: '.C(' + c + ')', twonorm: '.TwoNorm().C(' + c + ')', nu: '.Nu(' + c + ')', hard: '.HardMargin()', oneclass: '.Nu(' + c + ')',
    regress: '.C(' + c + ').Epsilon(' + go(epsilonOf(st)) + ')', squared: isRidge(s) ? '.Ridge(' + go(dialValue(st, 'lambda')) + ')' : '.QuadraticLoss().C(' + c + ').Epsilon(' + go(epsilonOf(st)) + ')',
    nuregress: '.Nu(' + go(epsilonOf(st)) + ').C(' + c + ')', process: s.weights ? '.NoiseVariances([]float64' + list(st.points.map(p => p.w)) + ')' : '.NoiseVariance(' + c + ')'
  }[s.task];
  if (s.zeroMean) line += '.ZeroMean()';
  if (s.scaled) line += '.NormaliseTargets()';
  if (s.tau2) line += '.Augment(' + (s.tau2 < 0 ? 'kernels.Radius' : go(s.tau2)) + ')';
  if (s.bias !== undefined && (!s.tau2 || s.bias)) line += '.FixedBias(' + go(s.bias) + ')';
  if (s.balanced) line += '.Balanced()';
  if (s.classWeights) s.classWeights.forEach((v, k) => { if (v !== 1) line += '.ClassWeight("' + go(labelled(s) ? 2 * k - 1 : k) + '", ' + go(v) + ')'; });
  if (s.weights && !process) line += '.SampleWeights([]float64' + list(st.points.map(p => p.w)) + ')';
  if (!process && how !== '-') line += how ? '.Using(' + how + ')' : s.task === 'regress' || s.task === 'squared' ? '.Using(solvers.TubeSMO{})' : '.SMO()';
  if (s.stop) line += '.Stop(solvers.' + (s.stop === 'kkt' ? 'KKT{Tol: ' : 'Gap{Rel: ') + go(s.tol) + '})';
  else if (s.tol !== 1e-3) line += '.Tol(' + go(s.tol) + ')';
  if (s.scheme) line += SCHEMES[s.scheme][1];
  return { n: n, data: data, line: line, show: '.MustFit().Show(' + (process ? 'gp.Posterior' : tubed(s) ? 'svmnb.Tube' : s.scheme ? 'svmnb.Regions' : 'svmnb.Margins') + ')' };
}

// ---- questions of a state. hurry is while the reader drags: a coarser picture.
function question(st, view, o) {
  const s = st.spec, n = st.points.length, d = s.d, costs = weighted(s), v = new w.Float64Array(ASKED.length + n * (d + 1 + costs)), set = (name, x) => { v[ASKED.indexOf(name)] = x; };
  set('task', TASKS.indexOf(s.task));
  set('n', n);
  set('d', d);
  set('c', cost(st));
  set('epsilon', epsilonOf(st));
  set('tol', o.hurry ? Math.max(1e-2, s.tol) : s.tol);
  set('stop', o.hurry ? 0 : { kkt: 1, gap: 2 }[s.stop] || 0);
  set('fixed', s.bias !== undefined ? 1 : 0);
  set('bias', s.bias || 0);
  set('tau2', s.tau2 || 0);
  set('classes', s.scheme ? s.classes.length : 0);
  set('scheme', s.scheme ? Object.keys(SCHEMES).indexOf(s.scheme) : 0);
  set('zeromean', s.zeroMean ? 1 : 0);
  set('scaled', s.scaled ? 1 : 0);
  set('costs', costs ? 1 : 0);
  set('warm', o.hurry || o.more ? 1 : 0);
  // Crammer and Singer's machine begins each run anew, so each takes longer than the one before.
  set('limit', o.hurry ? L.limits.drag : s.scheme === 'joint' ? L.limits.rest * Math.pow(2, Math.min(6, o.more || 0)) : L.limits.rest);
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
  if (costs) {
    const all = counts(st);
    st.points.forEach((p, i) => { v[ASKED.length + (d + 1) * n + i] = costOf(st, p, all); });
  }
  let method = s.methods[st.method];
  if (s.task === 'process' || s.scheme === 'joint') method = '';
  else if (o.hurry && s.bias === undefined && !s.tau2) method = s.task === 'classify' && cost(st) >= 300 || s.task === 'hard' ? 'conjugate SMO' : 'SMO';
  return { kernel: kernelText(st), method: o.method || method, numbers: v };
}
L.parts = { num: num, go: go, rings: rings, isolines: isolines, read: read, specOf: specOf, start: start, address: address, fromAddress: fromAddress, question: question, program: program, asked: ASKED, answered: ANSWERED };
