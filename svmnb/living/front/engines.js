// ---- questions and answers: the lists of wire.go.
const ASKED = ['task', 'n', 'd', 'c', 'epsilon', 'tol', 'warm', 'limit', 'trace', 'moment', 'x0', 'x1', 'y0', 'y1', 'nx', 'ny', 'certain', 'costs', 'stop', 'fixed', 'bias', 'tau2', 'classes', 'scheme', 'zeromean', 'scaled'];
const ANSWERED = ['n', 'machines', 'fields', 'nx', 'ny', 'trace', 'sd', 'slack', 'converged', 'iterations', 'evaluations', 'bias', 'primal', 'dual', 'gap', 'relgap', 'maxkkt', 'norm2', 'free', 'atupper', 'evidence', 'epsilon', 'millis'];
const TASKS = ['classify', 'regress', 'oneclass', 'process', 'twonorm', 'nu', 'hard', 'squared', 'nuregress'];
const CLASSES = ['classify', 'twonorm', 'nu', 'hard'];
function labelled(s) { return !s.scheme && CLASSES.includes(s.task); } // y = ±1
function tubed(s) { return s.task === 'regress' || s.task === 'squared' || s.task === 'nuregress'; }
function read(v) { // an answer from its numbers
  const a = {};
  ANSWERED.forEach((name, i) => { a[name] = v[i]; });
  let at = ANSWERED.length;
  const cut = n => v.subarray(at, at += n), nodes = a.nx * a.ny;
  a.samples = cut(5 * a.trace);
  a.alpha = cut(a.n * a.machines);
  a.f = cut(a.n);
  a.field = cut(nodes * a.fields);
  a.sd = a.sd ? cut(nodes) : null;
  a.slack = a.slack ? cut(nodes) : null;
  a.values = a.fields > 1 ? cut(a.n * a.machines) : null;
  return a;
}

// A queue hands questions to an engine by send, one at a time. Of each figure only the newest
// waits. The engine gives each answer, or what is wrong as { error: … }, to answered.
L.queue = function (send) {
  let inflight = null;
  const waiting = new Map();
  function next() {
    if (inflight || !waiting.size) return;
    const [who, q] = waiting.entries().next().value;
    waiting.delete(who);
    inflight = q;
    send(q);
  }
  return {
    ask: (who, kernel, method, numbers, done) => {
      waiting.set(who, { kernel: kernel, method: method, numbers: numbers, done: done });
      next();
    },
    answered: a => {
      const q = inflight;
      inflight = null;
      next();
      if (q) q.done(a.error ? a : read(a));
    }
  };
};

// ---- the engine in a worker: one for all figures of the page, started by the first that
// needs it.
L.engines.worker = (function () {
  let starting = null;
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
    return source().then(s => new Promise((ok, no) => {
      const worker = new w.Worker(w.URL.createObjectURL(new Blob([s.script], { type: 'text/javascript' })));
      worker.onerror = e => no(new Error(e.message || 'The worker cannot start.'));
      worker.onmessage = e => {
        const m = e.data;
        if (m.ready) ok(worker);
        else if (m.failed) no(new Error(m.failed));
        else queue.answered(m.error ? m : new w.Float64Array(m.answer));
      };
      worker.postMessage({ module: s.module });
    }));
  }
  const queue = L.queue(q => {
    starting = starting || start();
    starting.then(worker => worker.postMessage({ kernel: q.kernel, method: q.method, numbers: q.numbers }, [q.numbers.buffer]), e => queue.answered({ error: e.message }));
  });
  return queue;
})();
