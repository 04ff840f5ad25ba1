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
