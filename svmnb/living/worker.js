// The worker of a page, after Go's wasm_exec.js. The first message has the module, base64 of
// gzip. Each other is a question, and is answered in turn.
(function () {
  'use strict';
  const go = new self.Go();
  async function begin(text) {
    const s = atob(text), b = new Uint8Array(s.length);
    for (let i = 0; i < s.length; i++) b[i] = s.charCodeAt(i);
    const bytes = await new Response(new Blob([b]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
    const made = await WebAssembly.instantiate(bytes, go.importObject);
    await new Promise(ready => { self.svmnbReady = ready; go.run(made.instance); });
  }
  self.onmessage = function (e) {
    const m = e.data;
    if (m.module) return begin(m.module).then(() => self.postMessage({ ready: true }), err => self.postMessage({ failed: String(err) }));
    const a = self.svmnbAsk(m.kernel, m.method, new Uint8Array(m.numbers.buffer));
    if (typeof a === 'string') self.postMessage({ error: a });
    else self.postMessage({ answer: a.buffer }, [a.buffer]);
  };
})();
